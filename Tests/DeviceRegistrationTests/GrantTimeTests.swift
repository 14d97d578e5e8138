import DeviceRegistration
import LabSupport
import MeasurementModel
import ServerLab
import Testing

/// no change of the device's clock makes a difference to the granted time, within a program, across its restarts and across the
/// machine's (docs/decisions/0005-grant-time.md).
@Suite struct GrantTimeTests {
    static let steps: [Duration] = [
        .seconds(365 * 86_400), .seconds(-365 * 86_400), .seconds(600), .seconds(-600), .seconds(1), .seconds(-1),
    ]

    @Test func itEndsWhenItEnds() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.advance(by: .seconds(3600) - .milliseconds(1))
            #expect(registry.isRegistrationValid())
            #expect(try registry.confirmation().left == .milliseconds(1))
            device.advance(by: .milliseconds(1))
            #expect(!registry.isRegistrationValid() && registry.isClientRegistered())
            #expect(await registryError { try registry.confirmation() }?.code == .confirmationExpired)
            try await registry.authenticate()
            #expect(try registry.confirmation().left == .seconds(3600))
        }
    }

    /// The time that the answer took on its way is not given on top.
    @Test func itCountsFromTheRequest() async throws {
        try await withServer { api, device in
            api.change { [device] in
                $0.afterwards = { request, answer in
                    if request.path == "/authentications" { device.advance(by: .seconds(100)) }
                    return answer
                }
            }
            let registry = try await device.registered(api)
            #expect(try registry.confirmation().left == .seconds(3500))
        }
    }

    @Test(arguments: steps) func aStepOfTheClock(_ step: Duration) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.stepClock(by: step)
            #expect(try registry.confirmation().left == .seconds(3600))
            device.advance(by: .seconds(1800))
            device.stepClock(by: step)
            #expect(try device.registry(api).confirmation().left == .seconds(1800))
            device.advance(by: .seconds(1800))
            #expect(!registry.isRegistrationValid() && !device.registry(api).isRegistrationValid())
            device.stepClock(by: step * -2)
            #expect(!registry.isRegistrationValid() && !device.registry(api).isRegistrationValid())
        }
    }

    @Test(arguments: steps) func aStepWhileTheServerAnswers(_ step: Duration) async throws {
        try await withServer { api, device in
            api.change { [device] in
                $0.afterwards = { request, answer in
                    if request.path == "/authentications" { device.stepClock(by: step) }
                    return answer
                }
            }
            let registry = try await device.registered(api)
            #expect(try registry.confirmation().left == .seconds(3600))
        }
    }

    @Test(arguments: steps) func aStepAcrossARestartOfTheMachine(_ step: Duration) async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.advance(by: .seconds(600))
            _ = try registry.confirmation()
            device.stepClock(by: step)
            device.restart(off: .seconds(86_400), up: .seconds(20))
            // 600 s before, 20 s since, and at most the minute that was begun.
            let left = try device.registry(api).confirmation().left
            #expect(left <= .seconds(3600 - 620) && left >= .seconds(3600 - 620 - 60))
            device.stepClock(by: step)
            #expect(try device.registry(api).confirmation().left == left)
            device.advance(by: left)
            #expect(!device.registry(api).isRegistrationValid())
            device.restart()
            #expect(!device.registry(api).isRegistrationValid())
        }
    }

    /// A boot-time clock that shows less than before in the same boot is wrong, whoever set it.
    @Test func theBootTimeClockRunsForwardOnly() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.advance(by: .seconds(1000))
            let left = try registry.confirmation().left
            device.advance(by: .seconds(-900))
            #expect(try registry.confirmation().left <= left)
            device.advance(by: .seconds(-1_000_000))
            #expect(try registry.confirmation().left <= left)
        }
    }

    /// Restarting again and again gains nothing and costs at most a minute each.
    @Test func manyRestarts() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            var used = Duration.zero
            var restarts = 0
            while true {
                guard let confirmation = try? device.registry(api).confirmation() else { break }
                #expect(confirmation.left <= .seconds(3600) - used)
                #expect(confirmation.left >= .seconds(3600) - used - .seconds(60) * restarts)
                device.advance(by: .seconds(50))
                used += .seconds(50)
                if !device.registry(api).isRegistrationValid() { break }
                _ = try? device.registry(api).confirmation()
                device.restart(off: .seconds(5), up: .seconds(5))
                used += .seconds(5)
                restarts += 1
                try #require(restarts < 100)
            }
            #expect(used <= .seconds(3600))
            #expect(used >= .seconds(3600) - .seconds(60) * (restarts + 1))
        }
    }

    /// Anything in any order: a grant never lasts longer than it says, and never ends earlier than the restarts explain.
    @Test(arguments: 1...20) func anythingInAnyOrder(_ seed: UInt64) async throws {
        try await withServer { api, device in
            var random = Generator(state: seed)
            _ = try await device.registered(api)
            // How long the machine ran, as far as anybody asked before it went down.
            var running = Duration.zero
            var unseen = Duration.zero
            var restarts = 0
            for _ in 0..<60 {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: device.stepClock(by: Self.steps.randomElement(using: &random)!)
                case 1:
                    let up = Duration.seconds(Int.random(in: 1...40, using: &random))
                    device.restart(off: .seconds(Int.random(in: 0...1_000_000, using: &random)), up: up)
                    running -= unseen
                    running += up
                    unseen = up
                    restarts += 1
                default:
                    let time = Duration.seconds(Int.random(in: 1...200, using: &random))
                    device.advance(by: time)
                    running += time
                    unseen += time
                }
                guard Bool.random(using: &random) else { continue }
                let registry = device.registry(api)
                let isValid = registry.isRegistrationValid()
                unseen = .zero
                if running >= .seconds(3600) { #expect(!isValid) }
                if running + .seconds(60) * restarts < .seconds(3600) { #expect(isValid) }
            }
        }
    }

    @Test func theOffsetToTheServerFollowsTheClocksSteps() async throws {
        try await withServer { api, device in
            api.change { [device] in $0.now = { device.wall().milliseconds + 5000 } }
            let registry = try await device.registered(api)
            #expect(try registry.confirmation().clockOffset == .seconds(5))
            device.advance(by: .seconds(60))
            device.stepClock(by: .seconds(600))
            #expect(try registry.confirmation().clockOffset == .seconds(-595))
            #expect(try registry.confirmation().clockUncertainty == .milliseconds(2))
            // Nobody knows how long the machine was off, so that nothing is known of the offset either.
            device.restart()
            #expect(try device.registry(api).confirmation().clockOffset == nil)
        }
    }

    /// Half of the round trip is the best guess, and its other half the doubt.
    @Test func theOffsetsBound() async throws {
        try await withServer { api, device in
            api.change { [device] in
                $0.now = { device.wall().milliseconds }
                $0.afterwards = { request, answer in
                    if request.path == "/authentications" { device.advance(by: .milliseconds(800)) }
                    return answer
                }
            }
            let start = MonotonicInstant.now()
            let confirmation = try await device.registered(api).confirmation()
            // libcurl's own times are real, and this device's clock stood still meanwhile.
            let real = MonotonicInstant.now() - start
            // The two clocks were the same when the server looked.
            let offset = try #require(confirmation.clockOffset)
            let uncertainty = try #require(confirmation.clockUncertainty)
            #expect(abs(offset.milliseconds) <= uncertainty.milliseconds + real.milliseconds + 1)
            #expect(uncertainty <= .milliseconds(402))
            api.change { [device] in
                $0.afterwards = { request, answer in
                    if request.path == "/authentications" { device.advance(by: .seconds(8)) }
                    return answer
                }
            }
            let registry = device.registry(api)
            try await registry.authenticate()
            #expect(try registry.confirmation().clockOffset == nil)
        }
    }

    /// SplitMix64.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
