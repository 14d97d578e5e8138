import Testing

/// All tests of the server, one after the other: each has a server of its own, and the processors are few.
@Suite(.serialized) struct ServerSuites {}
