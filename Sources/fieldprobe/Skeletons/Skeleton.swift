/// A collector to begin with: files that work as they are, and are meant to be changed.
struct Skeleton: Sendable {
    enum Language: String, CaseIterable, Sendable {
        case swift, c, python, sh
    }

    struct File: Sendable {
        /// Below the collector's folder.
        let path: String
        let text: String
        var isExecutable = false
        let about: String
    }

    /// Lower-case words joined with hyphens.
    let name: String
    let language: Language
    /// Where a Swift collector finds this package: a folder or an address.
    var package = placeholder

    /// Where many have it: a clone beside the collector's folder.
    static let placeholder = "../FieldProbe"

    /// Why it cannot be the name of a collector, in words; nil when it can.
    static func problem(ofName name: String, language: Language) -> String? {
        let words = name.split(separator: "-", omittingEmptySubsequences: false)
        let isWord = words.allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
        }
        guard isWord, let first = name.utf8.first, (0x61...0x7A).contains(first) else {
            return "'\(name)' is not lower-case words joined with hyphens, such as 'fan-speed'"
        }
        // With what is added, also the trace key has to stay within 64 characters.
        guard name.utf8.count <= 58 else { return "'\(name)' has more than 58 characters" }
        guard name != "test" else { return "'test' is what its test will be called" }
        if language == .swift, takenModules.contains(typeName(name)) {
            return "'\(name)' would become the module \(typeName(name)), and there is one"
        }
        return nil
    }

    /// Modules that a Swift collector or its test imports, or that they are made of.
    private static let takenModules: Set<String> = [
        "Swift", "Testing", "Glibc", "Foundation", "Dispatch", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog",
        "CLinux", "Synchronization",
    ]

    /// `fan-speed` as `FanSpeed`.
    private static func typeName(_ name: String) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    var files: [File] {
        switch language {
        case .swift: SwiftSkeleton.files
        case .c: CSkeleton.files
        case .python: PythonSkeleton.files
        case .sh: ShellSkeleton.files
        }
    }

    /// What to do next in its folder.
    var nextCommands: [String] {
        switch language {
        case .swift: ["swift test"]
        case .c: ["make test", "fieldprobe watch --with ./\(name).so"]
        case .python, .sh: ["./test", "fieldprobe watch --with ./\(name)"]
        }
    }

    /// A template with this collector's names in it.
    func filled(_ template: String) -> String {
        var text = template
        for (word, value) in [
            ("@NAME@", name), ("@TRACE@", name.replacing("-", with: "_") + "_trace"), ("@TYPE@", Self.typeName(name)),
            ("@DEPENDENCY@", dependency), ("@IDENTITY@", packageIdentity),
        ] {
            text = text.replacing(word, with: value)
        }
        return text
    }

    private var dependency: String {
        let quoted = package.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return package.contains("://") ? ".package(url: \"\(quoted)\", branch: \"main\")" : ".package(path: \"\(quoted)\")"
    }

    /// By which the package manager knows it: the last part of its path or address.
    private var packageIdentity: String {
        let last = package.split(separator: "/").last.map(String.init) ?? package
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }
}
