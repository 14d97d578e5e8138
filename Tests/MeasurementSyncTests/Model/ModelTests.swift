import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import MeasurementSync

/// Random operations on two processes that share a queue, against a model that only knows sets.
@Suite struct ModelTests {
    /// `FIELDPROBE_SEED` repeats a run, `FIELDPROBE_QUEUE_STEPS` sets its length.
    @Test func randomOperations() async throws {
        let seed = Self.variable("FIELDPROBE_SEED").flatMap(UInt64.init) ?? UInt64.random(in: 1 ... .max)
        let steps = Self.variable("FIELDPROBE_QUEUE_STEPS").flatMap(Int.init) ?? 100_000
        print("random walk: seed \(seed), \(steps) operations on the queue")
        // On a thread of its own: other tests need the pool meanwhile.
        let faults = try await offPool { Self.walk(seed: seed, steps: steps) }
        #expect(faults == [])
    }

    private static func walk(seed: UInt64, steps: Int) -> [String] {
        let walk = Walk(seed: seed)
        let world = walk.world
        for step in 0..<steps {
            walk.operate()
            world.check()
            if step % 500 == 499 { walk.settle() }
            if let fault = world.faults.first { return ["seed \(seed), operation \(step) (\(walk.last)): \(fault)"] }
        }
        walk.settle()
        if world.accepted.count <= steps / 50 { world.fault("only \(world.accepted.count) reports have arrived") }
        if world.failures != world.counts.retried { world.fault("\(world.failures) failures, \(world.counts.retried) counted") }
        if world.dropped.count != world.counts.dropped { world.fault("\(world.dropped.count) dropped, \(world.counts.dropped) counted") }
        return world.faults
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// One random walk.
final class Walk {
    let world: World
    var last = ""
    private var serial = 0
    private var sends = 0
    /// The test of a process that has no queue, such as one that a script runs.
    private let outsider = 9

    init(seed: UInt64) {
        world = World(seed: seed)
        for number in 0..<2 { world.processes.append(SimulatedProcess(number: number, world: world)) }
        for process in world.processes { process.boot() }
    }

    private func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &world.random) }
    private var someProcess: SimulatedProcess? { world.processes.filter(\.isAlive).randomElement(using: &world.random) }

    func operate() {
        // Most of the time things move on; now and then somebody does something to them.
        switch pick(0..<100) {
        case 0..<18: enqueue()
        case 18..<40: note("hear", someProcess) { $0.hear() }
        case 40..<62: note("end upload", world.processes.first { $0.upload != nil }) { self.endUpload($0) }
        case 62..<75: passTime()
        case 75..<79: startTest()
        case 79..<85: endTest()
        case 85..<87: killOrBoot()
        case 87..<90: note("send", someProcess) { self.send($0) }
        case 90..<94: changeServer()
        case 94..<96: changeDisk()
        case 96..<97: note("reset", someProcess) { $0.driver?.handle(.reset) }
        case 97..<98: corrupt()
        case 98..<99: register()
        default:
            last = "clock step"
            world.wall += pick(-10_000_000..<10_000_000)
        }
    }

    private func note(_ text: String, _ process: SimulatedProcess?, _ body: (SimulatedProcess) -> Void) {
        guard let process else { return }
        last = "\(text) in \(process.number)"
        body(process)
    }

    private func enqueue() {
        serial += 1
        let id = "r\(serial)"
        guard let process = someProcess else { return }
        let dies = world.chance(3)
        last = "enqueue \(id) in \(process.number), dies: \(dies)"
        if world.chance(4) { world.refused.insert(id) } else if world.chance(3) { world.poison.insert(id) }
        if world.enqueue(id, dies: dies) {
            world.outstanding.insert(id)
            world.counts.enqueued += 1
        }
        if dies { process.die() }
    }

    /// The server's answer, or what the network makes of it.
    private func endUpload(_ process: SimulatedProcess) {
        guard let (name, isAborted) = process.upload else { return }
        let id = name.id
        var outcome = UploadOutcome.retry(after: nil, .unreachable)
        if world.poison.contains(id) || world.mode == .down || (isAborted && world.chance(60)) {
            // Nothing has arrived, or nothing that counts.
        } else if world.mode == .failing {
            outcome = .retry(after: nil, .broken)
        } else if world.mode == .limited {
            outcome = .retry(after: .seconds(pick(1..<3600)), .broken)
        } else if world.mode == .dropping {
            outcome = .deviceDropped(reason: "client_disabled")
        } else if world.refused.contains(id) {
            outcome = .refusedForGood(code: "document_invalid", detail: "")
        } else {
            let isRepeat = !world.stored.insert(id).inserted
            // The answer is lost now and then, and the report has arrived all the same.
            if !world.chance(8) { outcome = isRepeat ? .alreadyStored : .accepted }
        }
        process.upload = nil
        // Broken off for a test is no failure.
        if case .retry = outcome, [nil, .overdue].contains(process.driver?.machine.abort) { world.failures += 1 }
        if case .deviceDropped = outcome { loseRegistration(but: process) }
        process.driver?.handle(.ended(name, outcome))
    }

