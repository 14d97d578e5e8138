import CollectorTestKit
import Glibc
import LabSupport
import MeasurementModel
import ServerLab
import Testing

@testable import DeviceRegistration

/// Files that were edited, damaged, copied or lost: never a working SDK that the server did not confirm, never a second registration (R-32,
///
@Suite struct StoredFilesTests {
    /// Every member of a document changed, one at a time.
    static func edits(of value: JSONValue) -> [JSONValue] {
        switch value {
        case .string(let text): return [.string(text + "0"), .string(String(text.dropLast())), .null]
        case .number: return [.integer(0), .integer(1), .integer((value.int64 ?? 0) + 1), .integer((value.int64 ?? 0) * 2 + 60_000)]
        case .object(let object):
            var all: [JSONValue] = []
            for (key, member) in object.members {
                for edit in edits(of: member) {
                    var copy = object
                    copy[key] = edit
                    all.append(.object(copy))
                }
                var without = object
                without[key] = nil
                all.append(.object(without))
            }
            return all
        default: return [.null]
        }
    }

    @Test func everyEditByHand() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            let original = try #require(TemporaryFolder.read(device.currentFile))
            let document = try JSONValue(parsing: original)
            let edits = Self.edits(of: document).filter { $0 != document }
            #expect(edits.count > 50)
            for edit in edits {
                try device.folder.write("state/registration.json", edit.text())
                let registry = device.registry(api)
                #expect(!registry.isRegistrationValid())
                // The copy has the credentials, so that the server can confirm them again.
                #expect(try registry.state == .registered && registry.getClientUuid() == "client-1")
            }
            try unlinkAll(device.previousFile)
            for edit in edits {
                try device.folder.write("state/registration.json", edit.text())
                let registry = device.registry(api)
                #expect(!registry.isRegistrationValid())
                #expect(await registryError { try registry.state }?.code == .unreadableState)
            }
            try device.folder.write("state/registration.json", original)
            #expect(device.registry(api).isRegistrationValid())
            #expect(api.requests.count == 2)
        }
    }

    /// Somebody who has read this source code can make the seal. What the server signed still bounds what that is good for.
    @Test func editsWithTheRightSeal() async throws {
        try await withServer { api, device in
            api.change { $0.capability = .object(["forbid_types": .strings(["VIDEO"])]) }
            let registry = try await device.registered(api)
            let store = registry.store
            let original = try #require(try store.load())
            let grant = try #require(original.grant)
            func confirmed(_ change: (inout StoredRegistration) -> Void) throws -> Bool {
                var edited = original
                change(&edited)
                try store.replace(edited)
                return device.registry(api).isRegistrationValid()
            }
            #expect(try confirmed { _ in })
            // Not even the moment from which the time counts can be moved: the server signed a digest of it.
            let anchor = grant.anchor
            let later = MonotonicInstant(nanoseconds: anchor.instant.nanoseconds + 1)
            #expect(try !confirmed { $0.grant?.anchor = GrantAnchor(random: anchor.random, bootID: anchor.bootID, instant: later) })
            #expect(try !confirmed { $0.grant?.anchor = GrantAnchor(random: anchor.random, bootID: "boot-2", instant: anchor.instant) })
            let random = anchor.random.map { $0 ^ 1 }
            #expect(try !confirmed { $0.grant?.anchor = GrantAnchor(random: random, bootID: anchor.bootID, instant: anchor.instant) })
            // A grant that a key of one's own signed, with that key put in the place of the server's, fails at the server only; so it does.
            #expect(try !confirmed { $0.client?.serverKey = SigningKey().publicKey })
            #expect(try !confirmed { $0.client?.uuid = "client-2" })
            #expect(try !confirmed { $0.client?.machine = String(repeating: "0", count: 64) })
            #expect(try !confirmed { $0.grant?.text = SigningKey().jws(.object([:])) })
            // The meter is not signed. In the boot of the grant it has no say; see below for what it is worth after a restart.
            device.advance(by: .seconds(3599))
            #expect(try confirmed { $0.grant?.meter = GrantMeter(anchor: anchor) })
            device.advance(by: .seconds(1))
            #expect(try !confirmed { $0.grant?.meter = GrantMeter(anchor: anchor) })
        }
    }

    @Test func everyOctetAndEveryLength() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            try unlinkAll(device.previousFile)
            let original = Array(try #require(TemporaryFolder.read(device.currentFile)).utf8)
            for index in stride(from: 0, to: original.count, by: 7) {
                var damaged = original
                damaged[index] ^= 0x04
                try device.folder.write("state/registration.json", String(decoding: damaged, as: UTF8.self))
                // White space between the members may change without harm; whatever counts may not.
                let error = await registryError { try device.registry(api).state }
                if error == nil { #expect(original[index] == UInt8(ascii: " ") || original[index] == UInt8(ascii: "\n")) }
                try device.folder.write("state/registration.json", String(decoding: original[..<index], as: UTF8.self))
                #expect(await registryError { try device.registry(api).state }?.code == .unreadableState)
            }
        }
    }

    @Test func whatCannotBeReadIsNotRegisteredAnew() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            try unlinkAll(device.previousFile)
            // A folder of that name cannot be read as a file, not even by root.
            try unlinkAll(device.currentFile)
            try ChildProcess.run("mkdir", device.currentFile)
            let registry = device.registry(api)
            #expect(registry.isClientRegistered() && !registry.isRegistrationValid())
            let error = await registryError { try await registry.registerClient(registrationKey: "good-key") }
            #expect(error?.code == .unreadableState)
            #expect(api.requests("/registrations").count == 1)
            try ChildProcess.run("rmdir", device.currentFile)
            // Clearing is the repair of what is lost for good.
            try device.folder.write("state/registration.json", "damaged")
            try registry.clearRegistrationInfo()
            #expect(try registry.state == .neverRegistered)
        }
    }

    @Test func aLostFileIsReadFromItsCopy() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            try unlinkAll(device.currentFile)
            let registry = device.registry(api)
            #expect(try registry.state == .registered)
            #expect(device.log.lines.contains { $0.message.contains("copy") })
            try await registry.authenticate()
            #expect(registry.isRegistrationValid() && api.clients.count == 1)
        }
    }

    @Test func deletedFilesConfirmNothing() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            try unlinkAll(device.currentFile, device.previousFile)
            #expect(try device.registry(api).state == .neverRegistered)
        }
    }

    /// A disk that was copied to another machine: two devices must not report under one identity.
    @Test func aCopiedDisk() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            device.setMachineID("machine-b")
            let copy = device.registry(api)
            #expect(!copy.isRegistrationValid() && copy.isClientRegistered())
            #expect(await registryError { try copy.confirmation() }?.code == .machineChanged)
            #expect(await registryError { try await copy.authenticate() }?.code == .machineChanged)
            // A machine that replaces another one says so, and the other one is refused from then on.
            try await copy.authenticate(adopt: true)
            #expect(copy.isRegistrationValid() && api.clients.count == 1)
            device.setMachineID("machine-a")
            #expect(!registry.isRegistrationValid())
            #expect(await registryError { try await registry.authenticate() }?.code == .machineChanged)
        }
    }

    @Test func theServerNoticesACopy() async throws {
        try await withServer { api, device in
            let registry = try await device.registered(api)
            api.change { $0.instead = { $0.path == "/authentications" ? .problem(409, "machine_changed") : nil } }
            let error = await registryError { try await registry.authenticate() }
            #expect(error?.code == .machineChanged && registry.isClientRegistered())
            #expect(error?.message.contains("adopt") == true)
        }
    }

    /// The secret goes to the server that gave it, and to no other.
    @Test func anotherServerGetsNoSecret() async throws {
        try await withServer { api, device in
            _ = try await device.registered(api)
            let other = try FakeClientAPI()
            defer { other.stop() }
            let registry = device.registry(other)
            #expect(!registry.isRegistrationValid())
            #expect(await registryError { try await registry.authenticate() }?.code == .otherServer)
            #expect(other.requests.isEmpty)
            // A server that has moved keeps its key: another one's grant is not taken.
            #expect(await registryError { try await registry.authenticate(adopt: true) }?.code != nil)
            #expect(!registry.isRegistrationValid())
        }
    }

    private func unlinkAll(_ paths: String...) throws {
        for path in paths { guard unlink(path) == 0 else { throw LabError("unlink \(path)") } }
    }
}
