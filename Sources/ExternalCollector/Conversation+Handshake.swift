internal import CollectorCore
internal import MeasurementModel

extension Talk {
    /// The share of the stop deadline that a program may still use to say what it is when the test is over already, so that a short test
    /// has its first snapshot.
    private static let lateShare = 0.4

    /// Waits for the program's first message: what it is.
    mutating func handshake() throws -> CollectorDescriptor {
        process.tell(.hello)
        let deadline = MonotonicInstant.now() + collector.settings.limits.handshake
        while true {
            if let arrival = nextLine() { return try descriptor(arrival.line) }
            awaitEnd(nil)
            if let ending = process.ending { throw endedEarly(ending) }
            if isOutputOver { throw CollectorFailure("bad_handshake", "it closed its output before it had said what it records") }
            let limit = testOverAt.map { min(deadline, $0 + session.stopDeadline * Self.lateShare) } ?? deadline
            if MonotonicInstant.now() >= limit { throw tooLate() }
            wait(until: limit, nil)
        }
    }

    private func tooLate() -> CollectorFailure {
        if testOverAt != nil {
            return CollectorFailure(
                "not_connected", "the test was over before the collector had said what it records", state: .unavailable)
        }
        let seconds = collector.settings.limits.handshake.inSeconds
        return CollectorFailure("handshake_timeout", "it did not say within \(seconds) s of its start what it records")
    }

    private func descriptor(_ line: LineBuffer.Line) throws -> CollectorDescriptor {
        guard case .whole(let octets) = line else {
            throw CollectorFailure("bad_handshake", "its first line has more than \(lines.maximum) octets; it has to be its descriptor")
        }
        let message: CollectorMessage
        do { message = try CollectorMessage(line: octets) } catch {
            throw CollectorFailure("bad_handshake", "its first line is not its descriptor: \(error.detail)")
        }
        switch message {
        case .descriptor(let object):
            do { return try DescriptorDecoder.descriptor(object) } catch { throw CollectorFailure(error.reason, error.detail) }
        case .failed(let reason, let detail):
            let detail = detail ?? "it failed before it had said what it records"
            // What the loader says of a library names its path.
            throw CollectorFailure(
                reason, detail.replacing(collector.source.path, with: collector.source.file), local: detail)
        default:
            throw CollectorFailure("bad_handshake", "its first message is not its descriptor")
        }
    }

    private func endedEarly(_ ending: CollectorProcess.Ending) -> CollectorFailure {
        if let fault = process.launchFault() { return command.failure(stage: fault.stage, errno: fault.errno) }
        return Fate.failure(ending, collector, when: "before it had said what it records")
            ?? CollectorFailure("bad_handshake", "it ended before it had said what it records")
    }
}
