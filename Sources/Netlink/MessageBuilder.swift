/// Writes the body of a request: a fixed header and attributes, padded as linux/netlink.h demands.
struct MessageBuilder {
    private(set) var octets: [UInt8] = []

    mutating func u8(_ value: UInt8) { octets.append(value) }
    mutating func u16(_ value: UInt16) { append(value) }
    mutating func u32(_ value: UInt32) { append(value) }
    mutating func s32(_ value: Int32) { append(value) }
    mutating func zeros(_ count: Int) { octets.append(contentsOf: repeatElement(0, count: count)) }

    private mutating func append(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value) { octets.append(contentsOf: $0) }
    }

    mutating func attribute(_ type: some BinaryInteger, _ payload: some Collection<UInt8>) {
        u16(UInt16(4 + payload.count))
        u16(UInt16(truncatingIfNeeded: type))
        octets.append(contentsOf: payload)
        zeros(-payload.count & 3)
    }

    mutating func attribute(_ type: some BinaryInteger, u32 value: UInt32) {
        attribute(type, withUnsafeBytes(of: value) { Array($0) })
    }

    mutating func attribute(_ type: some BinaryInteger, text: String) { attribute(type, Array(text.utf8) + [0]) }

    /// A request with its header. Sequence and port are filled in by the socket.
    static func message(type: UInt16, flags: UInt16, sequence: UInt32, port: UInt32, body: [UInt8]) -> [UInt8] {
        var builder = MessageBuilder()
        builder.u32(UInt32(NetlinkMessage.headerSize + body.count))
        builder.u16(type)
        builder.u16(flags)
        builder.u32(sequence)
        builder.u32(port)
        builder.octets += body
        return builder.octets
    }
}
