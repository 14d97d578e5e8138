public import MeasurementModel

/// Which answers are tried again, which are final, and which end the registration: docs/upload-outcomes.md.
///
/// Two rules stand behind the table. A report leaves the queue only on the server's own word, which a portal or a proxy in between cannot
/// give. And nothing about one report may hold up the others.
public enum UploadClasses {
    /// Codes with which the server tells the device that it is not wanted any more.
    public static let endOfRegistration: Set<String> = ["unknown_credentials", "client_disabled", "usage_window_elapsed"]

    /// - Parameters:
    ///   - answer: what the server said.
    ///   - id: of the report that was sent.
    ///   - now: the wall clock, for a `Retry-After` date when the answer has no `Date`.
    public static func outcome(of answer: UploadAnswer, id: String, now: Timestamp) -> UploadOutcome {
        let wait = RetryAfter.duration(answer.retryAfter, date: answer.date, now: now)
        func again(_ code: String, _ message: String, serverWide: Bool = true) -> UploadOutcome {
            .retry(after: wait, UploadFailure(code: code, message: message, isServerWide: serverWide))
        }
        func final(_ fallback: String) -> UploadOutcome {
            .refusedForGood(code: answer.code ?? fallback, detail: answer.detail ?? "the server answered \(answer.status)")
        }
        switch answer.status {
        case 200, 201:
            guard answer.storedID?.lowercased() == id.lowercased() else {
                return again(
                    "not_the_server",
                    "something answered \(answer.status) that is not the server: a network's login page, or a wrong api-endpoint")
            }
            return answer.isRepeat ? .alreadyStored : .accepted
        case 401, 403:
            if let code = answer.code, endOfRegistration.contains(code) { return .deviceDropped(reason: code) }
            if answer.code == "kind_not_allowed" { return final("kind_not_allowed") }
            return again(answer.code ?? "not_authorised", "the server did not accept this device's token, and will be given a new one")
        case 400, 409, 410, 413, 415, 422: return final("refused_\(answer.status)")
        case 404, 405:
            return again("not_the_server", "the server has no such address (\(answer.status)): check api-endpoint in the configuration")
        case 408, 425: return again("timed_out", "the server waited too long for the report", serverWide: false)
        case 429: return again("rate_limited", "the server asks to come less often")
        case 502, 503, 504: return again("unavailable", "the server is unavailable (\(answer.status))")
        case 300..<400:
            return again("redirected", "the server sends this device elsewhere (\(answer.status)): check api-endpoint in the configuration")
        case 500...: return again("server_error", "the server failed (\(answer.status))", serverWide: answer.status == 511)
        default: return again("unexpected", "the server gave an unexpected answer (\(answer.status))")
        }
    }
}
