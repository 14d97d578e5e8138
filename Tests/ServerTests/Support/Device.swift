import Glibc
import LabSupport
import MeasurementModel

/// A device as the server sees one.
struct Device: Sendable {
    let server: ServerProcess
    var machine = Device.hex(64)
    var uuid = ""
    var secret = ""
    var token = ""
    var grant = ""

    static let base = "/client_api/v1"

    static func hex(_ digits: Int) -> String { String((0..<digits).map { _ in "0123456789abcdef".randomElement()! }) }

    static func id() -> String { [8, 4, 4, 4, 12].map(hex).joined(separator: "-") }

    /// A device that has registered and authenticated.
    static func ready(_ server: ServerProcess, key: String, label: String? = nil) throws -> Device {
        var device = Device(server: server)
        let registration = try device.register(key, label: label)
        guard registration.status == 201 else { throw LabError("not registered: \(registration.status) \(registration.text)") }
        let authentication = try device.authenticate()
        guard authentication.status == 200 else { throw LabError("not authenticated: \(authentication.text)") }
        return device
    }

    @discardableResult
    mutating func register(_ key: String, label: String? = nil, nonce: String = Device.hex(32)) throws -> Response {
        var document: JSONObject = ["registration_key": .string(key), "machine": .string(machine), "nonce": .string(nonce)]
        document["label"] = label.map { .string($0) }
        let response = try server.send("POST", "\(Self.base)/registrations", json: .object(document))
        if response.status == 201 {
            uuid = response.json?["client_uuid"]?.string ?? ""
            secret = response.json?["secret"]?.string ?? ""
        }
        return response
    }

    @discardableResult
    mutating func authenticate(adopt: Bool = false, nonce: String = Device.hex(32)) throws -> Response {
        var document: JSONObject = [
            "client_uuid": .string(uuid), "secret": .string(secret), "machine": .string(machine), "nonce": .string(nonce),
        ]
        if adopt { document["adopt"] = .bool(true) }
        let response = try server.send("POST", "\(Self.base)/authentications", json: .object(document))
        if response.status == 200 {
            token = response.json?["token"]?.string ?? ""
            grant = response.json?["grant"]?.string ?? ""
        }
        return response
    }

    static func report(_ id: String, type: String = "WEB", subject: String = "website") -> JSONObject {
        ["schema": .string("fieldprobe/report/1"), "id": .string(id), "type": .string(type), "subject": .string(subject)]
    }

    func upload(_ id: String, _ body: [UInt8], headers: [String] = []) throws -> Response {
        try server.send(
            "PUT", "\(Self.base)/measurements/\(id)", headers: ["Authorization: Bearer \(token)", Self.json] + headers, body: body)
    }

    func upload(_ report: JSONObject) throws -> Response { try upload(report["id"]?.string ?? "", JSONValue.object(report).utf8()) }

    func unregister() throws -> Response {
        try server.send("DELETE", "\(Self.base)/clients/self", headers: ["Authorization: Bearer \(token)"])
    }

    static let json = "Content-Type: application/json"
}

extension ServerProcess {
    /// One request on a connection of its own. What the server answers is kept for the check against docs/client-api.yaml.
    func send(_ method: String, _ target: String, headers: [String] = [], body: [UInt8] = []) throws -> Response {
        let connection = try RawConnection(port: port)
        var head = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        if !body.isEmpty || method == "POST" || method == "PUT" { head.append("Content-Length: \(body.count)") }
        connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
        guard let response = connection.response() else { throw LabError("no answer to \(method) \(target)") }
        ExchangeRecord.keep(method, target, headers, body, response)
        return response
    }

    func send(_ method: String, _ target: String, json: JSONValue) throws -> Response {
        try send(method, target, headers: [Device.json], body: json.utf8())
    }
}
