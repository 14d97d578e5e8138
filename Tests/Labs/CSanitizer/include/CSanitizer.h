// What ThreadSanitizer has to know about Swift. In C, because it asks before an instrumented function may run, and Swift has no way to
// leave one uninstrumented.
#pragma once

/// Whether this process runs under ThreadSanitizer, which now and then stops it for seconds to look up symbols. 1 or 0.
int csanitizer_is_thread(void);
