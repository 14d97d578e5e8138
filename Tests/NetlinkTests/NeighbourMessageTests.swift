import LabSupport
import MeasurementModel
import Testing

@testable import Netlink

/// Entries of the neighbour table: octets that a kernel sent (Linux 6.18), what is made of broken ones, and the question itself.
struct NeighbourMessageTests {
    /// 192.0.2.1 on link 3, reachable, confirmed 0.55 s before.
    private static let ipv4: [UInt8] = [
        0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x01,
        0x08, 0x00, 0x01, 0x00, 0xC0, 0x00, 0x02, 0x01,
        0x0A, 0x00, 0x02, 0x00, 0xC6, 0xFE, 0x0C, 0x8E, 0x7A, 0x7E, 0x00, 0x00,
        0x08, 0x00, 0x04, 0x00, 0x04, 0x00, 0x00, 0x00,
        0x14, 0x00, 0x03, 0x00, 0x37, 0x00, 0x00, 0x00, 0x37, 0x00, 0x00, 0x00, 0x37, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    ]
    /// 2001:db8::1 on link 3, reachable, confirmed 1.19 s before.
    private static let ipv6: [UInt8] = [
        0x0A, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x01,
        0x14, 0x00, 0x01, 0x00, 0x20, 0x01, 0x0D, 0xB8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
        0x0A, 0x00, 0x02, 0x00, 0xC6, 0xFE, 0x0C, 0x8E, 0x7A, 0x7E, 0x00, 0x00,
        0x08, 0x00, 0x04, 0x00, 0x04, 0x00, 0x00, 0x00,
        0x14, 0x00, 0x03, 0x00, 0x77, 0x00, 0x00, 0x00, 0x77, 0x00, 0x00, 0x00, 0x77, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    ]

    /// A message with one octet changed.
    private static func changed(_ index: Int, to octet: UInt8) -> NeighbourMessage? {
        var octets = ipv4
        octets[index] = octet
        return NeighbourMessage(octets[...])
    }

    @Test("What a kernel sent is read")
    func recorded() {
        #expect(
            NeighbourMessage(Self.ipv4[...])
                == NeighbourMessage(index: 3, address: IPAddress("192.0.2.1")!, state: .reachable, sinceConfirmed: .milliseconds(550)))
        #expect(
            NeighbourMessage(Self.ipv6[...])
                == NeighbourMessage(index: 3, address: IPAddress("2001:db8::1")!, state: .reachable, sinceConfirmed: .milliseconds(1190)))
    }

    @Test("Every state has its number, and any other number is none")
    func states() {
        let numbers: [UInt16: NeighbourState] = [
            0: .none, 1: .incomplete, 2: .reachable, 4: .stale, 8: .delay, 16: .probe, 32: .failed, 64: .noarp, 128: .permanent,
        ]
        #expect(Set(numbers.values) == Set(NeighbourState.allCases))
        for number in 0...UInt16.max { #expect(NeighbourState(number: number) == numbers[number]) }
    }

    @Test("A cut message is nothing before its address is whole, and loses its age where that is cut", arguments: [ipv4, ipv6])
    func truncated(octets: [UInt8]) {
        let whole = NeighbourMessage(octets[...])!
        let addressEnd = 16 + whole.address.octets.count
        for length in 0...octets.count {
            let message = NeighbourMessage(octets.prefix(length))
            #expect((message != nil) == (length >= addressEnd), "\(length)")
            #expect((message?.sinceConfirmed != nil) == (length == octets.count), "\(length)")
            #expect(message.map { $0.state == whole.state && $0.address == whole.address } ?? true)
        }
    }

    @Test("What does not fit is nothing: another family, no link, an unknown state, an address of another size")
    func broken() {
        #expect(Self.changed(0, to: 7) == nil)
        #expect(Self.changed(0, to: 10) == nil)
        #expect(Self.changed(4, to: 0) == nil)
        #expect(Self.changed(7, to: 0x80) == nil)
        #expect(Self.changed(8, to: 3) == nil)
        #expect(Self.changed(12, to: 7) == nil)
        // Its type, and so no address at all.
        #expect(Self.changed(14, to: 99) == nil)
        // A length beyond the end.
        #expect(Self.changed(13, to: 0xFF) == nil)
    }

    @Test("What is longer than known is read as far as it is known")
    func oversized() {
        var builder = MessageBuilder()
        builder.attribute(UInt16(99), [UInt8](repeating: 0xFF, count: 60000))
        builder.attribute(UInt16(3), [UInt8](repeating: 0xFF, count: 4096))
        let message = NeighbourMessage((Self.ipv4 + builder.octets)[...])
        #expect(message?.state == .reachable)
        // The largest age that the kernel's number can hold.
        #expect(message?.sinceConfirmed == .milliseconds(42_949_672_950))
    }

    @Test("The kernel is asked for one neighbour, and has it or not")
    func question() async throws {
        try await NetworkNamespace.run { namespace in
            try namespace.veth("d0", peer: "p0")
            try namespace.ip("addr add 192.0.2.2/24 dev d0")
            try namespace.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 dev d0 nud permanent")
            try namespace.ip("neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev d0 nud stale")
            let questions = try RouteQuestions()
            let index = Int32(try JSONValue(parsing: namespace.ip("-j link show d0"))[0]?["ifindex"]?.int64 ?? 0)
            #expect(try questions.neighbour(IPAddress("192.0.2.1")!, on: index)?.state == .permanent)
            #expect(try questions.neighbour(IPAddress("2001:db8::1")!, on: index)?.state == .stale)
            #expect(try questions.neighbour(IPAddress("192.0.2.3")!, on: index) == nil)
            #expect(try questions.neighbour(IPAddress("192.0.2.1")!, on: index + 1) == nil)
            #expect(try questions.neighbour(IPAddress("192.0.2.1")!, on: 9999) == nil)
        }
    }
}
