import MeasurementModel
import Testing

/// JSON by RFC 8259, and nothing looser.
struct JSONTests {
    @Test(
        "What is JSON reads, and writes back the same",
        arguments: [
            "null", "true", "false", "0", "-0", "-1.5e+10", "1E5", "123456789012345678901234567890", "0.1000", "\"\"", "\"a\\\"\\\\b\"",
            "[]",
            "[1,[2,[]],{}]", "{\"b\":1,\"a\":{\"c\":[null]}}", "\"\u{e9}\u{1F600}\"",
        ])
    func roundTrip(text: String) throws { #expect(try JSONValue(parsing: text).text() == text) }

    @Test(
        "What is not JSON is refused",
        arguments: [
            "", " ", "nul", "NaN", "-nan", "Infinity", "+1", "01", "1.", ".5", "1e", "-", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"",
            "\"\\ud800\\u0041\"", "\"\t\"", "[1,]", "[1 2]", "[", "{", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "1 2", "{} x", "'a'",
            "0x10", "\"\\u00g0\"",
        ])
    func refused(text: String) { #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text) } }

    @Test(
        "Octets that are no UTF-8 are refused",
        arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] as [[UInt8]])
    func notUTF8(octets: [UInt8]) { #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: octets) } }

    @Test("Escapes, surrogate pairs and white space")
    func escapes() throws {
        #expect(try JSONValue(parsing: #"  "\u00e9\n\/\ud83d\ude00"  "#) == .string("\u{e9}\n/\u{1F600}"))
        #expect(JSONValue.string("\u{1}\n\"\u{7F}").text() == #""\u0001\n\"\u007f""#)
    }

    @Test("Nesting is bounded")
    func depth() throws {
        let deep = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: Never.self) { try JSONValue(parsing: deep(64)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: deep(65)) }
        #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test("Every prefix of a document is refused, and none traps")
    func prefixes() throws {
        let text = Array(#"{"a":[1.5e3,true,null,"\u00e9x"],"b":{}}"#.utf8)
        for length in 0..<text.count { #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: text[..<length]) } }
        _ = try JSONValue(parsing: text)
    }

    @Test("A repeated key keeps its last value")
    func repeats() throws { #expect(try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#).text() == #"{"b":2,"a":3}"#) }

    @Test("Numbers: shortest text, no NaN, whole numbers where they are whole")
    func numbers() throws {
        #expect(JSONValue.real(52.123456789)?.text() == "52.123456789")
        #expect(JSONValue.real(5)?.text() == "5")
        #expect(JSONValue.real(1e-9)?.text() == "1e-09")
        #expect(JSONValue.real(.nan) == nil)
        #expect(JSONValue.real(.infinity) == nil)
        #expect(try JSONValue(parsing: "1e999").double == nil)
        #expect(try JSONValue(parsing: "5.0").int64 == 5)
        #expect(try JSONValue(parsing: "5.5").int64 == nil)
        #expect(try JSONValue(parsing: "1e-09").double == 1e-9)
    }

    @Test("Indented for people")
    func pretty() throws {
        let text = "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}"
        #expect(try JSONValue(parsing: text).text(pretty: true) == text)
    }
}
