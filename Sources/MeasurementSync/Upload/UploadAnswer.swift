internal import MeasurementModel

/// The server's answer to one report, as far as it matters for what comes next.
public struct UploadAnswer: Sendable, Hashable {
    public var status: Int
    /// The problem document's `code` (RFC 9457); nil where the answer is no problem document of this service.
    public var code: String?
    public var detail: String?
    /// The id that the server says it has stored.
    public var storedID: String?
    public var isRepeat: Bool
    /// The header `Retry-After`, as it came.
    public var retryAfter: String?
    /// The header `Date`, as it came: what a date in `Retry-After` is compared with.
    public var date: String?

    public init(
        status: Int, code: String? = nil, detail: String? = nil, storedID: String? = nil, isRepeat: Bool = false,
        retryAfter: String? = nil, date: String? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.storedID = storedID
        self.isRepeat = isRepeat
        self.retryAfter = retryAfter
        self.date = date
    }

    /// Reads a response. What is not JSON says nothing: a portal's page or a proxy's is not the server's word.
    public init(status: Int, body: [UInt8], retryAfter: String?, date: String?) {
        let document = try? JSONValue(parsing: body)
        self.init(
            status: status, code: document?["code"]?.string, detail: document?["detail"]?.string, storedID: document?["id"]?.string,
            isRepeat: document?["already_stored"]?.bool ?? false, retryAfter: retryAfter, date: date)
    }
}
