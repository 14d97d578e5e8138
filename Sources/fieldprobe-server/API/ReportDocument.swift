internal import MeasurementModel

/// A report as far as the server knows it. Traces are the devices' business: they are stored, and not judged.
struct ReportDocument {
    let id: String
    let type: String
    let subject: String
    private let document: JSONValue
    private let size: Int

    private static let maximumDepth = 32

    /// - Throws: ``Problem`` `document_invalid` with the reason.
    init(_ octets: [UInt8], id: String, client: Client) throws {
        func refuse(_ reason: String) -> Problem { Problem(.documentInvalid, reason) }
        do {
            document = try JSONValue(parsing: octets, maximumDepth: Self.maximumDepth)
        } catch {
            throw refuse("The document is \(error).")
        }
        size = octets.count
        guard document.object != nil else { throw refuse("The document must be a JSON object.") }
        guard document["schema"]?.string == Report.schema else { throw refuse("'schema' must be '\(Report.schema)'.") }
        guard document["id"]?.string == id else { throw refuse("'id' must be the identifier in the path.") }
        guard let type = document["type"]?.string, Self.isName(type) else { throw refuse("'type' must be a text of 1 to 100 characters.") }
        guard let subject = document["subject"]?.string, Self.isName(subject) else {
            throw refuse("'subject' must be a text of 1 to 100 characters.")
        }
        if let uuid = document["client_uuid"], uuid.string != client.uuid {
            throw refuse("'client_uuid' is not the client that the token belongs to.")
        }
        self.id = id
        self.type = type
        self.subject = subject
    }

    private static func isName(_ text: String) -> Bool {
        (1...100).contains(text.unicodeScalars.count) && RequestDocument.isPrintable(text)
    }

    func record(client: Client, receivedAt: Timestamp) -> MeasurementRecord {
        let started = document["started_at_skewed"]?.string ?? document["started_at"]?.string
        return MeasurementRecord(
            id: id, clientUUID: client.uuid, type: type, subject: subject, startedAt: started.flatMap { Timestamp(iso8601: $0) },
            durationMilliseconds: document["duration_ms"]?.int64.flatMap { (0...Int64.max / 2).contains($0) ? Int($0) : nil },
            finishedReason: document["finished_reason"]?.string.flatMap { Report.FinishedReason(rawValue: $0)?.rawValue },
            receivedAt: receivedAt, size: size)
    }

    /// The one spelling of RFC 9562 in lower case: a second one would store a second copy.
    static func isUUID(_ text: String) -> Bool {
        let octets = Array(text.utf8)
        return octets.count == 36
            && octets.enumerated().allSatisfy { index, octet in
                [8, 13, 18, 23].contains(index)
                    ? octet == UInt8(ascii: "-") : (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet)
            }
    }
}
