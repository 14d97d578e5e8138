internal import CZlib

/// Unpacks one gzip member (RFC 1952), never into more than a limit.
enum Gzip {
    enum Fault: Error { case tooLarge, damaged }

    static func inflate(_ packed: [UInt8], limit: Int) throws(Fault) -> [UInt8] {
        var stream = z_stream()
        guard czlib_inflate_gzip(&stream) == Z_OK else { throw .damaged }
        defer { inflateEnd(&stream) }
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        var input = packed
        let status = input.withUnsafeMutableBufferPointer { input -> Int32 in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            var status = Z_OK
            while status == Z_OK {
                let produced = chunk.withUnsafeMutableBufferPointer { chunk -> Int in
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = UInt32(chunk.count)
                    status = CZlib.inflate(&stream, Z_NO_FLUSH)
                    return chunk.count - Int(stream.avail_out)
                }
                guard output.count + produced <= limit else { return Z_MEM_ERROR }
                output += chunk[..<produced]
            }
            return status
        }
        if status == Z_MEM_ERROR { throw .tooLarge }
        // Nothing may follow the member: what is stored is exactly what was checked.
        guard status == Z_STREAM_END, stream.avail_in == 0 else { throw .damaged }
        return output
    }
}
