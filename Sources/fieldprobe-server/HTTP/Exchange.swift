internal import CMicroHTTPD
internal import Synchronization

/// One request and its answer, from the first line to the last octet sent.
final class Exchange: Sendable {
    enum Phase: Sendable { case new, receiving, working, answered }

    struct State: Sendable {
        var phase = Phase.new
        var route: Route?
        var request: ServerRequest?
        var body: [UInt8] = []
        /// Octets of the body that came, also those that were thrown away.
        var received = 0
        /// What the body has of the memory budget.
        var reserved = 0
        /// Ready to be sent; while the body still comes in, a refusal.
        var response: ServerResponse?
        /// The connection is not used again.
        var closes = false
        var beganAt: Int64 = 0
    }

    /// As it was sent.
    let target: String
    let connection: ConnectionHandle
    let state = Mutex(State())

    init(target: String, connection: OpaquePointer) {
        self.target = target
        self.connection = ConnectionHandle(pointer: connection)
    }
}

/// The HTTP library's connection. Worker threads only ever resume it, which the library allows from any thread.
struct ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    var id: UInt { UInt(bitPattern: pointer) }

    func suspend() { MHD_suspend_connection(pointer) }
    func resume() { MHD_resume_connection(pointer) }

    /// The answer of the library's own type; it copies the body.
    func send(_ response: ServerResponse, closes: Bool) -> MHD_Result {
        var body = response.body
        let made = body.withUnsafeMutableBytes { MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY) }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers + [("X-Content-Type-Options", "nosniff")] { MHD_add_response_header(made, name, value) }
        if closes { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(pointer, UInt32(response.status), made)
    }
}
