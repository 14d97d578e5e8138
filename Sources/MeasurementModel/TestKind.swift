/// What a test measures: a type and a subject, such as `WEB` and `website`. Any pair is legal; a capability may refuse it.
public struct TestKind: Sendable, Hashable, CustomStringConvertible {
    public let type: String
    public let subject: String

    public init(type: String, subject: String) {
        self.type = type
        self.subject = subject
    }

    public var description: String { "\(type)/\(subject)" }
}
