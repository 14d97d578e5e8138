import LabSupport
import MeasurementModel
import ServerLab
import Testing

@testable import DeviceRegistration

/// The program ends at any file operation, or the disk is full at it: the state is the old one or the new one, never neither, and no second
/// slot is ever taken.
@Suite struct PowerLossTests {
    /// Does something to the state with a disk that fails at its n-th operation, for every n, and has the outcome checked.
    ///
    /// - Parameter prepare: on a good disk.
    private func atEveryOperation(
        _ manner: DyingFiles.Manner, prepare: (FakeClientAPI, Device) async throws -> Void,
        action: (Registry) async throws -> Void, check: (FakeClientAPI, Device, _ wasDone: Bool) async throws -> Void
    ) async throws {
        for operation in 1...200 {
            let files = DyingFiles(at: operation, manner)
            try await withServer { api, device in
                try await prepare(api, device)
                let error = await registryError { try await action(device.registry(api, files: files)) }
                try await check(api, device, error == nil)
            }
            if !files.hasStruck {
                #expect(operation > 3, "the action has operations")
                return
            }
        }
        Issue.record("the action has no end")
    }

    @Test(arguments: DyingFiles.Manner.allCases) func whileItRegisters(_ manner: DyingFiles.Manner) async throws {
        try await atEveryOperation(manner) { _, _ in
        } action: { registry in
            try await registry.registerClient(registrationKey: "good-key")
        } check: { api, device, _ in
            let next = device.registry(api)
            #expect([.neverRegistered, .registered, .confirmed].contains(try next.state))
            if try next.state != .confirmed { try await next.registerClient(registrationKey: "good-key") }
            #expect(next.isRegistrationValid())
            #expect(api.clients.count == 1)
        }
    }

    @Test(arguments: DyingFiles.Manner.allCases) func whileItAuthenticates(_ manner: DyingFiles.Manner) async throws {
        try await atEveryOperation(manner) { api, device in
            _ = try await device.registered(api)
            device.advance(by: .seconds(3000))
        } action: { registry in
            try await registry.authenticate()
        } check: { api, device, wasDone in
            let left = try device.registry(api).confirmation().left
            #expect(left == .seconds(600) || left == .seconds(3600))
            if wasDone { #expect(left == .seconds(3600)) }
            #expect(api.clients.count == 1)
        }
    }

    /// Storing what was used of the grant.
    @Test(arguments: DyingFiles.Manner.allCases) func whileATestIsAdmitted(_ manner: DyingFiles.Manner) async throws {
        try await atEveryOperation(manner) { api, device in
            _ = try await device.registered(api)
            device.advance(by: .seconds(3000))
        } action: { registry in
            _ = try registry.confirmation()
        } check: { api, device, wasDone in
            let left = try device.registry(api).confirmation().left
            #expect(left == .seconds(600))
            if wasDone {
                device.restart(up: .zero)
                let left = try device.registry(api).confirmation().left
                #expect(left <= .seconds(600))
            }
        }
    }

    @Test(arguments: DyingFiles.Manner.allCases) func whileItIsDropped(_ manner: DyingFiles.Manner) async throws {
        try await atEveryOperation(manner) { api, device in
            _ = try await device.registered(api)
            api.refuse("client_disabled")
        } action: { registry in
            let error = await registryError { try await registry.authenticate() }
            #expect(error?.code == .dropped)
            // Whatever the disk does: for this program the device is refused.
            #expect(await registryError { try registry.confirmation() }?.code == .dropped)
        } check: { api, device, _ in
            let next = device.registry(api)
            switch try next.state {
            case .confirmed, .registered:
                // The refusal is not on the disk; the server repeats it.
                #expect(await registryError { try await next.authenticate() }?.code == .dropped)
            case let state: #expect(state == .dropped(.clientDisabled(why: "as the administrator says")))
            }
            #expect(await registryError { try await next.registerClient(registrationKey: "good-key") }?.code == .registeringAgainRefused)
            #expect(api.clients.count == 1)
        }
    }

    @Test(arguments: DyingFiles.Manner.allCases) func whileItIsCleared(_ manner: DyingFiles.Manner) async throws {
        try await atEveryOperation(manner) { api, device in
            _ = try await device.registered(api)
        } action: { registry in
            try registry.clearRegistrationInfo()
        } check: { api, device, wasDone in
            let state = try device.registry(api).state
            #expect(state == .neverRegistered || state == .confirmed)
            if wasDone { #expect(state == .neverRegistered) }
        }
    }

    /// The credentials are on the server's side of no return: the answer is lost if they cannot be stored, and comes again.
    @Test func aFullDiskAtTheWorstMoment() async throws {
        try await withServer { api, device in
            // The state before the request is stored by operations 1 to 6; the next one is the first with the credentials.
            let files = DyingFiles(at: 8, .full)
            let error = await registryError { try await device.registry(api, files: files).registerClient(registrationKey: "good-key") }
            #expect(error?.code == .unwritableState && error?.retry == .later(after: nil))
            try await device.registry(api).registerClient(registrationKey: "good-key")
            #expect(api.clients.count == 1)
        }
    }

    /// Reports leave a disk that is full: sending them is what makes room.
    @Test func uploadsNeedNoFreeSpace() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            let registry = device.registry(api, files: DyingFiles(at: 1, .killed))
            guard case .stored = try await ClientAPI(registry: registry).uploadMeasurement(id: "m-1", body: [0x7B, 0x7D]) else {
                Issue.record("not stored")
                return
            }
            #expect(await registryError { try await registry.authenticate() }?.code == .unwritableState)
        }
    }
}
