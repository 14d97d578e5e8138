/// The asynchronous calls for callers without concurrency, as on the mobile platforms. Each handler is called once, on no particular thread.
extension Registry {
    /// ``registerClient(registrationKey:label:tags:force:)`` with a completion handler.
    public func registerClient(
        registrationKey: String, label: String? = nil, tags: [String] = [], force: Bool = false,
        completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        Self.call(completion) {
            try await self.registerClient(registrationKey: registrationKey, label: label, tags: tags, force: force)
        }
    }

    /// ``authenticate(adopt:)`` with a completion handler.
    public func authenticate(adopt: Bool = false, completion: @escaping @Sendable (Result<AccessToken, any Error>) -> Void) {
        Self.call(completion) { try await self.authenticate(adopt: adopt) }
    }

    /// ``unregisterClient()`` with a completion handler.
    public func unregisterClient(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        Self.call(completion) { try await self.unregisterClient() }
    }

    private static func call<Value: Sendable>(
        _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void, _ body: @escaping @Sendable () async throws -> Value
    ) {
        Task.detached {
            do {
                completion(.success(try await body()))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
