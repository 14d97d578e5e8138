import MeasurementModel
import Testing

@testable import Netlink

/// The bounded decoder: every length is checked, nothing traps.
struct AttributeDecoderTests {
    private static func attribute(_ type: UInt16, _ payload: [UInt8]) -> [UInt8] {
        var builder = MessageBuilder()
        builder.attribute(type, payload)
        return builder.octets
    }

    @Test("Types and sizes are checked; flags are masked off; a repeat keeps the last")
    func typed() {
        var decoder = AttributeDecoder(
            (Self.attribute(1, [7]) + Self.attribute(2, [1, 0]) + Self.attribute(0x8003, [1, 0, 0, 0]) + Self.attribute(1, [9]))[...])
        #expect(decoder.u8(1) == 9)
        #expect(decoder.u16(2) == 1)
        #expect(decoder.u32(3) == 1)
        #expect(decoder.u32(4) == nil)
        #expect(decoder.fault == nil)
        #expect(decoder.u32(2) == nil)
        #expect(decoder.fault == .size(type: 2, octets: 2))
        #expect(decoder.u64(1) == nil)
        #expect(decoder.fault == .size(type: 2, octets: 2))
    }

    @Test("A length that is too small or too large ends the list", arguments: [0, 1, 3, 9, 0xFFFF] as [UInt16])
    func lengths(length: UInt16) {
        let broken = withUnsafeBytes(of: length) { Array($0) } + [2, 0, 1, 2, 3, 4]
        let decoder = AttributeDecoder((Self.attribute(1, [7]) + broken)[...])
        #expect(decoder.attributes.map(\.type) == [1])
        #expect(decoder.fault == .truncated)
    }

    @Test("Text ends at its NUL, and is nothing when it is empty or no UTF-8")
    func text() {
        let decoder = AttributeDecoder(
            (Self.attribute(1, [0x64, 0x30, 0, 0x78]) + Self.attribute(2, [0]) + Self.attribute(3, [0xFF, 0]))[...])
        #expect(decoder.text(1) == "d0")
        #expect(decoder.text(2) == nil)
        #expect(decoder.text(3) == nil)
    }

    @Test("Messages cut at every octet decode to what is whole, and never trap")
    func truncation() {
        let body = [UInt8](repeating: 0, count: 4) + [5, 0, 0, 0] + [1, 0, 1, 0] + [0, 0, 0, 0]
        let link = MessageBuilder.message(
            type: 16, flags: 0, sequence: 1, port: 2, body: body + Self.attribute(3, Array("d0\0".utf8)) + Self.attribute(4, [0, 6, 0, 0]))
        for length in 0...link.count {
            let messages = NetlinkMessage.all(in: Array(link[..<length]))
            #expect(messages.count == (length == link.count ? 1 : 0))
        }
        let payload = NetlinkMessage.all(in: link)[0].payload
        for length in 0...payload.count {
            _ = LinkMessage(payload.prefix(length))
            _ = AddressMessage(payload.prefix(length))
            _ = RouteMessage(payload.prefix(length))
            _ = NeighbourMessage(payload.prefix(length))
            _ = WirelessInterface(payload.prefix(length))
            _ = WirelessStation(payload.prefix(length))
            _ = WirelessBSS(payload.prefix(length))
        }
        #expect(LinkMessage(payload) == LinkMessage(index: 5, name: "d0", hardwareType: 0, flags: 0x10001, mtu: 1536))
    }

    @Test("The smallest error number of all is no trap: found by the fuzzer")
    func smallestError() {
        let body: [UInt8] = [0, 0, 0, 0x80] + [UInt8](repeating: 0, count: 20)
        let message = MessageBuilder.message(type: 2, flags: 0x200, sequence: 1, port: 1, body: body)
        #expect(NetlinkMessage.all(in: message).first?.error?.errno == .min)
    }

    @Test("Random octets never trap any decoder")
    func fuzz() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20000 {
            var octets = (0..<Int.random(in: 0..<120, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Small lengths keep the walk through the attributes going.
            for index in stride(from: 0, to: octets.count - 1, by: 4) where Bool.random() {
                octets[index] = UInt8.random(in: 0..<24); octets[index + 1] = 0
            }
            for message in NetlinkMessage.all(in: octets) { _ = message.error }
            _ = LinkMessage(octets[...])
            _ = AddressMessage(octets[...])
            _ = RouteMessage(octets[...])
            _ = WirelessInterface(octets[...])
            _ = WirelessStation(octets[...])
            _ = WirelessBSS(octets[...])
            _ = WireGuardQuestions.transport(to: IPAddress("192.0.2.1")!, in: [octets[...]])
            _ = SSID.inElements(octets[...])
        }
    }
}
