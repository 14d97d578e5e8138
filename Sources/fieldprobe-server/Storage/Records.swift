internal import MeasurementModel

/// What devices of a key may measure.
struct Capability: Sendable, Hashable {
    var name: String
    var allowTypes: [String] = []
    var allowSubjects: [String] = []
    var forbidTypes: [String] = []
    var forbidSubjects: [String] = []

    /// Forbidden beats allowed, and an empty list allows everything that is not forbidden.
    func allows(type: String, subject: String) -> Bool {
        !forbidTypes.contains(type) && !forbidSubjects.contains(subject)
            && (allowTypes.isEmpty || allowTypes.contains(type)) && (allowSubjects.isEmpty || allowSubjects.contains(subject))
    }
}

/// A registration key. Its text is shown once, when it is made; what is kept is a hash, and the public first part of it.
struct RegistrationKey: Sendable, Hashable {
    let id: String
    /// SHA-256 of the whole text: 130 random bits need nothing slower.
    let hash: [UInt8]
    var note: String?
    /// How many devices may hold it at once; nil for any number.
    var devices: Int?
    /// How long each device may use it; nil for ever.
    var usageDays: Int?
    var validFrom: Timestamp?
    var validUntil: Timestamp?
    var capability: String?
    let createdAt: Timestamp
    var revokedAt: Timestamp?
    /// Slots that are taken now.
    var used = 0
}

struct Client: Sendable, Hashable {
    enum State: String, Sendable, CaseIterable { case active, disabled, elapsed }

    let uuid: String
    let keyID: String
    var label: String?
    var tags: [String]
    /// A salted hash of the device's machine id.
    var machine: String
    /// ``SecretHash``.
    let secret: String
    let registeredAt: Timestamp
    var usageUntil: Timestamp?
    var elapsedAt: Timestamp?
    var disabledAt: Timestamp?
    var disabledReason: String?
    var lastSeenAt: Timestamp?

    /// Disabled beats elapsed: a device that was disabled must not be told, some day, that it may register again.
    var state: State { disabledAt != nil ? .disabled : elapsedAt != nil ? .elapsed : .active }
}

/// One stored measurement, without its document.
struct MeasurementRecord: Sendable, Hashable {
    let id: String
    let clientUUID: String
    /// Of the client as it is now; nil when it has none or is gone.
    var clientLabel: String?
    let type: String
    let subject: String
    var startedAt: Timestamp?
    var durationMilliseconds: Int?
    var finishedReason: String?
    let receivedAt: Timestamp
    /// Octets of the document, unpacked.
    let size: Int
}

/// A document as its client sent it.
struct StoredDocument: Sendable {
    let octets: [UInt8]
    let isGzip: Bool
}
