import CollectorCore
import ExternalCollector
import Glibc
import LabSupport
import MeasurementModel
import Synchronization
import Testing

/// One of the example collectors in a test that is going on, watched as it records.
final class ExampleRun: Sendable {
    private struct Seen {
        var snapshots: [Snapshot] = []
        var states: [String] = []
    }

    private let seen = Mutex(Seen())
    private let run: Mutex<CollectorRun?> = Mutex(nil)

    /// Kept for as long as the collector reads it.
    private let tree: MadeUpTree?

    init(_ collector: ProgramCollector, reading tree: MadeUpTree? = nil) {
        self.tree = tree
        var settings = CollectorHost.Settings()
        settings.stopDeadline = .seconds(30)
        settings.observer = { [weak self] event in
            guard let self else { return }
            seen.withLock { seen in
                switch event.kind {
                case .snapshot(let snapshot): seen.snapshots.append(snapshot)
                case .state(let state, let reason): seen.states.append("\(state.rawValue) \(reason ?? "")")
                case .gap: break
                }
            }
        }
        let host = CollectorHost(collectors: [collector], settings: settings)
        run.withLock { $0 = host.start(kind: TestKind(type: "NETWORK", subject: "ping")) }
    }

    var snapshots: [Snapshot] { seen.withLock { $0.snapshots } }

    /// Waits for a snapshot that is as it should be, however long the machine takes.
    @discardableResult
    func snapshot(
        _ what: String, from index: Int = 0, sourceLocation: SourceLocation = #_sourceLocation,
        _ isWanted: (Snapshot) -> Bool = { _ in true }
    ) async throws -> Snapshot {
        let limit = ContinuousClock.now + .seconds(60)
        repeat {
            if let found = snapshots.dropFirst(index).first(where: isWanted) { return found }
            try await Task.sleep(for: .milliseconds(5))
        } while ContinuousClock.now < limit
        let texts = snapshots.map { $0.json.text() }.joined(separator: "\n")
        return try #require(nil, "no snapshot with \(what) in:\n\(texts)", sourceLocation: sourceLocation)
    }

    func state(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let limit = ContinuousClock.now + .seconds(60)
        while !seen.withLock({ $0.states.contains(text) }), ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
        let states = seen.withLock { $0.states }
        #expect(states.contains(text), sourceLocation: sourceLocation)
    }

    /// Ends the test.
    @discardableResult
    func finish() async -> CollectorRecord {
        guard let run = run.withLock({ $0 }) else { preconditionFailure("it was not started") }
        return await run.finish().records[0]
    }
}

/// Files that stand for /sys or /proc.
struct MadeUpTree: Sendable {
    let folder: TemporaryFolder
    var path: String { folder.path }

    init(_ files: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try set(name, text) }
    }

    /// Put into place in one step: a collector sees the old text or the new, never half of it.
    func set(_ name: String, _ text: String) throws {
        try ChildProcess.run(
            "mkdir", "-p", "\(path)/\(name)".split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/"))
        let temporary = try folder.write("next", text)
        guard rename(temporary, "\(path)/\(name)") == 0 else { throw SystemError(errno: errno, call: "rename") }
    }

    /// Taken out of the way in one step.
    func remove(_ name: String) throws {
        guard rename("\(path)/\(name)", "\(path)/removed-\(UInt32.random(in: 0...UInt32.max))") == 0 else {
            throw SystemError(errno: errno, call: "rename")
        }
    }
}

/// The repository's plugins, which are next to its tests.
enum Plugin {
    static func path(_ name: String) -> String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/Plugins/\(name)"
    }
}
