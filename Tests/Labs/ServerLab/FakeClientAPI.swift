internal import LabSupport
public import MeasurementModel
internal import Synchronization

/// A server of the client API, version 1, that a test can have answer in any way.
public final class FakeClientAPI: Sendable {
    public struct Request: Sendable {
        public let method: String
        /// Below the base address.
        public let path: String
        public let head: String
        public let octets: [UInt8]
        public let json: JSONValue

        public func header(_ name: String) -> String? {
            let prefix = name.lowercased() + ":"
            let line = head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix(prefix) }
            return line.map { String($0.dropFirst(prefix.count).drop { $0 == " " }) }
        }
    }

    public enum Answer: Sendable {
        case json(Int, JSONValue)
        case problem(Int, String, detail: String? = nil, headers: [String] = [])
        /// A whole response.
        case raw(String)
        /// The connection ends without one.
        case hangUp
    }

    public struct Client: Sendable {
        public var uuid: String
        public var secret: String
        public var machine: String
        public var label: String?
        public var tags: [String]
        public var registrationNonce: String
        /// With it, authentications and uploads are refused by this code.
        public var refusal: String?
    }

    /// How it answers from now on.
    public struct Behaviour: Sendable {
        public var grantedSeconds: Int64 = 3600
        public var tokenLifetime: Int64 = 900
        public var capability: JSONValue?
        /// The server's clock in milliseconds since 1970.
        public var now: @Sendable () -> Int64 = { Timestamp.now().milliseconds }
        /// Changes the grant's claims before they are signed.
        public var claims: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Changes the signed grant.
        public var grant: @Sendable (String) -> String = { $0 }
        /// Answers in place of the server, before it does anything; nil leaves it to it.
        public var instead: @Sendable (Request) -> Answer? = { _ in nil }
        /// Answers in place of the server, after it has done its work.
        public var afterwards: @Sendable (Request, Answer) -> Answer = { $1 }

        public init() {}
    }

    struct State {
        var behaviour = Behaviour()
        var requests: [Request] = []
        var clients: [Client] = []
        var tokens: [String: String] = [:]
        var measurements: [String: [UInt8]] = [:]
    }

    public let key = SigningKey()
    let state = Mutex(State())
    private let server: LoopbackServer

    public init() throws {
        let box = Box()
        server = try LoopbackServer { connection in
            while let (head, body) = connection.readMessage(), let owner = box.owner.withLock({ $0.api }) {
                guard owner.serve(head, body, connection) else { return }
            }
        }
        box.owner.withLock { $0.api = self }
    }

    /// The server's threads must not keep it alive.
    private final class Box: Sendable {
        struct Owner { weak var api: FakeClientAPI? }
        let owner = Mutex(Owner())
    }

    public var apiEndpoint: String { server.url + "/client_api/v1" }
    public var requests: [Request] { state.withLock { $0.requests } }
    public var clients: [Client] { state.withLock { $0.clients } }
    public var measurements: [String: [UInt8]] { state.withLock { $0.measurements } }

    public func requests(_ path: String) -> [Request] { requests.filter { $0.path == path } }
    public func change(_ body: @Sendable (inout Behaviour) -> Void) { state.withLock { body(&$0.behaviour) } }
    /// All clients are refused by this code from now on; nil ends that.
    public func refuse(_ code: String?) {
        state.withLock { state in
            for index in state.clients.indices { state.clients[index].refusal = code }
        }
    }
    public func removeClients() { state.withLock { $0.clients = [] } }
    public func expireTokens() { state.withLock { $0.tokens = [:] } }
    public func stop() { server.stop() }
    deinit { server.stop() }

    /// - Returns: false when the connection ends.
    private func serve(_ head: String, _ body: [UInt8], _ connection: LoopbackConnection) -> Bool {
        let words = head.split(separator: " ", maxSplits: 2).map(String.init)
        let base = "/client_api/v1"
        let path = words[1].hasPrefix(base) ? String(words[1].dropFirst(base.count)) : words[1]
        let json = (try? JSONValue(parsing: body)) ?? .null
        let request = Request(method: words[0], path: path, head: head, octets: body, json: json)
        let behaviour = state.withLock { state in
            state.requests.append(request)
            return state.behaviour
        }
        let answer = behaviour.instead(request) ?? behaviour.afterwards(request, respond(to: request, behaviour))
        switch answer {
        case .json(let status, let value):
            let text = value == .null ? "" : value.text()
            return connection.respond("\(status) Status", headers: ["Content-Type: application/json"], body: text)
        case .problem(let status, let code, let detail, let headers):
            var object: JSONObject = [
                "type": .string("about:blank"), "title": .string(code), "status": .integer(status), "code": .string(code),
            ]
            object["detail"] = detail.map(JSONValue.string)
            return connection.respond(
                "\(status) Status", headers: ["Content-Type: application/problem+json"] + headers, body: JSONValue.object(object).text())
        case .raw(let text): return connection.send(text)
        case .hangUp: return false
        }
    }
}
