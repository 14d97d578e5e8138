/// One entry of a trace: what the fields were at one moment.
public struct Snapshot: Sendable, Hashable {
    /// On the device's clock.
    public let clientTime: Timestamp
    /// The same moment on the server's clock; nil where the offset is not known.
    public let clientTimeSkewed: Timestamp?
    /// Since the test's start, on the monotonic clock.
    public let offset: Duration
    /// Name and value, in the order of the declarations.
    public let fields: [Field]

    /// A declared field and its value.
    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: FieldValue

        public init(name: String, value: FieldValue) {
            self.name = name
            self.value = value
        }
    }

    public init(clientTime: Timestamp, clientTimeSkewed: Timestamp?, offset: Duration, fields: [Field]) {
        self.clientTime = clientTime
        self.clientTimeSkewed = clientTimeSkewed
        self.offset = offset
        self.fields = fields
    }

    /// The value of this field; nil where it was left out.
    public subscript(name: String) -> FieldValue? { fields.first { $0.name == name }?.value }

    /// The names that every snapshot has, and that no collector may declare.
    public static let commonFields: Set<String> = ["client_time", "client_time_skewed", "offset_ms"]

    public var json: JSONValue {
        var object = JSONObject()
        object.append("client_time", .string(clientTime.description))
        if let clientTimeSkewed { object.append("client_time_skewed", .string(clientTimeSkewed.description)) }
        object.append("offset_ms", .integer(offset.milliseconds))
        for field in fields {
            if let json = field.value.json { object.append(field.name, json) }
        }
        return .object(object)
    }
}
