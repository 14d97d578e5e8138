import MeasurementModel
import ServerLab
import Testing

@testable import DeviceRegistration

/// What counts as a grant: the pinned key's signature over these very claims, and nothing else (R-32).
@Suite struct GrantTests {
    let key = SigningKey()

    func claims(_ change: (inout JSONObject) -> Void = { _ in }) -> JSONValue {
        var claims: JSONObject = [
            "v": .integer(1), "client_uuid": .string("c"), "nonce": .string("n"), "machine": .string("m"),
            "granted_seconds": .integer(600), "issued_at": .integer(1_790_000_000),
        ]
        change(&claims)
        return .object(claims)
    }

    func fault(_ text: String) -> Grant.Fault? {
        do throws(Grant.Fault) {
            let grant = try Grant(verifying: text, serverKey: key.publicKey)
            try grant.check(client: "c", nonce: "n", machine: "m")
            return nil
        } catch {
            return error
        }
    }

    @Test func theServersOwn() throws {
        let grant = try Grant(verifying: key.jws(claims()), serverKey: key.publicKey)
        #expect(grant.granted == .seconds(600) && grant.capability == nil)
        #expect(fault(key.jws(claims())) == nil)
    }

    @Test func neverMoreThanSevenDays() throws {
        let text = key.jws(claims { $0["granted_seconds"] = .integer(Int64.max) })
        #expect(try Grant(verifying: text, serverKey: key.publicKey).granted == .seconds(7 * 86_400))
    }

    @Test(arguments: [0, -1, -604_800] as [Int64]) func noTime(_ seconds: Int64) {
        #expect(fault(key.jws(claims { $0["granted_seconds"] = .integer(seconds) })) == .time)
    }

    @Test func aForeignKey() { #expect(fault(SigningKey().jws(claims())) == .signature) }

    @Test func anotherRequestsAnswer() { #expect(fault(key.jws(claims { $0["nonce"] = .string("old") })) == .nonce) }
    @Test func anotherClients() { #expect(fault(key.jws(claims { $0["client_uuid"] = .string("d") })) == .client) }
    @Test func anotherMachines() { #expect(fault(key.jws(claims { $0["machine"] = .string("x") })) == .machine) }
    @Test func anotherVersion() { #expect(fault(key.jws(claims { $0["v"] = .integer(2) })) == .version) }

    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES256"}"#, #"{"alg":"eddsa"}"#, #"{}"#, #"{"alg":["EdDSA"]}"#,
        #"{"alg":"EdDSA","crit":["exp"],"exp":1}"#,
    ])
    func theHeaderChoosesNoAlgorithm(_ header: String) throws {
        #expect(fault(key.jws(claims(), header: try JSONValue(parsing: header))) == .algorithm)
    }

    /// The classic confusion: a code that is keyed with the public key.
    @Test func anAuthenticationCodeIsNoSignature() throws {
        let signed = SigningKey.base64(Array(#"{"alg":"HS256"}"#.utf8)) + "." + SigningKey.base64(claims().utf8(pretty: false))
        let code = try #require(Crypto.authenticationCode(Array(signed.utf8), key: key.publicKey))
        #expect(fault(signed + "." + SigningKey.base64(code)) == .algorithm)
    }

    @Test func everyEditOfIt() {
        let text = Array(key.jws(claims()).utf8)
        for index in text.indices {
            var edited = text
            edited[index] = edited[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(fault(String(decoding: edited, as: UTF8.self)) != nil, "octet \(index)")
        }
        for length in text.indices { #expect(fault(String(decoding: text[..<length], as: UTF8.self)) != nil, "length \(length)") }
    }

    @Test(arguments: ["", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30.e30", "ä.ö.ü"]) func noGrantAtAll(_ text: String) {
        #expect(fault(text) != nil)
    }

    @Test func hostileClaims() throws {
        let deep = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        let signed = SigningKey.base64(Array(#"{"alg":"EdDSA"}"#.utf8)) + "." + SigningKey.base64(Array(deep.utf8))
        #expect(fault(signed + "." + SigningKey.base64(key.signature(of: Array(signed.utf8)))) == .malformed)
        // A restriction that cannot be read is not read as none.
        #expect(fault(key.jws(claims { $0["capability"] = .object(["forbid_types": .string("WEB")]) })) == .capability)
        #expect(fault(key.jws(claims { $0["capability"] = .strings(["WEB"]) })) == .capability)
    }

    /// RFC 8032, section 7.1, test 2; RFC 4231, test case 2; RFC 4648, section 10.
    @Test func publishedVectors() throws {
        let publicKey = try #require(Hex.octets("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"))
        let signature = try #require(
            Hex.octets(
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ))
        #expect(Crypto.isSigned([0x72], signature: signature, publicKey: publicKey))
        #expect(!Crypto.isSigned([0x73], signature: signature, publicKey: publicKey))
        #expect(
            Crypto.authenticationCode(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)).map { Hex.text($0) }
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        for (plain, coded) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("foobar", "Zm9vYmFy")] {
            #expect(Base64URL.text(Array(plain.utf8)) == coded)
            #expect(Base64URL.octets(coded) == Array(plain.utf8))
        }
        for wrong in ["Zg==", "Z", "Zh", "Zm+v", "Zm/v", "Zm9v\n"] { #expect(Base64URL.octets(wrong) == nil) }
    }
}
