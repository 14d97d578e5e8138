import HTTPTransport
import LabSupport
import Testing

/// Cancelling at any moment ends the request at once and leaves nothing behind.
@Suite struct CancellationTests {
    @Test func aCancelledRequestThrowsAtOnce() async throws {
        try await LoopbackServer.run { connection in
            connection.hang()
        } test: { server in
            try await withClient { client in
                let task = Task { try await client.send(HTTPRequest(server.url)) }
                while server.connections < 1 { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                let cancelledBefore = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await client.send(HTTPRequest(server.url))
                }
                await #expect(throws: CancellationError.self) { try await cancelledBefore.value }
            }
        }
    }

    /// A cancellation that meets a completion is where clients deadlock: three thousand of them at random moments, in order and at once.
    @Test(.timeLimit(.minutes(3))) func threeThousandRandomCancellations() async throws {
        try await LoopbackServer.run { connection in
            while connection.readRequest() != nil, connection.respond(body: "ok") {}
        } test: { server in
            try await withClient { client in
                let ended = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            var random = SystemRandomNumberGenerator()
                            var ended = 0
                            for _ in 0..<375 {
                                let task = Task { try await client.send(HTTPRequest(server.url)) }
                                let pause = UInt64.random(in: 0...600, using: &random)
                                if pause > 50 { try await Task.sleep(for: .microseconds(pause)) }
                                task.cancel()
                                _ = await task.result
                                ended += 1
                            }
                            return ended
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(ended == 3000)
                let response = try await client.send(HTTPRequest(server.url))
                #expect(response.status == 200)
            }
        }
    }

    @Test func clientsLeaveNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { connection in
                while connection.readRequest() != nil, connection.respond(body: "ok") {}
            }
            // The first client initialises libraries that keep what they open.
            try await withClient { _ = try await $0.send(HTTPRequest(server.url)) }
            server.stop()
            let before = ProcessCounts.now()
            for _ in 0..<200 {
                let server = try LoopbackServer { connection in
                    while connection.readRequest() != nil, connection.respond(body: "ok") {}
                }
                try await withClient { _ = try await $0.send(HTTPRequest(server.url)) }
                server.stop()
            }
            let after = ProcessCounts.now()
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(!ProcessCounts.threadNames().contains("http"))
        }
    }
}
