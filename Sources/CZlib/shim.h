// deflateInit2 and inflateInit2 are macros that add the header's version and the size of its structure.
#pragma once
#include <zlib.h>

/// An encoder for gzip (RFC 1952).
static inline int zlibshim_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

/// A decoder for one gzip member (not for zlib's own format).
static inline int czlib_inflate_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }
