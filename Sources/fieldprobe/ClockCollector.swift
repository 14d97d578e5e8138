internal import CLinux
internal import CollectorCore
internal import MeasurementModel

/// Whether the wall clock is synchronised, asked every ten seconds.
struct ClockCollector: Collector {
    let descriptor = CollectorDescriptor(
        name: "clock", version: "1.0", trace: "clock_trace",
        fields: [.bool("is_synchronised", privacy: .otherDiagnosticData, about: "The kernel considers the wall clock synchronised")],
        about: "State of the wall clock")

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        while true {
            let answer = clinux_clock_synchronised()
            if answer < 0 { trace.unavailable(.noPermission) } else { trace.record(["is_synchronised": .bool(answer == 1)]) }
            let next = session.clock.now() + .seconds(10)
            while session.clock.now() < next {
                if session.wait(until: next).isCancelled { return }
            }
        }
    }
}
