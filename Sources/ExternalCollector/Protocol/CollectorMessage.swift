internal import CollectorCore
internal import MeasurementModel

/// What a collector says: one JSON object a line (docs/collector-protocol.md). Decoding is pure.
enum CollectorMessage {
    case descriptor(JSONObject)
    case record(JSONObject, at: MonotonicInstant?)
    case gap(GapEvent)
    case unavailable(StateReason, detail: String?)
    case available
    case denied(StateReason, detail: String?)
    case resynced
    case rejected(String, count: Int)
    case provenance(subject: String, source: String)
    case failed(StateReason, detail: String?)

    /// Why a line was refused: a word for the honesty record.
    struct Fault: Error, Equatable {
        let word: String
        /// For the author of the collector.
        let detail: String
    }

    init(line: [UInt8]) throws(Fault) {
        let json: JSONValue
        do { json = try JSONValue(parsing: line, maximumDepth: 8) } catch {
            throw Fault(word: "not_json", detail: "\(error)")
        }
        guard let object = json.object else { throw Fault(word: "not_json", detail: "a line is one JSON object") }
        guard let name = object["message"]?.string else {
            throw Fault(word: "unknown_message", detail: "the object has no 'message', which says what it is")
        }
        self = try Self.message(name, object)
    }

    private static func message(_ name: String, _ object: JSONObject) throws(Fault) -> CollectorMessage {
        switch name {
        case "descriptor": return .descriptor(object)
        case "record":
            guard let values = object["values"]?.object else { throw Fault(name, "'values' has to be an object") }
            return .record(values, at: try instant(object, "at", in: name))
        case "gap": return .gap(try gap(object))
        case "unavailable": return .unavailable(try reason(object, in: name), detail: object["detail"]?.string)
        case "available": return .available
        case "denied": return .denied(try reason(object, in: name), detail: object["detail"]?.string)
        case "resynced": return .resynced
        case "rejected":
            let count = object["count"]
            guard let count = count == nil ? 1 : count?.int64, (1...1_000_000_000).contains(count) else {
                throw Fault(name, "'count' has to be a whole number from 1")
            }
            return .rejected(try reason(object, in: name).word, count: Int(count))
        case "provenance":
            guard let subject = object["subject"]?.string, let source = object["source"]?.string, isShort(subject), isShort(source) else {
                throw Fault(name, "'subject' and 'source' have to be texts of 1 to 100 octets")
            }
            return .provenance(subject: subject, source: source)
        case "failed": return .failed(try reason(object, in: name), detail: object["detail"]?.string)
        default: throw Fault(word: "unknown_message", detail: "there is no message '\(name.prefix(60))'")
        }
    }

    private static func gap(_ object: JSONObject) throws(Fault) -> GapEvent {
        let reason = try reason(object, in: "gap")
        switch object["event"]?.string {
        case "began": return .began(reason, at: try instant(object, "at", in: "gap"))
        case "ended": return .ended(reason, at: try instant(object, "at", in: "gap"))
        case "passed":
            guard let from = try instant(object, "from", in: "gap"), let to = try instant(object, "to", in: "gap"), from <= to else {
                throw Fault("gap", "a gap that has passed needs 'from' and 'to', in this order")
            }
            return .passed(reason, from: from, to: to)
        default: throw Fault("gap", "'event' is 'began', 'ended' or 'passed'")
        }
    }

    /// Nanoseconds of CLOCK_BOOTTIME; nil when the member is not there.
    private static func instant(_ object: JSONObject, _ key: String, in message: String) throws(Fault) -> MonotonicInstant? {
        guard let value = object[key] else { return nil }
        guard let nanoseconds = value.number.flatMap({ Int64($0.lexeme) }), nanoseconds >= 0 else {
            throw Fault(message, "'\(key)' has to be nanoseconds of CLOCK_BOOTTIME, as a whole number")
        }
        return MonotonicInstant(nanoseconds: nanoseconds)
    }

    private static func reason(_ object: JSONObject, in message: String) throws(Fault) -> StateReason {
        guard let word = object["reason"]?.string, isWord(word) else {
            throw Fault(message, "'reason' has to be a word of lower-case letters, digits and underscores")
        }
        return StateReason(word)
    }

    private static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    private static func isShort(_ text: String) -> Bool { (1...100).contains(text.utf8.count) }
}

extension CollectorMessage.Fault {
    /// A message that is known by its name and is not as it should be.
    fileprivate init(_ message: String, _ detail: String) {
        self.init(word: "bad_\(message)", detail: "message '\(message)': \(detail)")
    }
}
