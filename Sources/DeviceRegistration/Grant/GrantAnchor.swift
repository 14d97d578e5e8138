internal import MeasurementModel

/// The moment from which a grant's time counts: before the request that it answers was sent, so that no delay on the way makes it longer.
///
/// The request's nonce is a digest of random octets and of this moment. The server signs the nonce with the grant, and so signs the moment
/// without knowing it: whoever edits the stored anchor has to find another one with the same digest.
struct GrantAnchor: Sendable, Hashable {
    /// Sixteen octets that make the digest unpredictable.
    let random: [UInt8]
    /// The kernel's random id of the boot in which the request was made.
    let bootID: String
    /// On that boot's CLOCK_BOOTTIME.
    let instant: MonotonicInstant

    /// Sixteen octets in hexadecimal digits, as the wire has it; nil for want of memory.
    var nonce: String? {
        let text = "fieldprobe/grant-anchor/1\n\(Hex.text(random))\n\(bootID)\n\(instant.nanoseconds)\n"
        return Crypto.sha256(Array(text.utf8)).map { Hex.text($0.prefix(16)) }
    }

    var json: JSONValue {
        .object([
            "random": .string(Hex.text(random)), "boot_id": .string(bootID), "boottime_ns": .integer(instant.nanoseconds),
        ])
    }

    init(random: [UInt8], bootID: String, instant: MonotonicInstant) {
        self.random = random
        self.bootID = bootID
        self.instant = instant
    }

    init?(json: JSONValue) {
        guard let random = json["random"]?.string.flatMap(Hex.octets), random.count == 16, let bootID = json["boot_id"]?.string,
            let nanoseconds = json["boottime_ns"]?.int64
        else { return nil }
        self.init(random: random, bootID: bootID, instant: MonotonicInstant(nanoseconds: nanoseconds))
    }
}
