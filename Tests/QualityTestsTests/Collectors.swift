import CollectorCore
import Glibc
import MeasurementModel
import Synchronization

/// Counts up every ten milliseconds, as a well-behaved collector does.
struct CountingCollector: Collector {
    var trace = "counting_trace"
    var descriptor: CollectorDescriptor {
        CollectorDescriptor(
            name: "counting", version: "1.0", trace: trace,
            fields: [.integer("count", privacy: .otherDiagnosticData, about: "How often it looked")])
    }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        var count = 0
        while true {
            count += 1
            trace.record(["count": .integer(count)])
            if session.wait(until: session.clock.now() + .milliseconds(10)).isCancelled { return }
        }
    }
}

/// Lets go what ``HostileCollector`` holds on to, so that one test does not burn the processor of the next.
final class Release: Sendable {
    private let isLoose = Mutex(false)
    /// A record of the collector's was refused.
    let sawRefusal = Mutex(false)
    var hasCome: Bool { isLoose.withLock { $0 } }
    func now() { isLoose.withLock { $0 = true } }
}

/// Breaks the contract in one of the ways there are.
struct HostileCollector: Collector {
    enum Way: String, CaseIterable, Sendable {
        case blocks, awaits, spins, hangsInDescriptor, throwsAtOnce, throwsLater, floods, declaresNothing, undeclaredFields, wrongTypes
        case badTraceKey, returnsAtOnce, lingers
    }

    struct Misbehaviour: Error {}

    let way: Way
    let release: Release

    private func hang(spinning: Bool = false) {
        while !release.hasCome {
            if !spinning { usleep(10_000) }
        }
    }

    var descriptor: CollectorDescriptor {
        if way == .hangsInDescriptor { hang() }
        return CollectorDescriptor(
            name: "hostile", version: "6.6", trace: way == .badTraceKey ? "result" : "hostile_trace",
            fields: way == .declaresNothing ? [] : [.integer("value", privacy: .otherDiagnosticData, about: "Anything")])
    }

    func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        switch way {
        case .blocks:
            trace.record(["value": .integer(1)])
            hang()
        case .awaits:
            // Sleeps without heeding a cancellation.
            while !release.hasCome { await Task.detached { try? await Task.sleep(for: .milliseconds(20)) }.value }
        case .spins: hang(spinning: true)
        case .throwsAtOnce: throw Misbehaviour()
        case .throwsLater:
            trace.record(["value": .integer(1)])
            _ = session.wait(until: session.clock.now() + .milliseconds(20))
            throw Misbehaviour()
        case .floods:
            for index in 0..<1_000_000 {
                // Each value is a new one: what is not recorded was refused.
                if !trace.record(["value": .integer(index)]) { release.sawRefusal.withLock { $0 = true } }
                if Task.isCancelled { return }
            }
        case .undeclaredFields: trace.record(["value": .integer(1), "secret": .text("planted")])
        case .wrongTypes: trace.record(["value": .text("one")])
        case .lingers:
            while !session.wait().isCancelled {}
            usleep(100_000)
        case .hangsInDescriptor, .declaresNothing, .badTraceKey, .returnsAtOnce: break
        }
    }
}
