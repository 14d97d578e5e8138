import LabSupport
import Testing

/// Every block of Swift in the documentation is code that something compiles: this target, or the example app (.ci/example).
@Suite struct DocumentedCodeTests {
    private static let compiled = [
        "Tests/FieldProbeTests/LinkingSnippets.swift", "Tests/FieldProbeTests/ReadmeTests.swift",
        "docs/examples/MeasurementApp/Package.swift", "docs/examples/MeasurementApp/Sources/MeasurementApp/Main.swift",
        "docs/examples/MeasurementApp/Sources/MeasurementApp/TCPCollector.swift",
        "docs/examples/MeasurementApp/Tests/MeasurementAppTests/TCPCollectorTests.swift",
    ]

    @Test(arguments: [
        "docs/linking.md", "docs/examples/MeasurementApp/README.md", "Sources/FieldProbe/FieldProbe.docc/FieldProbe.md",
        "Sources/FieldProbe/FieldProbe.docc/RunningATest.md", "Sources/FieldProbe/FieldProbe.docc/WritingACollector.md",
    ])
    func whatIsShownIsCompiled(document: String) throws {
        let code = try Self.compiled.map { Self.words(try #require(TemporaryFolder.read($0), "tests run in the package's folder")) }
        let text = try #require(TemporaryFolder.read(document))
        // Between two fences: every second part.
        let blocks = text.split(separator: "```", omittingEmptySubsequences: false).enumerated().filter { !$0.offset.isMultiple(of: 2) }
        for block in blocks.map(\.element) where block.hasPrefix("swift\n") {
            let words = Self.words(block.dropFirst("swift\n".count))
            #expect(code.contains { $0.contains(words) }, "in \(document), and in nothing that is compiled: \(words)")
        }
    }

    /// Without the spaces that a formatter sees to.
    private static func words(_ text: some StringProtocol) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
