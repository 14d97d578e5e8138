// zlib for compressed uploads. deflateInit2 is a macro over deflateInit2_ that passes the version and the size of the structure.
#pragma once
#include <zlib.h>

static inline int zlibshim_gzip_init(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
