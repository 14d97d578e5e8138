internal import CCurl
internal import MeasurementModel

/// The transfers of one multi handle, on the thread that owns it.
struct CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt64: Transfer] = [:]
    private var ids: [UnsafeMutableRawPointer: UInt64] = [:]

    init(multi: UnsafeMutableRawPointer) { self.multi = multi }

    mutating func start(_ transfer: Transfer) {
        transfers[transfer.id] = transfer
        begin(transfer)
    }

    mutating func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        detach(transfer)
        transfer.fail(CancellationError())
    }

    mutating func failAll(_ error: HTTPError) {
        for transfer in transfers.values {
            detach(transfer)
            transfer.fail(error)
        }
    }

    /// One turn: lets libcurl work, takes what is done, ends what took too long, and waits for the next event.
    mutating func turn() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let id = ids[message.pointee.easy_handle], let transfer = transfers[id] else {
                continue
            }
            exchangeEnded(transfer, message.pointee.data.result)
        }
        let now = MonotonicInstant.now()
        for transfer in transfers.values {
            if let error = transfer.overdue(at: now) {
                detach(transfer)
                transfer.fail(error)
            }
        }
        // A finished exchange may have begun the next one: it is performed at once.
        guard ids.isEmpty == (running == 0) || ids.count == Int(running) else { return }
        let next = transfers.values.map(\.deadline).min()
        let wait = next.map { min(60_000, max(0, ($0 - now).milliseconds + 1)) } ?? 60_000
        curl_multi_poll(multi, nil, 0, Int32(wait), nil)
    }

    private mutating func begin(_ transfer: Transfer) {
        do {
            let easy = try transfer.nextExchange()
            ids[easy] = transfer.id
            curl_multi_add_handle(multi, easy)
        } catch {
            transfers[transfer.id] = nil
            transfer.fail(error)
        }
    }

    private mutating func exchangeEnded(_ transfer: Transfer, _ result: CURLcode) {
        leave(transfer)
        switch transfer.exchangeEnded(result) {
        case .redirected: begin(transfer)
        case .finished: transfers[transfer.id] = nil
        }
    }

    private mutating func detach(_ transfer: Transfer) {
        leave(transfer)
        transfers[transfer.id] = nil
    }

    private mutating func leave(_ transfer: Transfer) {
        guard let easy = transfer.exchange?.easy, ids.removeValue(forKey: easy) != nil else { return }
        curl_multi_remove_handle(multi, easy)
    }
}
