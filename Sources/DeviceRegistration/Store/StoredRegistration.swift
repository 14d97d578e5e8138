internal import MeasurementModel

/// Everything that this device remembers of its registration.
struct StoredRegistration: Sendable, Hashable {
    var client: StoredClient?
    /// A registration that was begun, and of which no answer is stored yet.
    var pending: PendingRegistration?
    var grant: StoredGrant?
    var drop: StoredDrop?

    static let schema = "fieldprobe/registration/1"
}

/// The credentials, and what belongs to them.
struct StoredClient: Sendable, Hashable {
    var uuid: String
    /// As the server gave it: 32 octets in base64url.
    var secret: String
    /// Raw Ed25519 key: only its signature makes a grant.
    var serverKey: [UInt8]
    var endpoint: String
    /// Sixteen random octets: the machine's hash of one registration says nothing to anybody else.
    var salt: [UInt8]
    /// Of the machine that the credentials are for.
    var machine: String
    var label: String?
    var tags: [String] = []
}

/// Sent again as it is, it takes no second slot: the server knows it by its nonce.
struct PendingRegistration: Sendable, Hashable {
    var nonce: String
    var salt: [UInt8]
    /// Salted: the registration key itself is stored nowhere.
    var keyDigest: String
    var endpoint: String
}

struct StoredGrant: Sendable, Hashable {
    /// As the server signed it.
    var text: String
    var anchor: GrantAnchor
    var meter: GrantMeter
    var serverTime: ServerTime?
}

struct StoredDrop: Sendable, Hashable {
    var reason: DropReason
    var clientUUID: String?
}

// MARK: As JSON

extension StoredRegistration {
    var json: JSONValue {
        var object: JSONObject = [:]
        object["client"] = client?.json
        object["pending"] = pending?.json
        object["grant"] = grant?.json
        object["dropped"] = drop?.json
        return .object(object)
    }

    /// - Returns: nil for what this version has not written.
    init?(json: JSONValue) {
        func part<Part>(_ key: String, _ read: (JSONValue) -> Part?, into part: inout Part?) -> Bool {
            guard let value = json[key] else { return true }
            part = read(value)
            return part != nil
        }
        guard json.object != nil, part("client", StoredClient.init(json:), into: &client),
            part("pending", PendingRegistration.init(json:), into: &pending), part("grant", StoredGrant.init(json:), into: &grant),
            part("dropped", StoredDrop.init(json:), into: &drop)
        else { return nil }
    }
}

extension StoredClient {
    var json: JSONValue {
        var object: JSONObject = [
            "uuid": .string(uuid), "secret": .string(secret), "server_key": .string(Base64URL.text(serverKey)),
            "api_endpoint": .string(endpoint), "salt": .string(Hex.text(salt)), "machine": .string(machine),
        ]
        object["label"] = label.map(JSONValue.string)
        object["tags"] = tags.isEmpty ? nil : .strings(tags)
        return .object(object)
    }

    init?(json: JSONValue) {
        guard let uuid = json["uuid"]?.string, let secret = json["secret"]?.string,
            let serverKey = json["server_key"]?.string.flatMap(Base64URL.octets), let endpoint = json["api_endpoint"]?.string,
            let salt = json["salt"]?.string.flatMap(Hex.octets), let machine = json["machine"]?.string
        else { return nil }
        self.init(
            uuid: uuid, secret: secret, serverKey: serverKey, endpoint: endpoint, salt: salt, machine: machine,
            label: json["label"]?.string, tags: json["tags"]?.array?.compactMap(\.string) ?? [])
    }
}

extension PendingRegistration {
    var json: JSONValue {
        .object([
            "nonce": .string(nonce), "salt": .string(Hex.text(salt)), "key_digest": .string(keyDigest), "api_endpoint": .string(endpoint),
        ])
    }

    init?(json: JSONValue) {
        guard let nonce = json["nonce"]?.string, let salt = json["salt"]?.string.flatMap(Hex.octets),
            let keyDigest = json["key_digest"]?.string, let endpoint = json["api_endpoint"]?.string
        else { return nil }
        self.init(nonce: nonce, salt: salt, keyDigest: keyDigest, endpoint: endpoint)
    }
}

extension StoredGrant {
    var json: JSONValue {
        var object: JSONObject = ["signed": .string(text), "anchor": anchor.json, "meter": meter.json]
        object["server_time"] = serverTime?.json
        return .object(object)
    }

    init?(json: JSONValue) {
        guard let text = json["signed"]?.string, let anchor = json["anchor"].flatMap(GrantAnchor.init(json:)),
            let meter = json["meter"].flatMap(GrantMeter.init(json:))
        else { return nil }
        self.init(text: text, anchor: anchor, meter: meter, serverTime: json["server_time"].flatMap(ServerTime.init(json:)))
    }
}

extension StoredDrop {
    var json: JSONValue {
        var object: JSONObject = ["reason": .string(reason.code)]
        if case .clientDisabled(let why?) = reason { object["detail"] = .string(why) }
        object["client_uuid"] = clientUUID.map(JSONValue.string)
        return .object(object)
    }

    init?(json: JSONValue) {
        guard let reason = json["reason"]?.string.flatMap({ DropReason(code: $0, detail: json["detail"]?.string) }) else { return nil }
        self.init(reason: reason, clientUUID: json["client_uuid"]?.string)
    }
}
