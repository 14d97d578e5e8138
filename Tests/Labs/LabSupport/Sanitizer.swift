internal import CSanitizer

/// Whether this process runs under ThreadSanitizer, which now and then stops it for seconds to look up symbols.
public let isThreadSanitized = csanitizer_is_thread() != 0
