/// The name of a pending report's file, `000000000000002a-<id>.json`: it sorts in the order of queueing and carries the report's id, so
/// that a listing of the folder says everything, and no index can drift away from it.
public struct QueuedName: Sendable, Hashable, Comparable {
    let sequence: UInt64
    /// The report's.
    public let id: String

    init(sequence: UInt64, id: String) {
        self.sequence = sequence
        self.id = id
    }

    init?(file: String) {
        let octets = Array(file.utf8)
        guard octets.count > 22, octets[16] == UInt8(ascii: "-"), file.hasSuffix(".json") else { return nil }
        var sequence: UInt64 = 0
        for octet in octets[..<16] {
            guard let digit = Self.hexadecimal(octet) else { return nil }
            sequence = sequence << 4 | UInt64(digit)
        }
        let id = octets[17..<(octets.count - 5)]
        guard Self.isID(id) else { return nil }
        self.sequence = sequence
        self.id = String(decoding: id, as: UTF8.self)
    }

    var file: String {
        let digits = String(sequence, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + "-\(id).json"
    }

    public static func < (left: QueuedName, right: QueuedName) -> Bool {
        left.sequence != right.sequence ? left.sequence < right.sequence : left.id < right.id
    }

    /// An id is part of a file's name and of an address: letters, digits, `-` and `_`.
    static func isID(_ id: some Collection<UInt8>) -> Bool {
        (1...64).contains(id.count)
            && id.allSatisfy { octet in
                (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
                    || octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
            }
    }

    /// Only lower case, so that one number has one name.
    private static func hexadecimal(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x61...0x66: octet - 0x61 + 10
        default: nil
        }
    }
}
