import CollectorCore
import CollectorTestKit
import Glibc
import HTTPTransport
import LabSupport
import MeasurementModel
import ProbeLog
import ServerLab
import Synchronization

@testable import DeviceRegistration

/// A machine that can be restarted, and whose disk, clocks and identity a test controls.
final class Device: MeasurementClock {
    private struct State {
        var clock = ManualClock()
        var boots = 1
        var machineID = "machine-a"
    }

    let folder: TemporaryFolder
    let log = CollectedLog()
    private let state = Mutex(State())

    init() throws { folder = try TemporaryFolder() }

    private var clock: ManualClock { state.withLock { $0.clock } }
    func now() -> MonotonicInstant { clock.now() }
    func wall() -> Timestamp { clock.wall() }

    func advance(by duration: Duration) { clock.advance(by: duration) }
    func stepClock(by duration: Duration) { clock.step(by: duration) }

    /// The machine was off for a while, and has been up again for another.
    func restart(off: Duration = .seconds(30), up: Duration = .seconds(20)) {
        state.withLock { state in
            state.boots += 1
            state.clock = ManualClock(
                now: MonotonicInstant(nanoseconds: up.nanoseconds), wall: state.clock.wall().adding(milliseconds: (off + up).milliseconds))
        }
    }

    func setMachineID(_ id: String) { state.withLock { $0.machineID = id } }

    var stateFolder: String { folder.path + "/state" }
    var currentFile: String { stateFolder + "/registration.json" }
    var previousFile: String { stateFolder + "/registration.previous.json" }

    func settings(files: any FileOperations = SystemFiles()) -> Registry.Settings {
        var settings = Registry.Settings()
        settings.stateFolder = stateFolder
        settings.proxy = .none
        settings.timeouts.total = .seconds(60)
        settings.clock = self
        settings.logger = log.logger()
        settings.machine = MachineIdentity(
            machine: { [self] in Array(state.withLock { $0.machineID }.utf8) }, boot: { [self] in state.withLock { "boot-\($0.boots)" } })
        settings.files = files
        return settings
    }

    /// What the program has after it was started anew.
    func registry(_ api: FakeClientAPI, files: any FileOperations = SystemFiles()) -> Registry {
        Registry(apiEndpoint: api.apiEndpoint, settings: settings(files: files))
    }

    /// A program that has registered this device.
    func registered(_ api: FakeClientAPI) async throws -> Registry {
        let registry = registry(api)
        try await registry.registerClient(registrationKey: "good-key")
        return registry
    }

    /// The text of all files in the state folder.
    func everythingStored() throws -> String { try ChildProcess.run("sh", "-c", "cat \(stateFolder)/* 2> /dev/null || true") }
}

/// What a call throws, if that is a registry's error.
func registryError(_ body: () async throws -> some Any) async -> RegistryError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RegistryError
    }
}

/// Runs a test with a server and a device.
func withServer<Result>(_ body: (FakeClientAPI, Device) async throws -> Result) async throws -> Result {
    let api = try FakeClientAPI()
    defer { api.stop() }
    return try await body(api, try Device())
}

/// Values that handlers and streams leave.
final class Collected<Value: Sendable>: Sendable {
    private let kept = Mutex<[Value]>([])
    var values: [Value] { kept.withLock { $0 } }
    func add(_ value: Value) { kept.withLock { $0.append(value) } }
}
