/// The one document that a finished test leaves behind. Its listener, the queue and the server get the same.
public struct Report: Sendable {
    /// The form of the document; a change that old readers would misread gets a new one.
    public static let schema = "fieldprobe/report/1"

    /// UUID of the measurement, also its idempotency key.
    public var id: String
    public var kind: TestKind
    public var client: Client?
    /// Of this package.
    public var clientVersion: String
    /// Machine facts without identifiers.
    public var device: JSONObject
    /// By the device's clock, which may be wrong: ``duration`` is measured.
    public var startedAt: Timestamp
    public var finishedAt: Timestamp
    /// Server's clock minus the device's; nil where it is not known.
    public var clockOffset: Duration?
    /// From the measurement's start to its end, on the monotonic clock.
    public var duration: Duration
    public var finishedReason: FinishedReason
    public var target: JSONObject?
    /// What the measurement found; nil where it gave nothing.
    public var result: JSONValue?
    /// Trace key and snapshots, in the order of the collectors.
    public var traces: [(key: String, snapshots: [Snapshot])]
    public var collectors: [CollectorRecord]
    public var permissions: JSONObject
    public var time: JSONObject

    /// The registered client that ran the test.
    public struct Client: Sendable, Hashable {
        public var uuid: String
        public var label: String?
        public var tags: [String]

        public init(uuid: String, label: String? = nil, tags: [String] = []) {
            self.uuid = uuid
            self.label = label
            self.tags = tags
        }
    }

    /// How a measurement ended: by itself, with an error, or because somebody or the end of the granted time broke it off.
    public enum FinishedReason: String, Sendable {
        case completed, failed, aborted
    }

    public init(
        id: String, kind: TestKind, client: Client?, clientVersion: String, device: JSONObject, startedAt: Timestamp,
        finishedAt: Timestamp, clockOffset: Duration?, duration: Duration, finishedReason: FinishedReason, target: JSONObject?,
        result: JSONValue?, traces: [(key: String, snapshots: [Snapshot])], collectors: [CollectorRecord], permissions: JSONObject,
        time: JSONObject
    ) {
        self.id = id
        self.kind = kind
        self.client = client
        self.clientVersion = clientVersion
        self.device = device
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.clockOffset = clockOffset
        self.duration = duration
        self.finishedReason = finishedReason
        self.target = target
        self.result = result
        self.traces = traces
        self.collectors = collectors
        self.permissions = permissions
        self.time = time
    }

    /// The document that is queued and sent.
    public var json: JSONValue {
        var object: JSONObject = [
            "schema": .string(Self.schema), "id": .string(id), "type": .string(kind.type), "subject": .string(kind.subject),
        ]
        object["client_uuid"] = client.map { .string($0.uuid) }
        object["client_label"] = client?.label.map(JSONValue.string)
        object["client_tags"] = client.map { .strings($0.tags) }
        object["client_version"] = .string(clientVersion)
        object["device"] = .object(device)
        object["started_at"] = .string(startedAt.description)
        object["started_at_skewed"] = skewed(startedAt)
        object["finished_at"] = .string(finishedAt.description)
        object["finished_at_skewed"] = skewed(finishedAt)
        object["duration_ms"] = .integer(duration.milliseconds)
        object["finished_reason"] = .string(finishedReason.rawValue)
        object["target"] = target.map(JSONValue.object)
        object["result"] = result
        for trace in traces { object[trace.key] = .array(trace.snapshots.map(\.json)) }
        object["collectors"] = .array(collectors.map(\.json))
        object["permissions"] = .object(permissions)
        object["time"] = .object(time)
        return .object(object)
    }

    private func skewed(_ time: Timestamp) -> JSONValue? {
        clockOffset.map { .string(time.adding(milliseconds: $0.milliseconds).description) }
    }

    /// The report's own names, which no trace may take.
    public static let reservedKeys: Set<String> = [
        "schema", "id", "type", "subject", "client_uuid", "client_label", "client_tags", "client_version", "device", "started_at",
        "started_at_skewed", "finished_at", "finished_at_skewed", "duration_ms", "finished_reason", "target", "result", "collectors",
        "permissions", "time",
    ]
}
