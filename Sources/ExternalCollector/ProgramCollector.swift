public import CollectorCore
internal import Glibc
internal import MeasurementModel

/// A collector that is somebody else's program, or a shared library: it runs in a process of its own, one for each test, speaks JSON Lines
/// on its standard streams (docs/collector-protocol.md), and costs nothing but its own trace, whatever it does.
public struct ProgramCollector: LateCollector {
    /// What is run.
    public enum Source: Sendable, Hashable {
        /// An executable file and its arguments.
        case program(String, [String])
        /// A shared library with the interface of `fieldprobe_collector.h`, loaded by the bundled host.
        case library(String)

        var path: String {
            switch self {
            case .program(let path, _), .library(let path): path
            }
        }

        /// The path's last part.
        var file: String { path.split(separator: "/").last.map(String.init) ?? path }
    }

    /// How the program is run.
    public struct Settings: Sendable, Hashable {
        /// User to run as; nil is the one that this process has. Another one needs root.
        public var user: String?
        /// The collector's own keys: handed to it as they are, with the start message.
        public var configuration: [String: String] = [:]
        public var limits = CollectorLimits()
        /// Run it only if its file, and everything on the way to it, is root's alone: for what nobody has named. See ``FileTrust``.
        public var requiresTrust = false
        /// `fieldprobe-collector-host`; nil looks for it beside this program and where packages put it.
        public var hostProgram: String?

        public init() {}
    }

    public let source: Source
    public let settings: Settings
    /// The name that it has to declare; nil takes any.
    let expectedName: String?
    public let descriptor: CollectorDescriptor
    /// Hears what the conversation is like, for the conformance kit.
    package var observer: ConversationObserver?
    /// Keys of traces that are not for it: they belong to collectors that this installation knows, even where those are turned off.
    package var reservedTraces: Set<String> = []
    /// Whether keys that it does not declare are refused: not where somebody asks which there are.
    package var refusesUnknownKeys = true

    /// - Parameters:
    ///   - name: what it is installed as, and has to call itself; nil takes any name.
    ///   - program: a path. A relative one is meant from the current folder, and `PATH` is not searched.
    ///   - arguments: what it is given, without its own name.
    ///   - settings: as whom it runs, within which limits, and its own keys.
    public init(name: String? = nil, program: String, arguments: [String] = [], settings: Settings = Settings()) {
        self.init(name: name, .program(Self.absolute(program), arguments), settings)
    }

    public init(name: String? = nil, library: String, settings: Settings = Settings()) {
        self.init(name: name, .library(Self.absolute(library)), settings)
    }

    private init(name: String?, _ source: Source, _ settings: Settings) {
        expectedName = name
        self.source = source
        self.settings = settings
        descriptor = CollectorDescriptor(nameOnly: name ?? source.file)
    }

    /// The child works in the root folder, so that it keeps no file system busy.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    public func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
        let conversation = try Conversation(self, session)
        let descriptor = try conversation.handshake()
        if let expectedName, descriptor.name != expectedName {
            throw CollectorFailure(
                "bad_declaration", "it calls itself '\(descriptor.name)' and is installed as '\(expectedName)': give it that name")
        }
        guard !reservedTraces.contains(descriptor.trace) else {
            throw CollectorFailure("trace_taken", "the trace '\(descriptor.trace)' belongs to a built-in collector: declare another key")
        }
        if refusesUnknownKeys, let failure = Self.unknownKey(settings.configuration.keys, descriptor) { throw failure }
        try await use(ConnectedProgram(descriptor: descriptor, conversation: conversation))
        conversation.close()
    }

    /// What is wrong with the keys that are set for it. Their names are somebody's configuration, and none of the report's business.
    static func unknownKey(_ keys: some Sequence<String>, _ descriptor: CollectorDescriptor) -> CollectorFailure? {
        guard let known = descriptor.configuration?.map(\.name), let key = keys.sorted().first(where: { !known.contains($0) }) else {
            return nil
        }
        let choice = known.isEmpty ? "it has none" : "there are " + known.joined(separator: ", ")
        return CollectorFailure(
            "bad_configuration", "a key of its configuration is none that it knows: 'fieldprobe collectors list'",
            local: "there is no key '\(key)' in its [configuration]: \(choice)")
    }
}

/// A program that has said what it records.
private struct ConnectedProgram: Collector {
    let descriptor: CollectorDescriptor
    let conversation: Conversation

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        try conversation.collect(into: trace, fields: descriptor.fields)
    }
}
