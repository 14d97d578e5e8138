internal import CLinux
internal import CNetlink
internal import Glibc
internal import MeasurementModel

/// A netlink socket of libnl. Not thread-safe: it belongs to the thread that made it, and lives in that thread's network namespace.
public final class NetlinkSocket {
    public enum NetlinkProtocol: Sendable {
        case route, generic

        fileprivate var number: Int32 { self == .route ? NETLINK_ROUTE : NETLINK_GENERIC }
    }

    let handle: OpaquePointer

    /// For poll(2).
    public var descriptor: Int32 { nl_socket_get_fd(handle) }

    /// - Parameter receiveBuffer: octets asked for; the kernel's limit applies without CAP_NET_ADMIN.
    /// - Throws: ``NetlinkError``.
    public init(_ family: NetlinkProtocol, receiveBuffer: Int32? = nil) throws(NetlinkError) {
        guard let handle = nl_socket_alloc() else { throw NetlinkError(errno: ENOMEM) }
        self.handle = handle
        let status = nl_connect(handle, family.number)
        guard status == 0 else { throw NetlinkError(libnl: status) }
        if let receiveBuffer { setReceiveBuffer(receiveBuffer) }
        // One system call a datagram instead of a peek and a read; nothing that is asked for here comes close to this size.
        nl_socket_disable_msg_peek(handle)
        nl_socket_set_msg_buf_size(handle, 65536)
        set(option: NETLINK_EXT_ACK, 1)
        set(option: NETLINK_GET_STRICT_CHK, 1)
    }

    deinit { nl_socket_free(handle) }

    /// Joins a multicast group.
    ///
    /// - Throws: ``NetlinkError`` where the kernel does not know the group.
    public func join(group: Int32) throws(NetlinkError) {
        let status = nl_socket_add_membership(handle, group)
        guard status == 0 else { throw NetlinkError(libnl: status) }
    }

    /// For a socket whose messages are waited for with poll(2).
    public func becomeNonBlocking() {
        nl_socket_set_nonblocking(handle)
        // Events come with the kernel's sequence numbers, not with ours.
        nl_socket_disable_seq_check(handle)
    }

    private func setReceiveBuffer(_ octets: Int32) {
        var size = octets
        let length = socklen_t(MemoryLayout<Int32>.size)
        if setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &size, length) != 0 {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, length)
        }
    }

    private func set(option: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, SOL_NETLINK, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// What a read gave.
    public enum Reading: Sendable {
        case datagram([UInt8])
        /// Nothing is there (non-blocking sockets only).
        case empty
        /// The kernel dropped messages because nobody read them in time (ENOBUFS).
        case overrun
    }

    /// Reads one datagram.
    public func read() throws(NetlinkError) -> Reading {
        var sender = sockaddr_nl()
        var buffer: UnsafeMutablePointer<UInt8>?
        let count = nl_recv(handle, &sender, &buffer, nil)
        defer { free(buffer) }
        switch count {
        case 1...:
            // Only the kernel (port 0) is believed.
            guard sender.nl_pid == 0, let buffer else { return .datagram([]) }
            return .datagram(Array(UnsafeBufferPointer(start: buffer, count: Int(count))))
        case 0, -NLE_AGAIN: return .empty
        case -NLE_NOMEM: return .overrun
        default: throw NetlinkError(libnl: count)
        }
    }

    /// Asks, and gives what the kernel answers: one message, or all of a dump.
    ///
    /// - Throws: ``NetlinkError``; EINTR where a dump was interrupted by a change (`NLM_F_DUMP_INTR`) and is not to be trusted.
    func request(
        type: UInt16, flags: Int32, body: [UInt8], acceptingInterrupted: Bool = false
    ) throws(NetlinkError) -> [NetlinkMessage] {
        let sequence = nl_socket_use_seq(handle)
        let port = nl_socket_get_local_port(handle)
        let isDump = flags & NLM_F_DUMP == NLM_F_DUMP
        var message = MessageBuilder.message(
            type: type, flags: UInt16(NLM_F_REQUEST | flags), sequence: sequence, port: port, body: body)
        let sent = nl_sendto(handle, &message, message.count)
        guard sent >= 0 else { throw NetlinkError(libnl: sent) }
        var answers: [NetlinkMessage] = []
        var isInterrupted = false
        while true {
            guard case .datagram(let datagram) = try read() else { throw NetlinkError(errno: ENOBUFS) }
            for message in NetlinkMessage.all(in: datagram) where message.sequence == sequence && message.port == port {
                if message.flags & UInt16(NLM_F_DUMP_INTR) != 0 { isInterrupted = true }
                switch Int32(message.type) {
                case NLMSG_ERROR:
                    if let error = message.error { throw error }
                    return answers
                case NLMSG_DONE:
                    if let code = message.payload.s32(at: 0), code < 0 { throw NetlinkError(errno: 0 &- code) }
                    if isInterrupted, !acceptingInterrupted { throw NetlinkError(errno: EINTR) }
                    return answers
                case NLMSG_NOOP: continue
                default:
                    answers.append(message)
                    if !isDump { return answers }
                }
            }
        }
    }

    /// A dump, asked for again when a change interrupts it. After some tries the interruption is thrown: the caller waits for quiet.
    ///
    /// - Parameter acceptingInterrupted: the last try is given as it is: what is in it was true, and something may be missing.
    func dump(type: UInt16, body: [UInt8], acceptingInterrupted: Bool = false) throws(NetlinkError) -> [NetlinkMessage] {
        for _ in 0..<4 {
            do {
                return try request(type: type, flags: NLM_F_DUMP, body: body)
            } catch  where error.errno == EINTR {
                continue
            }
        }
        return try request(type: type, flags: NLM_F_DUMP, body: body, acceptingInterrupted: acceptingInterrupted)
    }
}

extension NetlinkError {
    /// From a negative libnl code, whose own text is kept: libnl's codes say less than errno.
    init(libnl code: Int32) {
        self.init(errno: Self.errno(libnl: -code), text: String(cString: nl_geterror(code)))
    }

    private static func errno(libnl code: Int32) -> Int32 {
        switch code {
        case NLE_OBJ_NOTFOUND: ENOENT
        case NLE_PERM: EPERM
        case NLE_NOACCESS: EACCES
        case NLE_NODEV: ENODEV
        case NLE_NOMEM: ENOBUFS
        case NLE_AF_NOSUPPORT: EAFNOSUPPORT
        case NLE_AGAIN: EAGAIN
        case NLE_BUSY: EBUSY
        default: EIO
        }
    }
}
