import CollectorCore
import ExternalCollector
import LabSupport
import MeasurementModel

/// The collector of Tests/Labs/collectors/replay and replay.c, in Swift: all three have to leave the same trace.
struct Replay: Collector {
    let descriptor = CollectorDescriptor(
        name: "replay", version: "1.0", trace: "replay_trace",
        fields: [
            .integer("value", privacy: .otherDiagnosticData, about: "A number"),
            .number("level", unit: .dB, privacy: .otherDiagnosticData, changes: .by(2), about: "A level"),
            .text("label", privacy: .otherDiagnosticData, about: "A text"),
            .bool("is_on", privacy: .otherDiagnosticData, changes: .never, about: "A truth"),
            .text("place", privacy: .preciseLocation, permission: .preciseLocation, about: "A place"),
            FieldDeclaration(
                "parts", .records, privacy: .otherDiagnosticData, about: "Some records",
                members: [
                    .integer("id", privacy: .otherDiagnosticData, about: "A number"),
                    .number("level", privacy: .otherDiagnosticData, changes: .by(5), about: "A level"),
                ]),
        ], about: "The same in every language")

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        trace.provenance("value", "replay")
        trace.record(["value": .integer(1), "level": .number(10), "label": .text("a"), "is_on": .bool(true)])
        trace.record(["value": .integer(1), "level": .number(10), "label": .text("a"), "is_on": .bool(false)])
        trace.record(["value": .integer(1), "level": .number(11.5), "label": .text("a")])
        trace.record(["value": .integer(2), "level": .number(13)])
        trace.gap(.began(.eventLoss))
        trace.gap(.ended(.eventLoss))
        trace.unavailable(.noHardware, detail: "it was unplugged")
        trace.available()
        trace.resynced()
        trace.rejected("implausible", count: 3)
        trace.record(["value": .integer(3), "place": .text("here"), "unheard": .integer(1)])
        for level in [-60.5, -62] {
            trace.record([
                "value": .integer(3), "label": .text("Grüße, \"du\"\n🌍"),
                "parts": .records([["id": .integer(1), "level": .number(level)], ["id": .integer(2)]]),
            ])
        }
        trace.record(["value": .integer(9_007_199_254_740_993), "label": .text("")])
        trace.record(["value": .integer(99)])
        while !session.wait().isCancelled {}
    }

    static let program = Lab.path("collectors/replay")

    /// The library, built with the defects that replay.c knows.
    static func library(_ defect: String? = nil, in folder: TemporaryFolder) throws -> String {
        let output = "\(folder.path)/\(defect ?? "replay").so"
        let header = Lab.path("../../Sources/CCollectorABI/include")
        var arguments = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", header, "-o", output]
        if let defect { arguments.append("-DDEFECT_\(defect)") }
        try ChildProcess.run(arguments + [Lab.path("collectors/replay.c")])
        return output
    }
}
