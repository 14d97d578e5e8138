internal import CLinux
internal import Glibc
internal import LabSupport
internal import MeasurementModel
internal import MeasurementSync

/// Figures for Tests/Bench/queue_bench.py.
extension QueueWorker {
    private static func report(_ id: String, octets: Int) -> [UInt8] {
        JSONValue.object([
            "schema": .string(Report.schema), "id": .string(id), "result": .string(String(repeating: "x", count: octets - 60)),
        ])
        .utf8()
    }

    /// Microseconds of each enqueue.
    static func bench(_ state: String, count: Int, octets: Int, limit: Int) throws {
        var settings = MeasurementQueue.Settings()
        settings.limit = limit
        let queue = MeasurementQueue(stateDirectory: state, settings: settings)
        for number in 0..<count {
            let body = report("r\(number)", octets: octets)
            let start = MonotonicInstant.now()
            try queue.queueMeasurement(id: "r\(number)", json: body)
            say("\(Double((MonotonicInstant.now() - start).nanoseconds) / 1000)")
        }
    }

    /// Octets that this process hands to the kernel for one report, by /proc/self/io.
    static func written(_ state: String, count: Int, octets: Int) throws {
        let queue = MeasurementQueue(stateDirectory: state)
        let before = handedOver()
        for number in 0..<count { try queue.queueMeasurement(id: "r\(number)", json: report("r\(number)", octets: octets)) }
        say("\((handedOver() - before) / count)")
    }

    private static func handedOver() -> Int {
        let line = TemporaryFolder.read("/proc/self/io")?.split(separator: "\n").first { $0.hasPrefix("wchar") }
        return line.flatMap { Int($0.drop { !$0.isNumber }) } ?? 0
    }
}
