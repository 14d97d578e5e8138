internal import CollectorCore
internal import Glibc
internal import MeasurementModel

extension Talk {
    /// Starts the collector, takes what it says until the test or the program ends, and ends the program.
    mutating func collect(into trace: any TraceWriter, _ decoder: ValueDecoder) throws {
        process.tell(
            .start(
                HostMessage.Start(
                    kind: session.kind, target: session.target.value, permissions: session.permissions, startedAt: session.startedAt,
                    configuration: collector.settings.configuration)))
        if process.isDeaf { throw CollectorFailure("not_reading", "it does not read its input, and so cannot be started") }
        floodGoesOn(trace)
        var failure: CollectorFailure?
        func isOn(_ talk: borrowing Talk) -> Bool { !talk.hasEnded && !talk.isOutputOver && talk.testOverAt == nil && failure == nil }
        while true {
            take(into: trace, decoder, &failure)
            guard isOn(self) else { break }
            if hasNewTarget {
                hasNewTarget = false
                process.tell(.target(session.target.value))
            }
            wait(until: nil, trace)
        }
        awaitEnd(trace)
        take(into: trace, decoder, &failure)
        let endedByItself = hasEnded && testOverAt == nil
        finish(into: trace, decoder, &failure)
        if lines.isInsideLine, !flood.isFlood { refuse("half_line", "the last line has no end", trace) }
        let ending = process.ending!
        if isTooBusy { throw Fate.tooBusy(collector.settings.limits) }
        if let failure { throw failure }
        if endedByItself {
            if let failure = Fate.failure(ending, collector, when: "while the test ran") { throw failure }
        } else if let failure = Fate.failure(ending, after: stopSteps, collector, session.stopDeadline) {
            throw failure
        }
    }

    // MARK: The end

    /// Ends the program: by message, by SIGTERM, by SIGKILL, each with its share of the time that the host gives. What it still says until
    /// then is taken.
    private mutating func finish(into trace: any TraceWriter, _ decoder: ValueDecoder, _ failure: inout CollectorFailure?) {
        guard !hasEnded else { return }
        let told = testOverAt ?? .now()
        process.tell(.stop)
        process.closeInput()
        for step in Fate.Step.allCases {
            stopSteps.insert(step)
            if let signal = step.signal { process.signalGroup(signal) }
            let limit = told + session.stopDeadline * step.share
            while !hasEnded, MonotonicInstant.now() < limit {
                wait(until: limit, trace)
                take(into: trace, decoder, &failure)
            }
            if hasEnded { break }
        }
        if !hasEnded { giveUp() }
        take(into: trace, decoder, &failure)
    }

    /// Ends a program that was never started to collect.
    mutating func close() {
        guard !hasEnded else { return }
        var failure: CollectorFailure?
        finish(into: NoTrace(), ValueDecoder([]), &failure)
    }

    // MARK: What it says

    private mutating func take(into trace: any TraceWriter, _ decoder: ValueDecoder, _ failure: inout CollectorFailure?) {
        while let arrival = nextLine() {
            guard case .whole(let octets) = arrival.line else {
                refuse("line_too_long", "a line has more than \(lines.maximum) octets", trace)
                continue
            }
            if octets.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            do {
                try apply(CollectorMessage(line: octets), readAt: arrival.readAt, to: trace, decoder, &failure)
            } catch {
                refuse(error.word, error.detail, trace)
            }
        }
    }

    private func refuse(_ word: String, _ detail: String, _ trace: any TraceWriter) {
        trace.rejected(word, count: 1)
        collector.observer?.hear(.refused(word: word, detail: detail))
    }

    private func apply(
        _ message: CollectorMessage, readAt: MonotonicInstant?, to trace: any TraceWriter, _ decoder: ValueDecoder,
        _ failure: inout CollectorFailure?
    ) throws(CollectorMessage.Fault) {
        switch message {
        case .descriptor: throw CollectorMessage.Fault(word: "second_descriptor", detail: "a second descriptor")
        case .record(let object, let instant):
            if let instant { try check(instant) }
            let (values, refused) = decoder.values(object)
            for fault in refused { refuse(fault.word, fault.detail, trace) }
            trace.record(values, at: instant ?? readAt)
        case .gap(let event):
            switch event {
            case .began(_, let at), .ended(_, let at): if let at { try check(at) }
            case .passed(_, let from, let to):
                try check(from)
                try check(to)
            }
            trace.gap(event)
        case .unavailable(let reason, let detail): trace.unavailable(reason, detail: detail)
        case .available: trace.available()
        case .denied(let reason, let detail): trace.denied(reason, detail: detail)
        case .resynced: trace.resynced()
        case .rejected(let word, let count): trace.rejected(word, count: count)
        case .provenance(let subject, let source): trace.provenance(subject, source)
        case .failed(let reason, let detail): failure = CollectorFailure(reason, detail ?? "it said that it has failed, and not why")
        }
    }

    /// A moment on another clock, or one that the collector makes up, would put a value where it was not: it is refused.
    private func check(_ instant: MonotonicInstant) throws(CollectorMessage.Fault) {
        guard instant <= session.clock.now() + .milliseconds(50), instant >= session.startedAt - .seconds(60) else {
            throw CollectorMessage.Fault(
                word: "bad_time", detail: "a time is nanoseconds of CLOCK_BOOTTIME, not before the test's start and not in the future")
        }
    }
}

/// For a collector that was not admitted: what it says now has no place.
private struct NoTrace: TraceWriter {
    func record(_ values: [String: FieldValue], at instant: MonotonicInstant?) -> Bool { false }
    func gap(_ event: GapEvent) {}
    func unavailable(_ reason: StateReason, detail: String?) {}
    func available() {}
    func denied(_ reason: StateReason, detail: String?) {}
    func resynced() {}
    func rejected(_ reason: String, count: Int) {}
    func provenance(_ subject: String, _ source: String) {}
}
