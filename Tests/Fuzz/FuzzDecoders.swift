import MeasurementModel

@testable import Geolocation
@testable import Netlink

/// libFuzzer's entry: everything that reads octets from the kernel, from gpsd and from other programs must neither trap nor hang.
///
/// The first octet chooses the decoder, the rest is its input. Run by `.ci/fuzz SECONDS`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard let data, size > 1 else { return 0 }
    let octets = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
    switch data[0] % 11 {
    case 0:
        for message in NetlinkMessage.all(in: octets) {
            _ = message.error
            var memory = EventMemory()
            _ = memory.isNews(message)
        }
    case 1: _ = LinkMessage(octets[...])
    case 2: _ = AddressMessage(octets[...])
    case 3: _ = RouteMessage(octets[...])
    case 4: _ = WirelessInterface(octets[...])
    case 5: _ = WirelessStation(octets[...])
    case 6: _ = WirelessBSS(octets[...])
    case 7: _ = WireGuardQuestions.transport(to: IPAddress("192.0.2.1")!, in: [octets[...]])
    case 8: _ = GPSDLine(octets: octets)
    case 10: _ = NeighbourMessage(octets[...])
    default:
        // What reads must read back the same.
        if let value = try? JSONValue(parsing: octets) {
            precondition((try? JSONValue(parsing: value.utf8())) == value, "a document does not survive a round trip")
        }
    }
    return 0
}
