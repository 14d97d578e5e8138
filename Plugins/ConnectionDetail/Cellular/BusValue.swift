internal import CSystemd
internal import Glibc

/// A value of a D-Bus message (sd_bus_message_read(3), D-Bus Specification, "Type System"), as far as anything here asks for one.
indirect enum BusValue: Hashable {
    case bool(Bool)
    case signed(Int64)
    case unsigned(UInt64)
    case real(Double)
    /// Strings and object paths.
    case text(String)
    case list([BusValue])
    case dictionary([BusValue: BusValue])

    /// Reads the next value of a message; nil at its end, and for what is malformed or nested too deep.
    init?(next message: OpaquePointer?, depth: Int = 0) {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard depth < 16, sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
        let inside = contents.map { String(cString: $0) } ?? ""
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "v"), UInt8(ascii: "r"):
            guard let values = Self.container(message, type, inside, depth) else { return nil }
            self = UInt8(bitPattern: type) == UInt8(ascii: "v") && values.count == 1 ? values[0] : .list(values)
        case UInt8(ascii: "a") where inside.hasPrefix("{"):
            guard let entries = Self.entries(message, inside, depth) else { return nil }
            self = .dictionary(entries)
        case UInt8(ascii: "a"):
            guard let values = Self.container(message, type, inside, depth) else { return nil }
            self = .list(values)
        default:
            guard let value = Self.basic(message, type) else { return nil }
            self = value
        }
    }

    private static func container(_ message: OpaquePointer?, _ type: CChar, _ inside: String, _ depth: Int) -> [BusValue]? {
        guard sd_bus_message_enter_container(message, type, inside) > 0 else { return nil }
        var values: [BusValue] = []
        while sd_bus_message_at_end(message, 0) == 0 {
            guard values.count < 4096, let value = BusValue(next: message, depth: depth + 1) else { return nil }
            values.append(value)
        }
        return sd_bus_message_exit_container(message) >= 0 ? values : nil
    }

    private static func entries(_ message: OpaquePointer?, _ inside: String, _ depth: Int) -> [BusValue: BusValue]? {
        guard sd_bus_message_enter_container(message, CChar(UInt8(ascii: "a")), inside) > 0 else { return nil }
        var entries: [BusValue: BusValue] = [:]
        while sd_bus_message_at_end(message, 0) == 0 {
            guard entries.count < 4096,
                let pair = container(message, CChar(UInt8(ascii: "e")), String(inside.dropFirst().dropLast()), depth + 1), pair.count == 2
            else { return nil }
            entries[pair[0]] = pair[1]
        }
        return sd_bus_message_exit_container(message) >= 0 ? entries : nil
    }

    private static func basic(_ message: OpaquePointer?, _ type: CChar) -> BusValue? {
        func read<Number: BitwiseCopyable>(_ start: Number) -> Number? {
            var value = start
            return sd_bus_message_read_basic(message, type, &value) > 0 ? value : nil
        }
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "y"): return read(UInt8(0)).map { .unsigned(UInt64($0)) }
        case UInt8(ascii: "b"): return read(Int32(0)).map { .bool($0 != 0) }
        case UInt8(ascii: "n"): return read(Int16(0)).map { .signed(Int64($0)) }
        case UInt8(ascii: "q"): return read(UInt16(0)).map { .unsigned(UInt64($0)) }
        case UInt8(ascii: "i"): return read(Int32(0)).map { .signed(Int64($0)) }
        case UInt8(ascii: "u"): return read(UInt32(0)).map { .unsigned(UInt64($0)) }
        case UInt8(ascii: "x"): return read(Int64(0)).map { .signed($0) }
        case UInt8(ascii: "t"): return read(UInt64(0)).map { .unsigned($0) }
        case UInt8(ascii: "d"): return read(0.0).map { .real($0) }
        case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
            var text: UnsafePointer<CChar>?
            guard sd_bus_message_read_basic(message, type, &text) > 0, let text else { return nil }
            return .text(String(cString: text))
        default: return nil
        }
    }

    subscript(key: String) -> BusValue? { if case .dictionary(let entries) = self { entries[.text(key)] } else { nil } }
    subscript(key: UInt64) -> BusValue? { if case .dictionary(let entries) = self { entries[.unsigned(key)] } else { nil } }

    var text: String? { if case .text(let value) = self { value.isEmpty ? nil : value } else { nil } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var list: [BusValue]? { if case .list(let values) = self { values } else { nil } }
    var real: Double? { if case .real(let value) = self { value } else { nil } }

    var integer: Int64? {
        switch self {
        case .signed(let value): value
        case .unsigned(let value): Int64(exactly: value)
        default: nil
        }
    }
}
