#include "CSanitizer.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif

#ifdef UNDER_TSAN
int csanitizer_is_thread(void) { return 1; }

// ThreadSanitizer sees no lock in Synchronization's Mutex on Linux: it is a futex inside a library that is not instrumented, so that
// any two threads that only ever meet under one look like a race (a correct program of fifteen lines shows it, with Swift 6.3).
// What runs under such a lock are closures that give a result `sending` (YT) and do not escape (XE fU), which their symbols say. Everything else is still reported.
__attribute__((disable_sanitizer_instrumentation)) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:YTXEfU\n"; }
#else
int csanitizer_is_thread(void) { return 0; }
#endif
