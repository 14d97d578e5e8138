internal import CMicroHTTPD
internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// The C side of the listener: unpacks pointers, and calls methods.
enum HTTPCallbacks {
    private static func server(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
        Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// The request's first line was read: the exchange begins here, because only here the target is as it was sent.
    static let began: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        @Sendable context, target, connection in
        server(context).exchangeBegan()
        return Unmanaged.passRetained(Exchange(target: String(cString: target!), connection: connection!)).toOpaque()
    }

    static let completed: MHD_RequestCompletedCallback = { @Sendable context, _, slot, _ in
        guard let pointer = slot?.pointee else { return }
        slot?.pointee = nil
        server(context).ended(Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue())
    }

    static let connectionChanged: MHD_NotifyConnectionCallback = { @Sendable context, connection, _, change in
        guard let connection else { return }
        let table = server(context).connections
        if change == .CONNECTION_NOTIFY_STARTED {
            table.opened(UInt(bitPattern: connection), descriptor: cmicrohttpd_socket(connection))
        } else {
            table.closed(UInt(bitPattern: connection))
        }
    }

    static let unescape: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = {
        @Sendable _, _, text in strlen(text!)
    }

    static let handler: MHD_AccessHandlerCallback = { @Sendable context, connection, _, method, _, data, count, slot in
        guard let pointer = slot?.pointee, let connection, let method, let count else { return .NO }
        let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        let server = server(context)
        switch exchange.state.withLock({ $0.phase }) {
        case .new: return server.begin(exchange, String(cString: method), headers(of: connection), peer(of: connection))
        case .receiving where count.pointee > 0:
            defer { count.pointee = 0 }
            return server.receive(exchange, UnsafeRawBufferPointer(start: data, count: count.pointee))
        case .receiving: return server.work(exchange)
        case .working: return server.answer(exchange)
        case .answered: return .YES
        }
    }

    private final class HeaderBox {
        var headers = ServerRequest.Headers()
    }

    private static func headers(of connection: OpaquePointer) -> ServerRequest.Headers {
        let box = HeaderBox()
        MHD_get_connection_values(
            connection, .HEADER_KIND,
            { @Sendable context, _, name, value in
                guard let context, let name, let value else { return .YES }
                Unmanaged<HeaderBox>.fromOpaque(context).takeUnretainedValue().headers.add(String(cString: name), String(cString: value))
                return .YES
            }, Unmanaged.passUnretained(box).toOpaque())
        return box.headers
    }

    private static func peer(of connection: OpaquePointer) -> IPAddress? {
        guard let address = cmicrohttpd_address(connection) else { return nil }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            let octets = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr }
            return IPAddress(octets: withUnsafeBytes(of: octets) { Array($0) })
        case AF_INET6:
            let octets = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee.sin6_addr }
            return IPAddress(octets: withUnsafeBytes(of: octets) { Array($0) })
        default: return nil
        }
    }
}
