import Glibc
import LabSupport
import MeasurementModel
import Testing

@testable import fieldprobe_server

extension ServerSuites {
    /// Tokens that are not the server's own, or no longer.
    @Suite struct TokenTests {
        private static func token(_ header: String, _ payload: String, key: [UInt8]?) -> String {
            let text = Base64.urlText(Array(header.utf8)) + "." + Base64.urlText(Array(payload.utf8))
            return text + "." + (key.map { Base64.urlText(Hash.hmac(key: $0, Array(text.utf8))) } ?? "")
        }

        @Test func forgedTokensAreRefused() async throws {
            try await ServerProcess.with { server in
                var device = Device(server: server)
                let registration = try device.register(server.key())
                try device.authenticate()
                let publicKey = try #require(Base64.octets(url: registration.json?["server_key"]?.string ?? ""))
                let parts = device.token.split(separator: ".").map(String.init)
                let payload = String(decoding: try #require(Base64.octets(url: parts[1])), as: UTF8.self)
                let header = #"{"alg":"HS256","typ":"JWT"}"#
                let other = payload.replacing(device.uuid, with: Device.id())
                let later = payload.replacing("\"exp\":1", with: "\"exp\":9")
                let forged: [String: String] = [
                    "none": Self.token(#"{"alg":"none","typ":"JWT"}"#, payload, key: nil),
                    "None with the signature": Self.token(#"{"alg":"None"}"#, payload, key: nil) + parts[2],
                    "signed with the public key": Self.token(header, payload, key: publicKey),
                    "signed with the public key's text": Self.token(header, payload, key: Array(Base64.urlText(publicKey).utf8)),
                    "signed with nothing": Self.token(header, payload, key: []),
                    "signed by somebody else": Self.token(header, payload, key: RandomOctets.make(32)),
                    "another header": Self.token(#"{"typ":"JWT","alg":"HS256"}"#, payload, key: nil) + parts[2],
                    "EdDSA named": "\(Base64.urlText(Array(#"{"alg":"EdDSA","typ":"JWT"}"#.utf8))).\(parts[1]).\(parts[2])",
                    "another client": "\(parts[0]).\(Base64.urlText(Array(other.utf8))).\(parts[2])",
                    "a later end": "\(parts[0]).\(Base64.urlText(Array(later.utf8))).\(parts[2])",
                    "the grant": device.grant, "two parts": "\(parts[0]).\(parts[1])", "four parts": device.token + ".x",
                    "no signature": "\(parts[0]).\(parts[1]).", "padding": device.token + "=", "empty": "",
                    "a second spelling of the signature": parts[0] + "." + parts[1] + "." + Self.respelled(parts[2]),
                    "long": String(repeating: "a", count: 3000),
                ]
                for (name, token) in forged {
                    var attacker = device
                    attacker.token = token
                    #expect(try attacker.upload(Device.report(Device.id())).code == "token_invalid", "\(name)")
                    #expect(try attacker.unregister().code == "token_invalid", "\(name)")
                }
                let none = try server.send("DELETE", "\(Device.base)/clients/self")
                #expect(none.code == "token_invalid")
                #expect(none.header("www-authenticate") == "Bearer")
                // Two tokens: neither.
                let line = "Authorization: Bearer \(device.token)"
                #expect(try server.send("DELETE", "\(Device.base)/clients/self", headers: [line, line]).code == "token_invalid")
                let basic = ["Authorization: Basic \(device.token)"]
                #expect(try server.send("DELETE", "\(Device.base)/clients/self", headers: basic).code == "token_invalid")
                #expect(try device.upload(Device.report(Device.id())).status == 201)
            }
        }

        /// The last character with other bits behind the last octet.
        private static func respelled(_ text: String) -> String {
            let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
            let last = alphabet.firstIndex(of: text.last!)!
            return String(text.dropLast()) + String(alphabet[last ^ 1])
        }

        @Test func aTokenIsShortLived() async throws {
            try await ServerProcess.with(["--token-seconds", "1"]) { server in
                var device = try Device.ready(server, key: server.key())
                sleep(2)
                #expect(try device.upload(Device.report(Device.id())).code == "token_expired")
                #expect(try device.unregister().code == "token_expired")
                // A new one serves; on a busy machine its second may be over before the upload is there.
                var answer = try device.upload(Device.report(Device.id()))
                for _ in 0..<20 where answer.code == "token_expired" {
                    try device.authenticate()
                    answer = try device.upload(Device.report(Device.id()))
                }
                #expect(answer.status == 201)
            }
        }

        @Test func aTokenOfAnotherServerIsRefused() async throws {
            try await blocking {
                let first = try ServerProcess()
                defer { first.stop() }
                let second = try ServerProcess()
                defer { second.stop() }
                let device = try Device.ready(first, key: first.key())
                let stray = Device(server: second, token: device.token)
                #expect(try stray.unregister().code == "token_invalid")
            }
        }

        /// Nothing of an old token is left once its client is gone.
        @Test func aTokenEndsWithItsClient() async throws {
            try await ServerProcess.with { server in
                let device = try Device.ready(server, key: server.key())
                #expect(try device.unregister().status == 204)
                #expect(try device.upload(Device.report(Device.id())).code == "unknown_credentials")
            }
        }

        @Test func expiryIsToTheSecondAndSurvivesASetClock() throws {
            let issuer = TokenIssuer(key: RandomOctets.make(32), lifetime: 900)
            let start = Timestamp(milliseconds: 1_800_000_000_000)
            let token = issuer.issue(.init(clientUUID: "u", machine: "m"), now: start)
            #expect(try issuer.verify(token, now: start).clientUUID == "u")
            #expect(try issuer.verify(token, now: start.adding(milliseconds: 899_999)).clientUUID == "u")
            func code(_ milliseconds: Int64) -> ProblemCode? {
                do {
                    _ = try issuer.verify(token, now: start.adding(milliseconds: milliseconds))
                    return nil
                } catch { return (error as? Problem)?.code }
            }
            #expect(code(900_000) == .tokenExpired)
            #expect(code(-1_000_000) == .tokenExpired)
            #expect(code(-60_000) == nil)
        }
    }
}
