public import CollectorCore

/// A collector that was found and must not run: its line in the report says why.
public struct RefusedCollector: LateCollector {
    public let descriptor: CollectorDescriptor
    public let failure: CollectorFailure

    /// - Parameters:
    ///   - name: what it is installed as.
    ///   - why: what is wrong, and what to do.
    public init(name: String, why: String) {
        descriptor = CollectorDescriptor(nameOnly: name)
        failure = CollectorFailure("refused", "it must not run: 'fieldprobe collectors list' says why", local: why)
    }

    public func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
        throw failure
    }
}
