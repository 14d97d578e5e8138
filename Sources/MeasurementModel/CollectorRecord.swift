/// How honest a trace is: what its collector could and could not see.
public struct CollectorRecord: Sendable, Hashable {
    public var name: String
    public var version: String
    public var trace: String
    public var state: State
    /// Why the state is not `ok`: a word that a program can compare.
    public var reason: String?
    /// For people, where the reason needs more than a word.
    public var detail: String?
    /// Snapshots in the trace.
    public var recorded = 0
    /// Records that made no snapshot, because no field had changed by its rule.
    public var suppressed = 0
    /// Values or snapshots that were not taken over, by reason.
    public var rejected: [String: Int] = [:]
    public var gaps: [Gap] = []
    /// Gaps beyond the number that is listed one by one.
    public var gapsNotListed = 0
    /// How often everything was asked for again because events had been lost.
    public var resyncs = 0
    /// How a field or group of fields was found out.
    public var provenance: [String: String] = [:]
    /// Fields that were known but left out for want of a permission.
    public var withheld: [String] = []

    /// How a collector fared: it saw its subject, could not, was not allowed to, broke, or did not end and was given up.
    public enum State: String, Sendable {
        case ok, unavailable, denied, failed, stuck
    }

    /// A time in which something may have been missed.
    public struct Gap: Sendable, Hashable {
        /// Since the test's start.
        public var from: Duration
        /// Nil while it lasts; a finished test closes it.
        public var to: Duration?
        public var reason: String

        public init(from: Duration, to: Duration?, reason: String) {
            self.from = from
            self.to = to
            self.reason = reason
        }

        public var json: JSONValue {
            var object = JSONObject()
            object.append("from_offset_ms", .integer(from.milliseconds))
            if let to { object.append("to_offset_ms", .integer(to.milliseconds)) }
            object.append("reason", .string(reason))
            return .object(object)
        }
    }

    public init(name: String, version: String, trace: String, state: State, reason: String? = nil) {
        self.name = name
        self.version = version
        self.trace = trace
        self.state = state
        self.reason = reason
    }

    public var json: JSONValue {
        var object: JSONObject = ["name": .string(name)]
        // Not known of a foreign collector that never said what it is.
        object["version"] = version.isEmpty ? nil : .string(version)
        object["trace"] = trace.isEmpty ? nil : .string(trace)
        object["state"] = .string(state.rawValue)
        object["reason"] = reason.map(JSONValue.string)
        object["detail"] = detail.map(JSONValue.string)
        object["recorded"] = .integer(recorded)
        object["suppressed"] = .integer(suppressed)
        object["rejected"] = rejected.isEmpty ? nil : Self.sorted(rejected) { .integer($0) }
        object["gaps"] = .array(gaps.map(\.json))
        object["gaps_not_listed"] = gapsNotListed == 0 ? nil : .integer(gapsNotListed)
        object["resyncs"] = .integer(resyncs)
        object["provenance"] = provenance.isEmpty ? nil : Self.sorted(provenance, JSONValue.string)
        object["withheld"] = withheld.isEmpty ? nil : .strings(withheld)
        return .object(object)
    }

    private static func sorted<Value>(_ values: [String: Value], _ json: (Value) -> JSONValue) -> JSONValue {
        var object = JSONObject()
        for (key, value) in values.sorted(by: { $0.key < $1.key }) { object.append(key, json(value)) }
        return .object(object)
    }
}
