public import MeasurementModel

/// Which tests the registration key lets this device run.
///
/// A forbidden entry always beats an allowed one, and an empty allowed list means everything that is not forbidden. A device whose key restricts
/// nothing has no capability at all.
public struct Capability: Sendable, Hashable {
    public var allowedTypes: Set<String>
    public var allowedSubjects: Set<String>
    public var forbiddenTypes: Set<String>
    public var forbiddenSubjects: Set<String>

    public init(
        allowedTypes: Set<String> = [], allowedSubjects: Set<String> = [], forbiddenTypes: Set<String> = [],
        forbiddenSubjects: Set<String> = []
    ) {
        self.allowedTypes = allowedTypes
        self.allowedSubjects = allowedSubjects
        self.forbiddenTypes = forbiddenTypes
        self.forbiddenSubjects = forbiddenSubjects
    }

    /// Whether a test of this type and subject may run. Words are compared as they are written.
    public func allows(type: String, subject: String) -> Bool {
        guard !forbiddenTypes.contains(type), !forbiddenSubjects.contains(subject) else { return false }
        return (allowedTypes.isEmpty || allowedTypes.contains(type)) && (allowedSubjects.isEmpty || allowedSubjects.contains(subject))
    }

    /// The same for a kind of test.
    public func allows(_ kind: TestKind) -> Bool { allows(type: kind.type, subject: kind.subject) }

    /// As the server writes it.
    ///
    /// - Returns: nil when a list is no list of texts: a restriction that is not understood must not be read as none.
    init?(json: JSONValue) {
        guard let object = json.object else { return nil }
        func words(_ key: String) -> Set<String>? {
            guard let value = object[key], value != .null else { return [] }
            guard let array = value.array else { return nil }
            let words = array.compactMap(\.string)
            return words.count == array.count ? Set(words) : nil
        }
        guard let allowedTypes = words("allow_types"), let allowedSubjects = words("allow_subjects"),
            let forbiddenTypes = words("forbid_types"), let forbiddenSubjects = words("forbid_subjects")
        else { return nil }
        self.init(
            allowedTypes: allowedTypes, allowedSubjects: allowedSubjects, forbiddenTypes: forbiddenTypes,
            forbiddenSubjects: forbiddenSubjects)
    }

    /// As the server writes it, each list sorted.
    public var json: JSONValue {
        .object([
            "allow_types": .strings(allowedTypes.sorted()), "allow_subjects": .strings(allowedSubjects.sorted()),
            "forbid_types": .strings(forbiddenTypes.sorted()), "forbid_subjects": .strings(forbiddenSubjects.sorted()),
        ])
    }
}
