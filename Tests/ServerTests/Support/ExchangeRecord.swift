import LabSupport
import MeasurementModel
import Synchronization

/// Every exchange with the client API in this run, for the check against its document.
enum ExchangeRecord {
    private static let lines = Mutex<[String]>([])

    static func keep(_ method: String, _ target: String, _ headers: [String], _ body: [UInt8], _ response: Response) {
        guard target.hasPrefix("/client_api") || target == "/health" else { return }
        var record: JSONObject = [
            "method": .string(method), "target": .string(target), "status": .integer(response.status),
            "headers": .object(JSONObject(pairs: response.headers)), "body": .string(response.text),
        ]
        // A packed body is no JSON to check.
        if !body.isEmpty, body.count < 100_000, !headers.contains("Content-Encoding: gzip"),
            let text = String(validating: body, as: UTF8.self)
        {
            record["request"] = .string(text)
        }
        lines.withLock { $0.append(JSONValue.object(record).text()) }
    }

    static var text: String { lines.withLock { $0.joined(separator: "\n") + "\n" } }
}

extension JSONObject {
    fileprivate init(pairs: [(name: String, value: String)]) {
        self.init()
        for (name, value) in pairs { self[name] = .string(value) }
    }
}
