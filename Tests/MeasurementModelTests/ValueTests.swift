import MeasurementModel
import Testing

struct ValueTests {
    @Test(
        "R-7 Time stamps are ISO 8601 in UTC with milliseconds and Z",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_790_000_000_123, "2026-09-21T14:13:20.123Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func timestamps(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(iso8601: text)?.milliseconds == milliseconds)
    }

    @Test("Fractions of any length, and second 60, are read")
    func lenient() {
        #expect(Timestamp(iso8601: "2026-09-21T14:13:20Z")?.description == "2026-09-21T14:13:20.000Z")
        #expect(Timestamp(iso8601: "2026-09-21T14:13:20.1Z")?.description == "2026-09-21T14:13:20.100Z")
        #expect(Timestamp(iso8601: "2026-09-21T14:13:20.123456789Z")?.description == "2026-09-21T14:13:20.123Z")
        #expect(Timestamp(iso8601: "2016-12-31T23:59:60.500Z")?.description == "2017-01-01T00:00:00.500Z")
    }

    @Test(
        "What is no time is none",
        arguments: [
            "", "garbage", "2026-09-21", "2026-09-21T14:13:20", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-09-21T24:00:00Z",
            "2026-09-21T14:13:61Z", "2026-09-21T14:13:20.Z", "2026-09-21 14:13:20Z", "-026-09-21T14:13:20Z", "2026-09-21T14:13:20Zx",
        ])
    func noTime(text: String) { #expect(Timestamp(iso8601: text) == nil) }

    @Test(
        "Addresses read and write their usual form",
        arguments: ["0.0.0.0", "192.0.2.1", "::", "::1", "2001:db8::1", "fe80::1", "::ffff:192.0.2.1"])
    func addresses(text: String) { #expect(IPAddress(text)?.description == text) }

    @Test("Moments and durations end where they cannot go on")
    func saturation() {
        let (first, last) = (MonotonicInstant(nanoseconds: .min), MonotonicInstant(nanoseconds: .max))
        #expect(Duration.seconds(Int64.max).nanoseconds == .max && Duration.seconds(-Int64.max).nanoseconds == .min)
        #expect(Duration.seconds(9_223_372_036).nanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000 && Duration.milliseconds(-1500).nanoseconds == -1_500_000_000)
        let now = MonotonicInstant.now()
        #expect(now + .seconds(Int64.max) == last && now - .seconds(-Int64.max) == last)
        #expect(first - .seconds(1) == first && last + .nanoseconds(1) == last && first + .seconds(-1) == first)
        #expect((last - first).nanoseconds == .max && (first - last).nanoseconds == .min)
    }

    @Test("What is no address is none", arguments: ["", "1.2.3", "1.2.3.4.5", "01.2.3.4x", "fe80::1%eth0", "[::1]", "host", "1.2.3.4/24"])
    func noAddress(text: String) { #expect(IPAddress(text) == nil) }

    @Test("Networks and kinds of addresses")
    func kinds() {
        #expect(IPAddress("198.51.100.201")!.network(prefixLength: 25).description == "198.51.100.128")
        #expect(IPAddress("198.51.100.201")!.network(prefixLength: 0).description == "0.0.0.0")
        #expect(IPAddress("2001:db8:ff::1")!.network(prefixLength: 33).description == "2001:db8::")
        #expect(IPAddress("2001:db8:ff::1")!.network(prefixLength: 128).description == "2001:db8:ff::1")
        #expect(IPAddress("169.254.0.1")!.isLinkLocal && IPAddress("febf::1")!.isLinkLocal)
        #expect(!IPAddress("169.253.0.1")!.isLinkLocal && !IPAddress("fec0::1")!.isLinkLocal)
        #expect(IPAddress("127.9.9.9")!.isLoopback && IPAddress("::1")!.isLoopback && !IPAddress("::2")!.isLoopback)
        #expect(IPAddress(octets: [1, 2, 3]) == nil)
    }

    @Test("R-5 R-8 A report has its fields in order, an empty trace as an empty array, and no null")
    func report() {
        let snapshot = Snapshot(
            clientTime: Timestamp(milliseconds: 1000), clientTimeSkewed: Timestamp(milliseconds: 1003), offset: .milliseconds(12),
            fields: [
                .init(name: "latitude", value: .number(0)), .init(name: "mode", value: .integer(3)),
                .init(name: "bad", value: .number(.nan)),
            ])
        let report = Report(
            id: "00000000-0000-0000-0000-000000000001", kind: TestKind(type: "NETWORK", subject: "ping"), client: nil, clientVersion: "1",
            device: [:], startedAt: Timestamp(milliseconds: 0), finishedAt: Timestamp(milliseconds: 2000), clockOffset: .milliseconds(3),
            duration: .milliseconds(2000), finishedReason: .completed, target: nil, result: nil,
            traces: [("geolocation_trace", [snapshot]), ("connection_detail_trace", [])], collectors: [], permissions: [:], time: [:])
        let text = report.json.text()
        #expect(
            text.contains(
                #""geolocation_trace":[{"client_time":"1970-01-01T00:00:01.000Z","client_time_skewed":"1970-01-01T00:00:01.003Z","offset_ms":12,"latitude":0,"mode":3}]"#
            ))
        #expect(text.contains(#""connection_detail_trace":[]"#))
        #expect(text.contains(#""started_at_skewed":"1970-01-01T00:00:00.003Z""#))
        #expect(text.contains(#""duration_ms":2000,"finished_reason":"completed""#))
        #expect(!text.contains("null") && !text.contains("client_uuid") && !text.contains("target"))
    }
}
