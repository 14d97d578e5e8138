internal import CollectorCore
internal import ExternalCollector
internal import Glibc
internal import MeasurementModel

/// Collectors that were installed as files: programs and libraries in one folder, and their configuration in another.
struct InstalledCollectors {
    /// Programs, and libraries with `.so` behind their name.
    let programs: String
    /// `NAME.conf` for each collector that has one.
    let configurations: String

    init(_ configuration: Configuration) {
        programs = configuration.text("fieldprobe", "collectors-directory") ?? ""
        configurations = configuration.text("fieldprobe", "collectors-configuration") ?? ""
    }

    /// In the order of their names. What must not run is among them, and says why.
    ///
    /// - Parameter taken: names of built-in collectors.
    func entries(besides taken: Set<String>) -> [CollectorEntry] {
        let files = namesInFolder(programs).sorted().filter { !$0.hasPrefix(".") }
        let configured = Set(namesInFolder(configurations).filter { $0.hasSuffix(".conf") }.map { String($0.dropLast(5)) })
        var entries: [CollectorEntry] = []
        var names = taken
        for file in files {
            let path = "\(programs)/\(file)"
            let isLibrary = file.hasSuffix(".so")
            let name = isLibrary ? String(file.dropLast(3)) : file
            guard Self.isFile(path) else { continue }
            let isExecutable = access(path, X_OK) == 0
            // A README that lies beside the programs is no collector.
            guard isLibrary || isExecutable || CollectorDescriptor.isName(name) else { continue }
            guard isLibrary || isExecutable else {
                entries.append(.refused(name, path, "\(path) is not executable: chmod +x \(path)"))
                names.insert(name)
                continue
            }
            entries.append(entry(name, path, isLibrary, &names, isConfigured: configured.contains(name)))
        }
        let found = Set(entries.map(\.name))
        for name in configured.sorted() where !found.contains(name) {
            entries.append(entry(name, nil, false, &names, isConfigured: true))
        }
        return entries.sorted { $0.name < $1.name }
    }

    private func entry(_ name: String, _ path: String?, _ isLibrary: Bool, _ names: inout Set<String>, isConfigured: Bool) -> CollectorEntry
    {
        let file = "\(configurations)/\(name).conf"
        let source = path ?? file
        guard CollectorDescriptor.isName(name) else {
            return .refused(
                Self.shown(name), source, "a collector's file has its name: lower-case words joined with hyphens, and '.so' for a library")
        }
        guard names.insert(name).inserted else { return .refused(name, source, "the name '\(name)' belongs to another collector") }
        var own = CollectorFile()
        do {
            if isConfigured {
                if let problem = FileTrust.problem(with: file) { return .refused(name, file, problem) }
                own = try CollectorFile(reading: file)
            }
            let collector = try own.collector(name, installed: path, isLibrary: isLibrary)
            return CollectorEntry(name: name, collector: collector.collector, source: collector.file, isEnabled: own.isEnabled)
        } catch {
            return .refused(name, file, "\(error)", isEnabled: own.isEnabled)
        }
    }

    /// A regular file, or a link to one.
    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// A name that is none, for a table and a report.
    private static func shown(_ name: String) -> String {
        String(
            decoding: name.utf8.prefix(64).map { octet in
                let isPlain =
                    (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
                    || [UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_")].contains(octet)
                return isPlain ? octet : UInt8(ascii: "?")
            }, as: UTF8.self)
    }
}
