internal import CZlib

/// A report in the form of `Content-Encoding: gzip` (RFC 1952): traces repeat their names in each snapshot and shrink to a tenth.
public enum GZip {
    /// - Returns: nil when zlib has no memory; the report then goes as it is.
    public static func compress(_ octets: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard zlibshim_gzip_init(&stream, Z_DEFAULT_COMPRESSION) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(octets.count))))
        let capacity = output.count
        let status = octets.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { room in
                // zlib's type lacks const; it does not write to its input.
                stream.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.avail_in = UInt32(input.count)
                stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
                stream.avail_out = UInt32(capacity)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        output.removeLast(Int(stream.avail_out))
        return output
    }
}
