import MeasurementModel

@testable import ExternalCollector
@testable import Geolocation
@testable import Netlink

/// libFuzzer's entry: everything that reads octets from the kernel, from gpsd and from other programs must neither trap nor hang.
///
/// The first octet chooses the decoder, the rest is its input. Run by `.ci/fuzz SECONDS`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    guard let data, size > 1 else { return 0 }
    let octets = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
    switch data[0] % 12 {
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
    case 11: converse(octets)
    default:
        // What reads must read back the same.
        if let value = try? JSONValue(parsing: octets) {
            precondition((try? JSONValue(parsing: value.utf8())) == value, "a document does not survive a round trip")
        }
    }
    return 0
}

/// What a foreign collector says, in two parts: its descriptor, and what it records by that.
private func converse(_ octets: [UInt8]) {
    var buffer = LineBuffer(maximum: 2048)
    let half = octets.count / 2
    var decoder = ValueDecoder([])
    for line in buffer.append(octets[..<half]) + buffer.append(octets[half...]) {
        guard case .whole(let text) = line, let message = try? CollectorMessage(line: text) else { continue }
        switch message {
        case .descriptor(let object):
            if let descriptor = try? DescriptorDecoder.descriptor(object) { decoder = ValueDecoder(descriptor.fields) }
        case .record(let object, _): _ = decoder.values(object)
        default: break
        }
    }
}
