/// An HTTPS server with a certificate of its own: python3's ssl module, because TLS cannot be scripted by hand.
public final class TLSServer: Sendable {
    public let port: UInt16
    /// The issuer of the server's certificate, in PEM form.
    public let caFile: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameters:
    ///   - name: the only name that the certificate is for.
    ///   - handshakeDelay: seconds that the server lets a client wait for its handshake.
    public init(name: String = "localhost", handshakeDelay: Double = 0) throws {
        folder = try TemporaryFolder()
        let key = "\(folder.path)/key.pem"
        caFile = "\(folder.path)/cert.pem"
        try ChildProcess.run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
            caFile,
            "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)")
        let script = try folder.write("server.py", Self.script)
        process = try ChildProcess(["python3", "-u", script, caFile, key, String(handshakeDelay)])
        let line = String(decoding: process.readAvailable(), as: UTF8.self)
        guard let port = UInt16(line.prefix { $0.isNumber }) else { throw LabError("the TLS server did not start: \(line)") }
        self.port = port
    }

    public func stop() {
        process.signal(9)
        process.wait()
    }

    private static let script = """
        import socket, ssl, sys, threading, time
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        delay = float(sys.argv[3])
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(listener.getsockname()[1], flush=True)
        def serve(raw):
            try:
                time.sleep(delay)
                stream = context.wrap_socket(raw, server_side=True)
                head = b""
                while True:
                    while b"\\r\\n\\r\\n" not in head:
                        data = stream.recv(65536)
                        if not data: return
                        head += data
                    head = head.split(b"\\r\\n\\r\\n", 1)[1]
                    stream.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 6\\r\\n\\r\\nsecure")
            except Exception: pass
            finally: raw.close()
        while True:
            raw, _ = listener.accept()
            threading.Thread(target=serve, args=(raw,), daemon=True).start()
        """
}
