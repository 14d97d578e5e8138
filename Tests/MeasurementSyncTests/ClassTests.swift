import MeasurementModel
import Testing

@testable import MeasurementSync

/// docs/upload-outcomes.md, line by line.
@Suite struct ClassTests {
    private static let now = Timestamp(iso8601: "2026-11-30T12:00:00Z")!

    private func outcome(
        _ status: Int, _ body: String = "", retryAfter: String? = nil, date: String? = nil
    ) -> UploadOutcome {
        UploadClasses.outcome(
            of: UploadAnswer(status: status, body: Array(body.utf8), retryAfter: retryAfter, date: date), id: "R-1", now: Self.now)
    }

    private func problem(_ code: String) -> String { #"{"type":"about:blank","code":"\#(code)","detail":"do this"}"# }

    @Test func accepted() {
        #expect(outcome(201, #"{"id":"R-1"}"#) == .accepted)
        #expect(outcome(201, #"{"id":"r-1"}"#) == .accepted)
        #expect(outcome(200, #"{"id":"R-1","already_stored":true}"#) == .alreadyStored)
    }

    /// A login page that answers 200 must not cost a report.
    @Test(arguments: ["", "<html>welcome</html>", "{}", #"{"id":"other"}"#, "\u{0}\u{1}"])
    func notTheServersWord(body: String) {
        for status in [200, 201] {
            guard case .retry(nil, let failure) = outcome(status, body) else {
                Issue.record("\(status) with \(body) was taken for the server's word")
                continue
            }
            #expect(failure.code == "not_the_server" && failure.isServerWide)
        }
    }

    @Test(arguments: [400, 409, 410, 413, 415, 422])
    func refusedForGood(status: Int) {
        #expect(outcome(status, problem("document_invalid")) == .refusedForGood(code: "document_invalid", detail: "do this"))
        #expect(outcome(status) == .refusedForGood(code: "refused_\(status)", detail: "the server answered \(status)"))
    }

    @Test func theKindIsNotAllowed() {
        #expect(outcome(403, problem("kind_not_allowed")) == .refusedForGood(code: "kind_not_allowed", detail: "do this"))
    }

    @Test(arguments: ["unknown_credentials", "client_disabled", "usage_window_elapsed"])
    func theDeviceIsDropped(code: String) {
        #expect(outcome(401, problem(code)) == .deviceDropped(reason: code))
        #expect(outcome(403, problem(code)) == .deviceDropped(reason: code))
        // The word counts only with its status.
        if case .deviceDropped = outcome(500, problem(code)) { Issue.record("500 dropped the device") }
    }

    /// Status, and whether the others wait too.
    @Test(arguments: [
        (401, true), (403, true), (404, true), (405, true), (408, false), (425, false), (429, true), (500, false), (501, false),
        (502, true),
        (503, true), (504, true), (511, true), (301, true), (302, true), (307, true), (308, true), (100, true), (204, true), (418, true),
        (0, true),
    ])
    func triedAgain(status: Int, isServerWide: Bool) {
        guard case .retry(nil, let failure) = outcome(status) else {
            Issue.record("\(status) is not tried again")
            return
        }
        #expect(failure.isServerWide == isServerWide, "\(status)")
        #expect(!failure.code.isEmpty && !failure.message.isEmpty)
    }

    /// P88.
    @Test(arguments: [
        ("5", 5), ("120", 120), (" 7 ", 7), ("0", 1), ("86400", 3600), ("99999999999999999999999", 3600),
        ("Mon, 30 Nov 2026 12:02:00 GMT", 120), ("Mon, 30 Nov 2026 11:00:00 GMT", 1), ("Fri, 31 Dec 9999 23:59:59 GMT", 3600),
    ])
    func retryAfter(text: String, seconds: Int) {
        guard case .retry(let wait, _) = outcome(429, problem("rate_limited"), retryAfter: text) else {
            Issue.record("no retry")
            return
        }
        #expect(wait == .seconds(seconds))
    }

    /// A date is compared with the server's own clock: ours may be off by a year.
    @Test func retryAfterByTheServersClock() {
        let outcome = outcome(503, retryAfter: "Wed, 01 Jan 2025 00:00:30 GMT", date: "Wed, 01 Jan 2025 00:00:00 GMT")
        guard case .retry(let wait, _) = outcome else {
            Issue.record("no retry")
            return
        }
        #expect(wait == .seconds(30))
    }

    @Test(arguments: ["", "soon", "-5", "1.5", "5s", "Mon, 31 Feb 2026 12:00:00 GMT", "Monday", "Mon, 30 Nov 2026 12:00:00 CET"])
    func retryAfterThatSaysNothing(text: String) {
        #expect(RetryAfter.duration(text, date: nil, now: Self.now) == nil)
    }

    @Test func compression() throws {
        let report = Sample.json("r", padding: 100_000)
        let packed = try #require(GZip.compress(report))
        #expect(packed.count < report.count / 10)
        #expect(packed.prefix(3) == [0x1F, 0x8B, 8])
        #expect(GZip.compress([]) != nil)
    }
}
