// The ABI is a header and nothing else. This file lets a compiler see that it stands by itself.
#include "fieldprobe_collector.h"

_Static_assert(offsetof(fieldprobe_collector, size) == 0 && offsetof(fieldprobe_collector, abi) == 4, "size and version come first");
_Static_assert(offsetof(fieldprobe_host, size) == 0 && offsetof(fieldprobe_host, abi) == 4, "size and version come first");
_Static_assert(offsetof(fieldprobe_session, size) == 0 && offsetof(fieldprobe_session, abi) == 4, "size and version come first");
