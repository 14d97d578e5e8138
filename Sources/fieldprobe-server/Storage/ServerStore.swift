internal import MeasurementModel

/// Where the server keeps everything. Each call is one transaction: it happens wholly or not at all, also beside other processes. Calls
/// block their thread. SQLite is the one implementation; another database can follow behind the same calls.
protocol ServerStore: Sendable {
    func create(_ capability: Capability, replacing: Bool) throws -> Bool
    func capabilities() throws -> [Capability]
    func capability(_ name: String) throws -> Capability?

    func create(_ key: RegistrationKey) throws
    func keys(now: Timestamp) throws -> [RegistrationKey]
    func key(_ id: String, now: Timestamp) throws -> RegistrationKey?
    /// False when there is no such key, or it is revoked already.
    func revokeKey(_ id: String, now: Timestamp) throws -> Bool

    /// What registering would give, without doing it: before the costly hash.
    func check(_ registration: Registration, now: Timestamp) throws -> RegistrationOutcome
    /// Takes a slot and creates the client, or finds the client that the same request created.
    func register(_ registration: Registration, secret: String, now: Timestamp) throws -> RegistrationOutcome

    func client(_ uuid: String, now: Timestamp) throws -> Client?
    func clients(_ query: ClientQuery, now: Timestamp) throws -> [Client]
    /// Which UUIDs begin so: people type the first digits.
    func clientUUIDs(beginning prefix: String) throws -> [String]
    func disable(_ uuid: String, reason: String?, now: Timestamp) throws -> ClientChange
    /// Takes a slot again.
    func enable(_ uuid: String, now: Timestamp) throws -> ClientChange
    func adopt(_ uuid: String, machine: String) throws
    func markSeen(_ uuid: String, now: Timestamp) throws
    /// False when there is none.
    func removeClient(_ uuid: String) throws -> Bool

    func store(_ measurement: MeasurementRecord, _ document: StoredDocument, now: Timestamp) throws -> StoreOutcome
    /// Whose it is, when it is stored.
    func owner(ofMeasurement id: String) throws -> String?
    func measurement(_ id: String) throws -> (record: MeasurementRecord, document: StoredDocument)?
    func measurements(_ query: MeasurementQuery) throws -> [MeasurementRecord]
    func totals(now: Timestamp) throws -> Totals
    func kinds() throws -> [TestKind]

    func create(user: String, password: String, now: Timestamp) throws
    func password(ofUser name: String) throws -> String?
    func createSession(_ id: [UInt8], user: String, expiresAt: Timestamp, now: Timestamp) throws
    func sessionUser(_ id: [UInt8], now: Timestamp) throws -> String?
    func endSession(_ id: [UInt8]) throws

    /// Gives back the slots of usage windows that are over, and forgets what has expired.
    func sweep(now: Timestamp) throws
}

/// A device that wants to be registered.
struct Registration: Sendable {
    let keyID: String
    let keyHash: [UInt8]
    var label: String?
    var tags: [String]
    let machine: String
    /// SHA-256 of the nonce: it is as good as the secret while a repeated request is answered.
    let nonce: [UInt8]
}

enum RegistrationOutcome: Sendable, Hashable {
    /// Nothing is in the way.
    case open
    case registered(uuid: String)
    /// The same request was answered before.
    case repeated(uuid: String)
    case refused(Refusal)

    enum Refusal: Sendable, Hashable {
        case keyUnknown, keyRevoked, keyNotYetValid, keyExpired, keyExhausted, labelTaken, nonceOfAnotherMachine
    }
}

enum ClientChange: Sendable, Hashable { case done, unchanged, unknown, elapsed, exhausted }

enum StoreOutcome: Sendable, Hashable { case stored, alreadyStored, ofAnotherClient, clientGone, clientElapsed, clientDisabled(String?) }

struct ClientQuery: Sendable {
    var keyID: String?
    var state: Client.State?
    /// Part of a label, or the beginning of a UUID.
    var text: String?
    var limit = 1000
    var offset = 0
}

struct MeasurementQuery: Sendable, Hashable {
    var clientUUID: String?
    var type: String?
    var subject: String?
    var since: Timestamp?
    var until: Timestamp?
    var limit = 1000
    var offset = 0
    /// Oldest first: for exports, which go on where they stopped.
    var isAscending = false
}

struct Totals: Sendable, Hashable {
    var clients: [Client.State: Int] = [:]
    var keys = 0
    var measurements = 0
    var measurementsToday = 0
    var octets = 0
}
