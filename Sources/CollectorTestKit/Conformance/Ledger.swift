internal import CollectorCore
internal import MeasurementModel
internal import Synchronization

/// What is noted over all runs of the collector: its declaration at each asking, and calls that came when they should not have.
final class Ledger: Sendable {
    struct Notes {
        /// The last declaration.
        var descriptor: CollectorDescriptor?
        var askings = 0
        var slowestAsking = Duration.zero
        /// Lines of the first declaration, and the first that was different.
        var firstLines: [String]?
        var otherLines: [String]?
        /// Calls of a trace whose `collect` had returned.
        var lateCalls = 0
        var firstLateCall: (what: String, after: Duration)?
    }

    private let state = Mutex(Notes())

    var notes: Notes { state.withLock { $0 } }

    func asked(_ descriptor: CollectorDescriptor, took duration: Duration) {
        let lines = Self.lines(descriptor)
        state.withLock { notes in
            notes.descriptor = descriptor
            notes.askings += 1
            notes.slowestAsking = max(notes.slowestAsking, duration)
            guard let first = notes.firstLines else {
                notes.firstLines = lines
                return
            }
            if notes.otherLines == nil, lines != first { notes.otherLines = lines }
        }
    }

    func calledLate(_ what: String, after duration: Duration) {
        state.withLock { notes in
            notes.lateCalls += 1
            if notes.firstLateCall == nil { notes.firstLateCall = (what, duration) }
        }
    }

    /// A descriptor as text: closures in its change rules keep it from being compared.
    private static func lines(_ descriptor: CollectorDescriptor) -> [String] {
        [
            "name \(descriptor.name)", "version \(descriptor.version)", "trace \(descriptor.trace)", "about \(descriptor.about)",
            "requires \(descriptor.requires.map(\.rawValue))", "maximumSilence \(descriptor.maximumSilence.map { "\($0)" } ?? "none")",
        ] + descriptor.fields.flatMap { lines($0, path: "") }
    }

    private static func lines(_ field: FieldDeclaration, path: String) -> [String] {
        let name = path + field.name
        let words = [
            field.type.rawValue, field.unit?.symbol ?? "-", field.privacy.rawValue, field.permission?.rawValue ?? "-",
            field.changes.text(unit: field.unit), field.about, field.purpose,
        ]
        return ["field \(name) \(words.joined(separator: " "))"] + field.members.flatMap { lines($0, path: name + ".") }
    }
}

/// A field or a member with its full name, and the fields that it is part of.
typealias PathField = (path: String, field: FieldDeclaration, above: [FieldDeclaration])

extension CollectorDescriptor {
    /// Every field and every member, with its path.
    var allFields: [PathField] {
        func flat(_ fields: [FieldDeclaration], _ path: String, _ above: [FieldDeclaration]) -> [PathField] {
            fields.flatMap { [(path + $0.name, $0, above)] + flat($0.members, "\(path)\($0.name).", above + [$0]) }
        }
        return flat(fields, "", [])
    }
}
