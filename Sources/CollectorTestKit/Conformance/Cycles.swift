internal import CollectorCore
internal import MeasurementModel

/// Start and stop, many times: whether it ends in time, and what stays behind.
extension ConformanceProgram {
    /// What the cycles have shown.
    private struct Course {
        var slowest = Duration.zero
        var slowestCycle = 0
        var problem: String?
        var heap: [Int] = []
        /// The cycle in which each temporary file was first seen.
        var files: [String: Int] = [:]
    }

    /// So many cycles at least, before anything can be said of memory.
    private static let cyclesForMemory = 20

    func cycles(_ ordinary: OrdinaryRun) async -> [CheckResult] {
        var course = Course()
        // What is made once, such as caches and the language's own threads, is no leak.
        for number in -3..<0 where course.problem == nil { await cycle(number, &course) }
        course = Course(problem: course.problem)
        course.heap.reserveCapacity(host.settings.runs)
        for file in Holdings.temporaryFiles() { course.files[file] = 0 }
        let before = Holdings.now()
        for number in 1...max(1, host.settings.runs) where course.problem == nil && !Task.isCancelled { await cycle(number, &course) }
        if let problem = course.problem {
            return [ConformanceCheck.startStop.failed(problem)] + Self.remains.map { $0.notApplicable("it does not stop each time") }
        }
        let figures = "\(host.settings.runs) times, slowest stop \(course.slowest.words) in cycle \(course.slowestCycle)"
        return [ConformanceCheck.startStop.passed(figures)] + (await remains(since: before, files: course.files)) + [memory(course.heap)]
    }

    static let remains: [ConformanceCheck] = [.descriptors, .threads, .children, .files, .memory]

    /// By turns it is ended once it has said something, somewhere on its way there, and at once.
    private func cycle(_ number: Int, _ course: inout Course) async {
        let trial = host.start()
        switch abs(number % 3) {
        case 0: await trial.wait(atMost: host.settings.observation / 4) { $0.said > 0 }
        case 1: await trial.wait(atMost: .milliseconds(abs(number % 20)))
        default: break
        }
        let outcome = await trial.finish()
        course.heap.append(Holdings.heap())
        for file in Holdings.temporaryFiles() where course.files[file] == nil { course.files[file] = number }
        if let took = outcome.stopTook, took >= course.slowest { (course.slowest, course.slowestCycle) = (took, number) }
        if outcome.isStuck {
            course.problem = "in cycle \(number) it did not return within \(deadline.words) of the test's end (\(outcome.state))"
        } else if outcome.record.state == .failed {
            course.problem = "in cycle \(number) it ended with \(outcome.state)"
        }
    }

    /// From so many things more on it is the collector's doing. Where the process does other things too, what they hold comes and goes:
    /// only something in every second cycle is told from that.
    private var limit: Int {
        let runs = host.settings.runs
        return host.settings.ownsProcess ? min(max(runs / 2, 1), max(4, runs / 10)) : max(runs / 2, 1)
    }

    /// A thread that was left behind on purpose, in a call that cannot be interrupted, ends a little later: it is waited for.
    private func remains(since before: Holdings, files: [String: Int]) async -> [CheckResult] {
        let end = MonotonicInstant.now() + host.settings.settle
        while true {
            let after = Holdings.now()
            let kinds: [(ConformanceCheck, KeyPath<Holdings, Holdings.Things>, String)] = [
                (.descriptors, \.descriptors, "descriptors"), (.threads, \.threads, "threads"), (.children, \.children, "children"),
            ]
            let results = kinds.map { check, things, name in
                Holdings.growth(from: before[keyPath: things], to: after[keyPath: things], limit: limit, thing: name)
                    .map { check.failed("after \(host.settings.runs) cycles there are \($0)") } ?? check.passed()
            }
            let all = results + [self.files(files)]
            if !all.contains(where: \.isFailed) || MonotonicInstant.now() >= end || Task.isCancelled { return all }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    /// The folders are everybody's: others make files there too, but not one in each cycle that stays.
    private func files(_ firstSeen: [String: Int]) -> CheckResult {
        let left = Holdings.temporaryFiles().filter { (firstSeen[$0] ?? 0) > 0 }
        let cycles = Set(left.map { firstSeen[$0] ?? 0 }).count
        guard cycles >= limit else { return ConformanceCheck.files.passed() }
        let names = left.sorted().prefix(3).joined(separator: ", ")
        return ConformanceCheck.files.failed("\(cycles) of \(host.settings.runs) cycles have left files, such as \(names)")
    }

    /// The smallest of a quarter of the cycles is compared with that of the next quarter: what others have for a moment falls away.
    private func memory(_ heap: [Int]) -> CheckResult {
        let check = ConformanceCheck.memory
        guard heap.count >= Self.cyclesForMemory else {
            return check.notApplicable("that takes \(Self.cyclesForMemory) cycles, and there were \(heap.count)")
        }
        guard Holdings.canMeasureHeap else { return check.notApplicable("this process's allocator does not say what it holds") }
        let quarter = heap.count / 4
        let last = heap.suffix(quarter).min() ?? 0
        let third = heap.dropLast(quarter).suffix(quarter).min() ?? 0
        let growth = (last - third) / quarter
        let bound = host.settings.memoryPerRun
        guard growth > bound else { return check.passed("\(max(0, growth)) octets a run") }
        return check.failed("the heap grows by \(growth) octets a run, and \(bound) are the bound")
    }
}
