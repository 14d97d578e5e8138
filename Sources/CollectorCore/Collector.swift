public import MeasurementModel

/// Something that records one trace while a test runs.
///
/// The contract:
///
/// - ``collect(into:during:)`` is called when the test starts, and lives as long as the test: it runs until its task is cancelled and has
///   released everything (sockets, children, threads, timers) when it returns. Between tests nothing of a collector runs.
/// - It runs on a thread of its own, so it may block there, preferably in ``CollectionSession/wait(readable:writable:until:)``, which a
///   cancellation ends at once.
/// - Returning early means: nothing more to say. Throwing means: failed; the host records why. Neither touches the test or other traces.
/// - It hands over full sets of current values and never compares, stamps or filters them: the recorder does.
/// - What is not there (no radio, no daemon, no permission) is told with ``TraceWriter/unavailable(_:detail:)``, not thrown.
/// - It may be called for several tests, also at the same time: what belongs to one test lives inside the call.
/// - Where it is cancelled before its first reading, it takes that one reading and returns: the host still accepts a first snapshot.
/// - ``descriptor`` answers at once and always the same.
public protocol Collector: Sendable {
    /// What the collector is and what it can record. Asked often: it answers at once, and always the same.
    var descriptor: CollectorDescriptor { get }

    /// Collects for one test: called on a thread of its own when the test starts, cancelled when it ends.
    ///
    /// - Parameters:
    ///   - trace: takes what was seen.
    ///   - session: what there is to know of the test, and how to wait.
    /// - Throws: whatever kept it from collecting. ``CollectorFailure`` says what the report should; any other error is told by its
    ///   description.
    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws
}

/// What a collector says of itself before it runs.
public struct CollectorDescriptor: Sendable {
    /// Lower-case words joined with hyphens, such as `connection-detail`.
    public let name: String
    /// Of the collector, as the report shows it.
    public let version: String
    /// The report's key for the trace: lower-case words joined with underscores, ending in `_trace`.
    public let trace: String
    /// Everything that it can ever record: what is not declared is dropped.
    public let fields: [FieldDeclaration]
    /// Without these the collector is not started at all, and its state is `denied`.
    public let requires: [Permission]
    /// The collector calls its trace at least this often; a longer silence is recorded as a gap. Nil promises nothing.
    public let maximumSilence: Duration?
    /// One line for people.
    public let about: String
    /// The keys of its own configuration. With another key it is refused before it starts: a misspelt one would leave a value at what nobody
    /// wanted. Nil says nothing about them, and takes any.
    public var configuration: [ConfigurationDeclaration]?

    public init(
        name: String, version: String, trace: String, fields: [FieldDeclaration], requires: [Permission] = [],
        maximumSilence: Duration? = nil, about: String = ""
    ) {
        self.name = name
        self.version = version
        self.trace = trace
        self.fields = fields
        self.requires = requires
        self.maximumSilence = maximumSilence
        self.about = about
    }

    /// What is wrong with the declaration, in words; nil when nothing is.
    public var problem: String? {
        guard Self.isName(name) else { return "the name '\(name)' is not lower-case words joined with hyphens" }
        guard trace.hasSuffix("_trace"), Self.isWord(trace, separator: "_") else {
            return "the trace key '\(trace)' is not lower-case words joined with underscores and ending in '_trace'"
        }
        guard !Report.reservedKeys.contains(trace) else { return "the trace key '\(trace)' belongs to the report" }
        if let key = configuration?.first(where: { !Self.isName($0.name) }) {
            return "the configuration key '\(key.name)' is not lower-case words joined with hyphens"
        }
        guard !fields.isEmpty else { return "no field is declared, so nothing could ever be recorded" }
        return Self.problem(of: fields)
    }

    private static func problem(of fields: [FieldDeclaration]) -> String? {
        var seen: Set<String> = []
        for field in fields {
            guard isWord(field.name, separator: "_") else {
                return "the field '\(field.name)' is not lower-case words joined with underscores"
            }
            guard !Snapshot.commonFields.contains(field.name) else { return "the field '\(field.name)' is set by the recorder" }
            guard seen.insert(field.name).inserted else { return "the field '\(field.name)' is declared twice" }
            if case .moved(_, let longitude, _) = field.changes, !fields.contains(where: { $0.name == longitude }) {
                return "the field '\(field.name)' moves with '\(longitude)', which is not declared"
            }
            guard (field.type == .records) == !field.members.isEmpty else {
                return "the field '\(field.name)' declares members exactly if it is of type 'records'"
            }
            if let problem = problem(of: field.members) { return problem }
        }
        return nil
    }

    /// Whether a collector may have this name.
    package static func isName(_ text: String) -> Bool { isWord(text, separator: "-") }

    private static func isWord(_ text: String, separator: Character) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy {
            Character(UnicodeScalar($0)) == separator || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0)
        }
    }
}
