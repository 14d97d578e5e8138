internal import Glibc

/// Where the labs are.
public enum Lab {
    /// A file of Tests/Labs, next to this source file.
    public static func path(_ name: String) -> String {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
        return "\(folder)/\(name)"
    }

    /// A program of this package, beside the tests' bundle, where the build puts both.
    public static func built(_ name: String) -> String {
        let own = realpath("/proc/self/exe", nil)
        defer { free(own) }
        for word in CommandLine.arguments + [own.map { String(cString: $0) } ?? ""] {
            guard let slash = word.lastIndex(of: "/") else { continue }
            let candidate = word[..<slash] + "/" + name
            if access(candidate, X_OK) == 0 { return candidate }
        }
        fatalError("\(name) is not beside the tests: \(CommandLine.arguments)")
    }

    /// What `make test` has prepared for a lab.
    public static func cache(_ name: String) -> String {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        return "\(root)/.build/labs/\(name)"
    }
}
