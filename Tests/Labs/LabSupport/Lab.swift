/// Where the labs are.
public enum Lab {
    /// A file of Tests/Labs, next to this source file.
    public static func path(_ name: String) -> String {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        return "\(folder)/\(name)"
    }

    /// What `make test` has prepared for a lab.
    public static func cache(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        return "\(root)/.build/labs/\(name)"
    }
}
