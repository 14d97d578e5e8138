internal import CCurl
internal import CLinux
internal import Glibc

/// Whose certificates are trusted: the system's, unless a file says otherwise.
struct Trust: Sendable {
    /// A folder in which OpenSSL finds an issuer by its hash (c_rehash(1)).
    private let folder: String?

    /// Debian's bundle holds the same certificates twice: as one file and as a folder by hash. Reading the file takes longer than a
    /// handshake, inside the time that is measured for it; from the folder OpenSSL reads only the issuer that it needs.
    static let system = Trust(folder: "/etc/ssl/certs")

    private init(folder: String) { self.folder = Self.isHashed(folder) ? folder : nil }

    private static func isHashed(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.utf8.count == 10, name.hasSuffix(".0") { return true }
        }
        return false
    }

    func apply(to easy: UnsafeMutableRawPointer, caFile: String?) {
        if let caFile {
            ccurl_set_string(easy, CURLOPT_CAINFO, caFile)
            ccurl_set_string(easy, CURLOPT_CAPATH, nil)
        } else if let folder {
            ccurl_set_string(easy, CURLOPT_CAINFO, nil)
            ccurl_set_string(easy, CURLOPT_CAPATH, folder)
        }
    }
}
