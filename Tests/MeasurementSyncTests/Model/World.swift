import MeasurementModel

@testable import MeasurementSync

/// One device and one server in virtual time: what the kernel keeps when processes die.
final class World {
    var random: SplitMix
    var now = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    /// Only labels; it may jump.
    var wall = 1_790_000_000_000
    let limit = 12

    var files: [QueuedName: Content] = [:]
    var processes: [SimulatedProcess] = []
    var lineHolder: Int?
    var uploaderHolder: Int?
    /// Tests by number: those that have the lock, and those that wait for a sender to break off.
    var quiet: Set<Int> = []
    var waiting: Set<Int> = []
    var isDiskFull = false
    var isReadOnly = false
    var isRegistered = true

    enum Content { case good, bad }
    enum Mode { case good, down, failing, limited, dropping }
    var mode = Mode.good
    var refused: Set<String> = []
    /// The server dies of these.
    var poison: Set<String> = []
    var stored: Set<String> = []

    // What must be so, by a model that knows nothing of rounds and locks.
    /// Acknowledged, and nothing more is known of them.
    var outstanding: Set<String> = []
    var accepted: Set<String> = []
    var dropped: Set<String> = []
    var aside: Set<String> = []
    var cleared: Set<String> = []
    var counts = QueueCounts()
    var failures = 0
    var faults: [String] = []

    init(seed: UInt64) { random = SplitMix(state: seed) }

    func fault(_ text: String) { faults.append(text) }

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Told to every living process; each hears of it when it gets to it.
    func broadcast(_ notice: SimulatedProcess.Notice, but own: Int? = nil) {
        for process in processes where process.isAlive && process.number != own { process.notices.append(notice) }
    }

    func grantLine() {
        guard lineHolder == nil else { return }
        quiet.formUnion(waiting)
        waiting = []
    }

    func startTest(_ number: Int) {
        if lineHolder == nil { quiet.insert(number) } else { waiting.insert(number) }
        broadcast(.event(.lineWanted))
    }

    func endTest(_ number: Int) {
        guard quiet.remove(number) != nil || waiting.remove(number) != nil else { return }
        broadcast(.event(.lineMayBeFree))
    }

    /// The queue's files by the rules of ``FolderStore``.
    ///
    /// - Returns: it was acknowledged.
    func enqueue(_ id: String, dies: Bool) -> Bool {
        if isReadOnly || isDiskFull { return false }
        if dies, chance(50) { return false }
        let names = files.keys.sorted()
        guard !names.contains(where: { $0.id == id }) else { return !dies }
        files[QueuedName(sequence: (names.last?.sequence ?? 0) + 1, id: id)] = .good
        broadcast(.files)
        if dies { return false }
        for oldest in names.prefix(max(0, names.count + 1 - limit)) {
            files[oldest] = nil
            dropped.insert(oldest.id)
            counts.dropped += 1
        }
        return true
    }

    /// Every acknowledged report is where the model has it, and nowhere else.
    func check() {
        let there = Set(files.keys.map(\.id))
        for id in outstanding where !there.contains(id) {
            let isElsewhere = accepted.contains(id) || dropped.contains(id) || aside.contains(id) || cleared.contains(id)
            if !isElsewhere { fault("\(id) was acknowledged and is gone") }
            outstanding.remove(id)
        }
        let senders = processes.filter { $0.upload != nil }
        if senders.count > 1 { fault("\(senders.count) processes send at once") }
        if !quiet.isEmpty, !senders.isEmpty { fault("something is sent while a test runs") }
        if files.count > limit + 2 { fault("\(files.count) reports are kept") }
    }
}

/// A generator that a seed repeats (SplitMix64).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
