internal import CollectorCore
internal import MeasurementModel

/// What fieldprobe says to a collector: one JSON object a line (docs/collector-protocol.md).
enum HostMessage {
    /// The version of the protocol that this package speaks.
    static let protocolVersion: Int64 = 1

    case hello
    case start(Start)
    case target(SessionTarget.Value)
    case stop

    /// The session's facts.
    struct Start {
        var kind: TestKind
        var target: SessionTarget.Value
        var permissions: Permissions
        var startedAt: MonotonicInstant
        var configuration: [String: String]
    }

    var line: String { json.text() + "\n" }

    private var json: JSONValue {
        switch self {
        case .hello:
            return .object(["message": .string("hello"), "protocol": .integer(Self.protocolVersion)])
        case .start(let start):
            var object: JSONObject = [
                "message": .string("start"), "type": .string(start.kind.type), "subject": .string(start.kind.subject),
            ]
            object["target"] = Self.json(start.target)
            var permissions = JSONObject()
            for permission in Permission.allCases.sorted() {
                permissions[permission.rawValue] = .bool(start.permissions.allows(permission))
            }
            object["permissions"] = .object(permissions)
            object["started_at"] = .integer(start.startedAt.nanoseconds)
            var configuration = JSONObject()
            for (key, value) in start.configuration.sorted(by: { $0.key < $1.key }) { configuration[key] = .string(value) }
            object["configuration"] = .object(configuration)
            return .object(object)
        case .target(let target):
            var object: JSONObject = ["message": .string("target")]
            object["target"] = Self.json(target)
            return .object(object)
        case .stop:
            return .object(["message": .string("stop")])
        }
    }

    /// Nil for a test without a target.
    private static func json(_ target: SessionTarget.Value) -> JSONValue? {
        guard let host = target.host else { return nil }
        return .object(["host": .string(host), "addresses": .strings(target.addresses.map { "\($0)" })])
    }
}
