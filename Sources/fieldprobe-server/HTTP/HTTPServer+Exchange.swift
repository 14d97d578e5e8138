internal import CMicroHTTPD
internal import MeasurementModel
internal import ProbeLog
internal import Synchronization

/// One exchange, step by step. All but ``run(_:)`` is called on the HTTP library's threads, and none of it waits.
extension HTTPServer {
    /// What a refused body may still bring before the connection is cut: a client that sends first and reads later sees the answer then.
    private static let patienceForRefused = 64 << 20

    /// The head is there.
    func begin(_ exchange: Exchange, _ method: String, _ headers: ServerRequest.Headers, _ address: IPAddress?) -> MHD_Result {
        let announced = headers["content-length"].flatMap { Int($0) }
        let refusal = exchange.state.withLock { state -> ServerResponse? in
            state.phase = .receiving
            state.beganAt = MonotonicInstant.now().nanoseconds
            do {
                if ServerRequest.isAmbiguous(headers) {
                    state.closes = true
                    throw Problem(.invalidRequest, "The request has more than one length.")
                }
                let target = RequestTarget(exchange.target)
                let (route, parameters) = try router.find(method, target)
                state.route = route
                let request = ServerRequest(
                    method: route.method, target: target!, parameters: parameters, headers: headers,
                    peer: Peer.name(address, headers, proxy: settings.proxy),
                    isSecure: settings.isSecure)
                state.request = request
                if let announced, announced > route.bodyLimit { throw Problem(route.tooLarge) }
                try route.admit(request)
                return nil
            } catch {
                state.response = response(to: error)
                return state.response
            }
        }
        connections.expect(exchange.connection.id, octets: min(announced ?? Self.patienceForRefused, Self.patienceForRefused))
        // The client waits for the word to send: it gets the refusal instead.
        if refusal != nil, headers["expect"] != nil || (announced ?? 0) > Self.patienceForRefused { return answer(exchange) }
        return .YES
    }

    func receive(_ exchange: Exchange, _ octets: UnsafeRawBufferPointer) -> MHD_Result {
        exchange.state.withLock { state in
            state.received += octets.count
            if state.response != nil { return state.received <= Self.patienceForRefused ? .YES : .NO }
            guard let route = state.route, state.received <= route.bodyLimit else {
                refuse(&state, Problem(state.route?.tooLarge ?? .requestTooLarge))
                return .YES
            }
            guard bodies.take(octets.count) else {
                refuse(&state, Problem(.serverBusy, retryAfter: 10))
                return .YES
            }
            state.reserved += octets.count
            state.body.append(contentsOf: octets)
            return .YES
        }
    }

    private func refuse(_ state: inout Exchange.State, _ problem: Problem) {
        state.response = problem.response
        bodies.give(state.reserved)
        state.reserved = 0
        state.body = []
    }

    /// The whole request is there: it goes to its lane, unless it was refused before.
    func work(_ exchange: Exchange) -> MHD_Result {
        let lane = exchange.state.withLock { state -> Route.Lane? in
            guard state.response == nil else { return nil }
            state.phase = .working
            return state.route?.lane
        }
        guard let lane else { return answer(exchange) }
        connections.suspend(exchange.connection.id)
        exchange.connection.suspend()
        let isTaken = lanes[lane]!.enqueue { [self] in run(exchange) }
        if !isTaken {
            exchange.state.withLock { $0.response = .problem(.serverBusy, retryAfter: 5) }
            exchange.connection.resume()
        }
        return .YES
    }

    /// On a lane's thread.
    private func run(_ exchange: Exchange) {
        let (route, request) = exchange.state.withLock { state -> (Route?, ServerRequest?) in
            var request = state.request
            state.request = nil
            request?.body = state.body
            state.body = []
            return (state.route, request)
        }
        if let route, let request {
            let response: ServerResponse
            do { response = try route.handle(request) } catch { response = self.response(to: error) }
            exchange.state.withLock { $0.response = response }
        }
        exchange.connection.resume()
    }

    func answer(_ exchange: Exchange) -> MHD_Result {
        let (response, route, beganAt, closes) = exchange.state.withLock { state in
            let response = state.response
            if response != nil { state.phase = .answered }
            return (response, state.route, state.beganAt, state.closes)
        }
        // Called once more before its job is done: nothing to do yet.
        guard let response else { return .YES }
        connections.expect(exchange.connection.id, octets: response.body.count)
        log.info(
            "request", ("route", route?.name ?? "none"), ("status", String(response.status)),
            ("ms", String((MonotonicInstant.now().nanoseconds - beganAt) / 1_000_000)))
        return exchange.connection.send(response, closes: closes || closesConnections)
    }

    func ended(_ exchange: Exchange) {
        let reserved = exchange.state.withLock { state in
            let reserved = state.reserved
            state.reserved = 0
            state.body = []
            return reserved
        }
        bodies.give(reserved)
        // Until the next head is complete.
        connections.expect(exchange.connection.id, octets: 0)
        exchangeEnded()
    }

    private func response(to error: any Error) -> ServerResponse {
        switch error {
        case let problem as Problem: return problem.response
        case let error as DatabaseError where error.isFull:
            log.error("the database cannot grow", ("reason", error.description))
            return .problem(.storageFull, retryAfter: 60)
        case let error as DatabaseError where error.isBusy:
            log.warning("the database is locked by another process")
            return .problem(.serverBusy, retryAfter: 10)
        default:
            log.error("a request failed", ("reason", "\(error)"))
            return .problem(.internalError)
        }
    }
}
