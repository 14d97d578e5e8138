public import HTTPTransport
public import MeasurementModel

/// What the WEB test found, address by address.
public struct WebResult: MeasurementResult {
    /// One address.
    public struct Page: Sendable {
        /// As it was given.
        public let url: String
        /// The exchanges: one, and one more for each redirect.
        public let hops: [HTTPHop]
        /// All of them together; nil when the page was not fetched.
        public let duration: Duration?
        public let error: HTTPError?

        public var octets: Int64 { hops.reduce(0) { $0 + $1.headerOctets + $1.bodyOctets } }

        public var json: JSONValue {
            var object: JSONObject = ["url": .string(url)]
            if let last = hops.last {
                Self.describe(last, in: &object)
                object["redirects"] = .integer(hops.count - 1)
                if last.url != url { object["final_url"] = .string(last.url) }
                object["octets"] = .integer(octets)
            }
            object["duration_ms"] = duration.flatMap(Self.milliseconds)
            if hops.count > 1 {
                object["hops"] = .array(
                    hops.map { hop in
                        var object: JSONObject = ["url": .string(hop.url)]
                        Self.describe(hop, in: &object)
                        return .object(object)
                    })
            }
            if let error {
                var failure: JSONObject = ["code": .string(error.code.description), "message": .string(error.message)]
                failure["phase"] = error.phase.map { .string($0.rawValue) }
                failure["cause"] = error.cause.map(JSONValue.string)
                object["error"] = .object(failure)
            }
            return .object(object)
        }

        /// An exchange's facts. The phases are how long each took, the times `at` when each was over since the exchange's start.
        private static func describe(_ hop: HTTPHop, in object: inout JSONObject) {
            object["status"] = hop.status.map { .integer($0) }
            object["http_version"] = hop.httpVersion.map(JSONValue.string)
            object["remote_address"] = hop.remoteAddress.map(JSONValue.string)
            object["remote_port"] = hop.remotePort.map { .integer($0) }
            object["is_secured"] = .bool(hop.isSecured)
            if hop.usedProxy { object["used_proxy"] = .bool(true) }
            if hop.reusedConnection { object["reused_connection"] = .bool(true) }
            object["body_octets"] = .integer(hop.bodyOctets)
            let timings = hop.timings
            object["phases_ms"] = times([
                ("name_lookup", timings.nameLookup), ("connect", timings.connect), ("tls", timings.tls), ("first_byte", timings.wait),
                ("transfer", timings.transfer),
            ])
            object["at_ms"] = times([
                ("name_lookup", timings.nameLookedUp), ("connect", timings.connected), ("tls", timings.secured),
                ("request", timings.requested), ("first_byte", timings.firstByte), ("total", timings.ended),
            ])
        }

        private static func times(_ values: [(String, Duration?)]) -> JSONValue {
            var object = JSONObject()
            for (name, duration) in values { object[name] = duration.flatMap(milliseconds) }
            return .object(object)
        }

        /// Milliseconds with three decimals: what is measured is microseconds.
        private static func milliseconds(_ duration: Duration) -> JSONValue? {
            .real(Double(duration.nanoseconds / 1000) / 1000)
        }
    }

    public let pages: [Page]

    /// Every address was fetched, whatever its status.
    public var isComplete: Bool { pages.allSatisfy { $0.error == nil } }

    /// `failed` when not one address could be fetched.
    public var finishedReason: Report.FinishedReason {
        pages.contains { $0.error == nil } || pages.isEmpty ? .completed : .failed
    }

    public var json: JSONValue { .object(["pages": .array(pages.map(\.json))]) }
}
