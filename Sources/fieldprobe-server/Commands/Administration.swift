internal import MeasurementModel

/// What every administration command begins with.
struct Administration {
    let store: any ServerStore
    let now = Timestamp.now()
    let isJSON: Bool

    init(_ arguments: ParsedArguments) throws {
        isJSON = arguments.isSet("json")
        let folder = try DataFolder(arguments.value("data") ?? DataFolder.defaultPath)
        store = try SQLiteStore(path: folder.database)
    }

    /// JSON for programs, or a text for people.
    func print(_ value: @autoclosure () -> JSONValue, _ text: @autoclosure () -> String) throws {
        if isJSON { try Output.print(value()) } else { try Output.print(text()) }
    }

    /// A client by its UUID, or by as much of its beginning as is unique.
    func client(_ text: String) throws -> Client {
        let found = text.isEmpty ? [] : try store.clientUUIDs(beginning: text.lowercased())
        guard let uuid = found.first, let client = try store.client(uuid, now: now) else {
            throw CommandFailure(.notFound, "there is no client '\(text)': see 'fieldprobe-server client list'")
        }
        guard found.count == 1 else {
            throw CommandFailure(.notFound, "several clients begin with '\(text)': write more of the UUID")
        }
        return client
    }
}

extension Timestamp {
    /// For people: to the second.
    var short: String { String(description.prefix(19)).replacing("T", with: " ") }
}

extension JSONObject {
    /// The members that have a value.
    init(present members: [(String, JSONValue?)]) {
        self.init()
        for (name, value) in members { self[name] = value }
    }
}

extension JSONValue {
    static func optional(_ text: String?) -> JSONValue? { text.map { .string($0) } }
    static func optional(_ time: Timestamp?) -> JSONValue? { time.map { .string($0.description) } }
    static func optional(_ number: Int?) -> JSONValue? { number.map { .integer($0) } }
}
