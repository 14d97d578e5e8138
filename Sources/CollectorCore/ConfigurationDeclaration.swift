/// A key of a collector's own configuration, which whoever installs the collector may set.
public struct ConfigurationDeclaration: Sendable, Hashable {
    /// Lower-case words joined with hyphens, such as `interval-ms`.
    public let name: String
    /// One line for people: what it sets, in which unit, and what holds without it.
    public let about: String

    public init(_ name: String, about: String) {
        self.name = name
        self.about = about
    }
}