    private func loseRegistration(but process: SimulatedProcess) {
        world.isRegistered = false
        world.mode = .good
        // The registry of the other process hears of it too, and ends what it does.
        for other in world.processes where other.isAlive && other !== process { other.driver?.handle(.registrationLost(reason: "gone")) }
    }

    private func passTime() {
        let step = [Duration.milliseconds(1), .milliseconds(100), .seconds(1), .seconds(61), .seconds(3600)][pick(0..<5)]
        last = "\(step) pass"
        world.now = world.now + step
        for process in world.processes where process.isAlive { process.wakeIfDue() }
    }

    private func startTest() {
        let number = pick(0..<3)
        last = "test in \(number)"
        guard number < 2 else { return world.startTest(outsider) }
        let process = world.processes[number]
        guard process.isAlive, !process.hasTest else { return }
        process.hasTest = true
        world.startTest(number)
        process.driver?.handle(.testsHere(true))
    }

    private func endTest() {
        let number = pick(0..<3)
        last = "end of test in \(number)"
        world.endTest(number < 2 ? number : outsider)
        guard number < 2, world.processes[number].isAlive, world.processes[number].hasTest else { return }
        world.processes[number].hasTest = false
        world.processes[number].driver?.handle(.testsHere(false))
    }

    private func killOrBoot() {
        let number = pick(0..<2)
        let process = world.processes[number]
        if process.isAlive {
            last = "kill \(number)"
            process.die()
        } else {
            last = "boot \(number)"
            world.processes[number] = SimulatedProcess(number: number, world: world)
            world.processes[number].boot()
        }
    }

    private func send(_ process: SimulatedProcess) {
        sends += 1
        process.driver?.scan()
        process.openSends.insert(sends)
        process.sendSizes[sends] = world.files.count
        process.driver?.handle(.send(sends))
    }

    private func changeServer() {
        last = "server changes"
        world.mode = [.good, .good, .down, .failing, .limited][pick(0..<5)]
        if world.chance(3) { world.mode = .dropping }
    }

    private func changeDisk() {
        last = "disk changes"
        world.isDiskFull = world.chance(30)
        world.isReadOnly = world.chance(20)
    }

    private func corrupt() {
        guard let name = world.files.keys.sorted().randomElement(using: &world.random) else { return }
        last = "corrupt \(name.id)"
        if !world.processes.contains(where: { $0.upload?.name == name }) { world.files[name] = .bad }
    }

    private func register() {
        last = "register or not"
        if world.isRegistered, world.chance(30) {
            world.isRegistered = false
            for process in world.processes where process.isAlive { process.driver?.handle(.registrationLost(reason: "by hand")) }
        } else if !world.isRegistered {
            world.isRegistered = true
            for process in world.processes where process.isAlive { process.driver?.handle(.configured) }
        }
    }

    /// Once nothing stands in the way any more, everything arrives, and soon: what the server dies of comes last.
    func settle() {
        last = "settle"
        world.mode = .good
        world.isDiskFull = false
        world.isReadOnly = false
        world.endTest(outsider)
        for (number, process) in world.processes.enumerated() {
            world.endTest(number)
            if !process.isAlive {
                world.processes[number] = SimulatedProcess(number: number, world: world)
                world.processes[number].boot()
            } else if process.hasTest {
                process.hasTest = false
                process.driver?.handle(.testsHere(false))
            }
        }
        if !world.isRegistered { register() }
        run { self.world.files.keys.allSatisfy { self.world.poison.contains($0.id) } }
        world.poison = []
        run { self.world.files.isEmpty && self.world.processes.allSatisfy(\.openSends.isEmpty) }
    }

    private func run(until isDone: () -> Bool) {
        let start = world.now
        while !isDone() {
            for process in world.processes {
                process.hear()
                if process.upload != nil { endUpload(process) }
            }
            world.check()
            guard world.now - start < .seconds(7300), world.faults.isEmpty else {
                return world.fault("\(world.files.count) reports are still here two hours after everything is well")
            }
            let moments = world.processes.compactMap { $0.driver?.wakeAt }
            let isBusy = world.processes.contains { $0.upload != nil || !$0.notices.isEmpty }
            if !isBusy { world.now = max(world.now, moments.min() ?? world.now + .seconds(3600)) }
            for process in world.processes { process.wakeIfDue() }
        }
    }
}
