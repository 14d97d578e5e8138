internal import CollectorCore
internal import MeasurementModel

/// Makes a declaration out of a collector's first message, or says what is wrong with it in words that its author can act on. Pure.
struct DescriptorDecoder {
    struct Fault: Error {
        let reason: StateReason
        let detail: String

        init(_ detail: String, reason: StateReason = "bad_declaration") {
            self.reason = reason
            self.detail = detail
        }
    }

    static func descriptor(_ object: JSONObject) throws(Fault) -> CollectorDescriptor {
        try checkVersion(object["protocol"])
        let silence = object["maximum_silence_ms"]
        if let silence, !((silence.int64 ?? 0) > 0) { throw Fault("'maximum_silence_ms' has to be a whole number of milliseconds") }
        var descriptor = CollectorDescriptor(
            name: try text(object, "name", of: "the descriptor"), version: try text(object, "version", of: "the descriptor"),
            trace: try text(object, "trace", of: "the descriptor"), fields: try fields(object["fields"], of: "the descriptor"),
            requires: try permissions(object["requires"]), maximumSilence: silence?.int64.map { .milliseconds($0) },
            about: object["about"]?.string ?? "")
        descriptor.configuration = try configuration(object["configuration"])
        if let problem = descriptor.problem { throw Fault(problem) }
        return descriptor
    }

    private static func checkVersion(_ json: JSONValue?) throws(Fault) {
        guard let version = json?.int64 else {
            throw Fault("the descriptor has no 'protocol', which is \(HostMessage.protocolVersion)", reason: "protocol_version")
        }
        guard version == HostMessage.protocolVersion else {
            let advice = version > HostMessage.protocolVersion ? "a newer FieldProbe, or an older collector" : "a newer collector"
            throw Fault(
                "the collector speaks version \(version) of the collector protocol, and this FieldProbe speaks version "
                    + "\(HostMessage.protocolVersion): install \(advice)", reason: "protocol_version")
        }
    }

    private static func text(_ object: JSONObject, _ key: String, of owner: String) throws(Fault) -> String {
        guard let text = object[key]?.string, (1...200).contains(text.utf8.count) else {
            throw Fault("\(owner) needs '\(key)', a text of 1 to 200 octets")
        }
        return text
    }

    private static func permissions(_ json: JSONValue?) throws(Fault) -> [Permission] {
        guard let json else { return [] }
        guard let names = json.array else { throw Fault("'requires' has to be an array of permissions") }
        var permissions: [Permission] = []
        for name in names { permissions.append(try permission(name)) }
        return permissions
    }

    private static func permission(_ json: JSONValue) throws(Fault) -> Permission {
        guard let permission = json.string.flatMap(Permission.init(rawValue:)) else {
            throw Fault("there is no permission \(shown(json)): \(list(Permission.allCases.map(\.rawValue)))")
        }
        return permission
    }

    private static func configuration(_ json: JSONValue?) throws(Fault) -> [ConfigurationDeclaration]? {
        guard let json else { return nil }
        guard let array = json.array, array.count <= 200 else { throw Fault("'configuration' has to be an array of 200 keys at most") }
        var keys: [ConfigurationDeclaration] = []
        for object in try objects(array, "a key") {
            let name = try text(object, "name", of: "a configuration key")
            keys.append(ConfigurationDeclaration(name, about: try text(object, "about", of: "the configuration key '\(name.prefix(64))'")))
        }
        return keys
    }

    private static func fields(_ json: JSONValue?, of owner: String, depth: Int = 0) throws(Fault) -> [FieldDeclaration] {
        guard let array = json?.array, array.count <= 200 else { throw Fault("\(owner) needs 'fields', an array of 200 at most") }
        var fields: [FieldDeclaration] = []
        for object in try objects(array, "a field") { fields.append(try field(object, depth: depth)) }
        return fields
    }

    private static func objects(_ array: [JSONValue], _ what: String) throws(Fault) -> [JSONObject] {
        var objects: [JSONObject] = []
        for json in array {
            guard let object = json.object else { throw Fault("\(what) is declared by an object, and \(shown(json)) is none") }
            objects.append(object)
        }
        return objects
    }

    private static func field(_ object: JSONObject, depth: Int) throws(Fault) -> FieldDeclaration {
        let name = try text(object, "name", of: "a field")
        let owner = "the field '\(name.prefix(64))'"
        let types: [FieldType] = [.bool, .integer, .number, .text, .records]
        guard let type = object["type"]?.string.flatMap(FieldType.init(rawValue:)) else {
            throw Fault("\(owner) needs 'type': \(list(types.map(\.rawValue)))\(instead(object["type"]))")
        }
        guard let privacy = object["privacy"]?.string.flatMap(PrivacyClass.init(rawValue:)) else {
            throw Fault(
                "\(owner) needs 'privacy', its class of personal data: \(list(PrivacyClass.allCases.map(\.rawValue)))"
                    + instead(object["privacy"]))
        }
        let required: Permission? = if let json = object["permission"] { try permission(json) } else { nil }
        guard privacy != .preciseLocation || required == .preciseLocation else {
            throw Fault("\(owner) tells where the device is, so it has to name 'permission': 'precise_location'")
        }
        let unit = object["unit"]
        if let unit, !(1...16).contains(unit.string?.utf8.count ?? 0) { throw Fault("\(owner): 'unit' is a symbol such as 'degC'") }
        guard type != .records || depth == 0 else { throw Fault("\(owner): records inside of records cannot be declared") }
        return FieldDeclaration(
            name, type, unit: unit?.string.map { FieldUnit(symbol: $0) }, privacy: privacy, permission: required,
            changes: try changes(object["changes"], type, owner), about: try text(object, "about", of: owner),
            purpose: object["purpose"]?.string ?? FieldDeclaration.standardPurpose,
            members: type == .records ? try members(object, owner) : [])
    }

    private static func members(_ object: JSONObject, _ owner: String) throws(Fault) -> [FieldDeclaration] {
        guard let members = object["members"] else { throw Fault("\(owner) is of type 'records' and needs 'members'") }
        return try fields(.array(members.array ?? []), of: owner, depth: 1)
    }

    private static func changes(_ json: JSONValue?, _ type: FieldType, _ owner: String) throws(Fault) -> ChangeRule {
        guard let json else { return .any }
        switch json.string {
        case "any": return .any
        case "never": return .never
        default: break
        }
        let isNumeric = type == .integer || type == .number
        if let amount = json["by"]?.double, amount > 0, isNumeric { return .by(amount) }
        if let metres = json["moved"]?.double, metres >= 0, let longitude = json["longitude"]?.string, isNumeric {
            return .moved(metres: metres, longitude: longitude, distance: GreatCircle.metres)
        }
        throw Fault(
            "\(owner): 'changes' is 'any', 'never', {'by': AMOUNT} for numbers, or {'moved': METRES, 'longitude': FIELD} for a latitude")
    }

    private static func shown(_ json: JSONValue) -> String { "'\(json.string ?? json.text())'".prefix(80).description }

    private static func instead(_ json: JSONValue?) -> String { json.map { ", and \(shown($0)) is none" } ?? "" }

    private static func list(_ words: [String]) -> String { "one of " + words.joined(separator: ", ") }
}
