/// Reads a run of netlink attributes (`struct nlattr`, linux/netlink.h), bounded and without a trap.
///
/// Nothing is read before its length is checked. An attribute of a wrong size counts as missing, because a missing value is better than
/// a wrong one; the first such fault sticks and can be asked for once at the end. Unknown attributes are skipped.
public struct AttributeDecoder: Sendable {
    /// What did not fit.
    public enum Fault: Sendable, Hashable {
        /// The list ends in the middle of an attribute, or one claims fewer octets than its own header has.
        case truncated
        /// The payload of an attribute is not of the size of its type.
        case size(type: UInt16, octets: Int)
    }

    public struct Attribute: Sendable {
        /// Without the flags for nesting and byte order.
        public let type: UInt16
        public let payload: ArraySlice<UInt8>
    }

    /// All attributes in order, as far as the list is well formed.
    public let attributes: [Attribute]
    public private(set) var fault: Fault?

    /// `NLA_TYPE_MASK`: the two high bits of a type are flags.
    private static let typeMask: UInt16 = 0x3FFF
    private static let headerSize = 4

    public init(_ octets: ArraySlice<UInt8>) {
        var list: [Attribute] = []
        var rest = octets
        while rest.count >= Self.headerSize {
            let length = Int(rest.u16(at: 0)!)
            guard length >= Self.headerSize, length <= rest.count else {
                fault = .truncated
                break
            }
            let payload = rest[rest.startIndex + Self.headerSize..<rest.startIndex + length]
            list.append(Attribute(type: rest.u16(at: 2)! & Self.typeMask, payload: payload))
            rest = rest.dropFirst((length + 3) & ~3)
        }
        attributes = list
    }

    /// The payload of the last attribute of a type, as the kernel's own parser decides repeats.
    public func payload(_ type: some BinaryInteger) -> ArraySlice<UInt8>? {
        attributes.last { $0.type == UInt16(truncatingIfNeeded: type) }?.payload
    }

    public func has(_ type: some BinaryInteger) -> Bool { payload(type) != nil }

    public mutating func u8(_ type: some BinaryInteger) -> UInt8? { sized(type, 1)?.first }
    public mutating func s8(_ type: some BinaryInteger) -> Int8? { u8(type).map { Int8(bitPattern: $0) } }
    public mutating func u16(_ type: some BinaryInteger) -> UInt16? { sized(type, 2)?.u16(at: 0) }
    public mutating func u32(_ type: some BinaryInteger) -> UInt32? { sized(type, 4)?.u32(at: 0) }
    public mutating func s32(_ type: some BinaryInteger) -> Int32? { u32(type).map { Int32(bitPattern: $0) } }
    public mutating func u64(_ type: some BinaryInteger) -> UInt64? { sized(type, 8)?.u64(at: 0) }

    /// An interface index: positive.
    public mutating func index(_ type: some BinaryInteger) -> Int32? { s32(type).flatMap { $0 > 0 ? $0 : nil } }

    /// Text up to its NUL; nil when it is empty or not UTF-8.
    public func text(_ type: some BinaryInteger) -> String? {
        guard let payload = payload(type) else { return nil }
        let octets = payload.prefix { $0 != 0 }
        return octets.isEmpty ? nil : String(validating: octets, as: UTF8.self)
    }

    /// The attributes inside an attribute.
    public func nested(_ type: some BinaryInteger) -> AttributeDecoder? { payload(type).map { AttributeDecoder($0) } }

    private mutating func sized(_ type: some BinaryInteger, _ size: Int) -> ArraySlice<UInt8>? {
        guard let payload = payload(type) else { return nil }
        guard payload.count == size else {
            if fault == nil { fault = .size(type: UInt16(truncatingIfNeeded: type), octets: payload.count) }
            return nil
        }
        return payload
    }
}

extension ArraySlice<UInt8> {
    /// A number in the machine's byte order at an offset from the slice's start; nil beyond its end.
    func u16(at offset: Int) -> UInt16? { load(at: offset) }
    func u32(at offset: Int) -> UInt32? { load(at: offset) }
    func s32(at offset: Int) -> Int32? { load(at: offset) }
    func u64(at offset: Int) -> UInt64? { load(at: offset) }
    func u8(at offset: Int) -> UInt8? { load(at: offset) }

    private func load<Number: FixedWidthInteger>(at offset: Int) -> Number? {
        guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
}
