import Glibc
import LabSupport
import Testing

@testable import MeasurementSync

/// What is counted over processes and restarts.
@Suite struct CounterTests {
    let lab: TemporaryFolder
    let folder: StateFolder

    init() throws {
        lab = try TemporaryFolder()
        folder = StateFolder(lab.path)
    }

    @Test func countsOutliveTheirProcess() {
        let first = QueueCounters(folder)
        first.add { $0.enqueued += 3 }
        let second = QueueCounters(folder)
        second.add { $0.sent += 2 }
        first.add { $0.enqueued += 1 }
        #expect(second.counts.enqueued == 4)
        #expect(first.counts.sent == 2)
    }

    /// The file never grows, so that a full disk takes nothing away.
    @Test func theFileKeepsItsSize() {
        let counters = QueueCounters(folder)
        counters.add { $0.dropped += 1 }
        let size = TemporaryFolder.read(folder.counters)?.utf8.count
        for _ in 0..<50 { counters.add { $0.dropped += 1_000_000_000 } }
        #expect(TemporaryFolder.read(folder.counters)?.utf8.count == size)
        #expect(counters.counts.dropped == 50_000_000_001)
    }

    @Test func aDamagedFileIsZero() throws {
        try lab.write("queue.counters", "enqueued -5\nsent x\n\u{1}\u{2}dropped 7\nretried 3\nnonsense\n")
        let counters = QueueCounters(folder)
        #expect(counters.counts.retried == 3)
        #expect(counters.counts.sent == 0)
        counters.add { $0.sent += 1 }
        #expect(counters.counts.sent == 1)
    }

    /// A stopped process that holds the file costs nothing but a little time.
    @Test func aHeldFileIsNotWaitedFor() throws {
        let counters = QueueCounters(folder)
        counters.add { $0.sent += 1 }
        let holder = try KernelLock(folder.counters)
        #expect(holder.tryExclusive())
        counters.add { $0.sent += 1 }
        #expect(counters.counts.sent == 2)
        #expect(QueueCounters(folder).counts.sent == 1)
        holder.unlock()
        counters.add { $0.sent += 1 }
        #expect(QueueCounters(folder).counts.sent == 3)
    }
}
