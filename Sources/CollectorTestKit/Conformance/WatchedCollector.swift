internal import CollectorCore
internal import MeasurementModel

/// A collector between the host and the one under test: what passes through is noted and handed on unchanged.
struct WatchedCollector: Collector {
    let inner: any Collector
    let watch: RunWatch
    /// The collector gets its first turn only when the test is over.
    var holdsUntilCancelled = false

    var descriptor: CollectorDescriptor {
        let before = MonotonicInstant.now()
        let descriptor = inner.descriptor
        watch.ledger.asked(descriptor, took: .now() - before)
        return descriptor
    }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        hold(session)
        watch.entered()
        watch.collecting()
        defer {
            watch.traceEnded()
            watch.returned()
        }
        try await inner.collect(into: WatchedTrace(inner: trace, watch: watch, session: session), during: session)
    }

    private func hold(_ session: CollectionSession) {
        guard holdsUntilCancelled else { return }
        while !session.wait().isCancelled {}
    }
}

/// The same for one that says only at run time what it records: its real collector is watched in the same way.
struct WatchedLateCollector: LateCollector {
    let inner: any LateCollector
    let watch: RunWatch
    var holdsUntilCancelled = false

    var descriptor: CollectorDescriptor { inner.descriptor }

    func withCollector(during session: CollectionSession, _ use: (any Collector) async throws -> Void) async throws {
        if holdsUntilCancelled { while !session.wait().isCancelled {} }
        watch.entered()
        defer { watch.returned() }
        try await inner.withCollector(during: session) { try await use(WatchedRealCollector(inner: $0, watch: watch)) }
    }
}

/// What a late collector hands over. It is apart from ``WatchedCollector`` because its return is not yet the return of everything.
private struct WatchedRealCollector: Collector {
    let inner: any Collector
    let watch: RunWatch

    var descriptor: CollectorDescriptor { WatchedCollector(inner: inner, watch: watch).descriptor }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        watch.collecting()
        defer { watch.traceEnded() }
        try await inner.collect(into: WatchedTrace(inner: trace, watch: watch, session: session), during: session)
    }
}

/// The recorder's trace, with an ear on it.
private struct WatchedTrace<Inner: TraceWriter>: TraceWriter {
    let inner: Inner
    let watch: RunWatch
    let session: CollectionSession

    @discardableResult
    func record(_ values: [String: FieldValue], at instant: MonotonicInstant?) -> Bool {
        watch.recorded(at: instant, startedAt: session.startedAt, now: session.clock.now())
        return inner.record(values, at: instant)
    }

    func gap(_ event: GapEvent) {
        watch.said("gap")
        inner.gap(event)
    }

    func unavailable(_ reason: StateReason, detail: String?) {
        watch.said("unavailable")
        inner.unavailable(reason, detail: detail)
    }

    func available() {
        watch.said("available")
        inner.available()
    }

    func denied(_ reason: StateReason, detail: String?) {
        watch.said("denied")
        inner.denied(reason, detail: detail)
    }

    func resynced() {
        watch.called("resynced")
        inner.resynced()
    }

    func rejected(_ reason: String, count: Int) {
        watch.called("rejected")
        inner.rejected(reason, count: count)
    }

    func provenance(_ subject: String, _ source: String) {
        watch.called("provenance")
        inner.provenance(subject, source)
    }
}
