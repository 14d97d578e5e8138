/// A collector whose declaration is known only once it runs: a program of somebody else's, which says itself what it records.
///
/// Its own ``Collector/descriptor`` tells the name that it is known by and nothing else, and it is never asked to collect itself. Finding
/// out takes time and can fail, so it happens beside the test like everything else a collector does: on its own thread, under the same
/// deadlines.
public protocol LateCollector: Collector {
    /// Connects to the real collector, hands it over, and has released everything of it when this returns.
    ///
    /// - Parameters:
    ///   - session: what there is to know of the test.
    ///   - use: admits the collector by its declaration and runs it, or does not run it. It is called once at most.
    /// - Throws: ``CollectorFailure`` when there is nothing to hand over, or what `use` throws.
    func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws
}

extension LateCollector {
    public func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        try await withCollector(during: session) { try await $0.collect(into: trace, during: session) }
    }
}

extension CollectorDescriptor {
    /// For a ``LateCollector``: a name, and nothing declared.
    public init(nameOnly name: String) { self.init(name: name, version: "", trace: "", fields: []) }
}
