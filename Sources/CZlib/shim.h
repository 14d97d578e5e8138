// inflateInit2 and deflateInit2 are macros that add the header's version and the size of its structure.
#pragma once
#include <zlib.h>

/// A decoder for one gzip member (not for zlib's own format).
static inline int czlib_inflate_gzip(z_stream *stream) { return inflateInit2(stream, 16 + MAX_WBITS); }
