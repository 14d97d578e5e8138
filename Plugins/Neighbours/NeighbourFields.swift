internal import MeasurementModel
internal import Netlink

/// The fields of `neighbours_trace`: what is declared, and what is made of the kernel's answers.
enum NeighbourFields {
    static let all = declared("ipv4", "IPv4") + declared("ipv6", "IPv6")

    private static func declared(_ prefix: String, _ family: String) -> [FieldDeclaration] {
        [
            .text(
                "\(prefix)_state", privacy: .connectionContext,
                about: "none, incomplete, reachable, stale, delay, probe, failed, noarp or permanent: the next hop of \(family)"),
            .bool(
                "\(prefix)_is_reachable", privacy: .connectionContext,
                about: "Whether that neighbour answers: left out while the kernel is not certain"),
            .integer(
                "\(prefix)_confirmed_ms", unit: .milliseconds, privacy: .connectionContext, changes: .never,
                about: "Age of the confirmation that it answers, while it counts as reachable"),
            .bool("\(prefix)_is_gateway", privacy: .connectionContext, about: "It is a gateway, and not the target itself"),
            .text("\(prefix)_interface", privacy: .connectionContext, about: "Name of the interface that it is on"),
        ]
    }

    /// The values of a snapshot. A family without a path has none.
    static func values(of hops: [IPAddress.Family: NextHop]) -> [String: FieldValue] {
        var values: [String: FieldValue] = [:]
        for (family, hop) in hops {
            let prefix = family == .ipv4 ? "ipv4" : "ipv6"
            values["\(prefix)_state"] = .text(hop.state.rawValue)
            values["\(prefix)_is_reachable"] = hop.state.isReachable.map { .bool($0) }
            // In any other state the date may be made up: a new entry begins with one in the past.
            if hop.state == .reachable, let age = hop.sinceConfirmed { values["\(prefix)_confirmed_ms"] = .integer(Int(age.milliseconds)) }
            values["\(prefix)_is_gateway"] = .bool(hop.isGateway)
            if !hop.interface.isEmpty { values["\(prefix)_interface"] = .text(hop.interface) }
        }
        return values
    }
}

extension NeighbourState {
    /// Whether the neighbour answers; nil where the kernel does not know: not yet, not any more, or never, because it does not ask.
    var isReachable: Bool? {
        switch self {
        case .reachable: true
        case .failed: false
        case .none, .incomplete, .stale, .delay, .probe, .noarp, .permanent: nil
        }
    }
}
