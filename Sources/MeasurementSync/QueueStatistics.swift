internal import CLinux
internal import Glibc
public import MeasurementModel

/// How the queue is doing, over all processes.
public struct QueueStatistics: Sendable, Hashable {
    public var pending = 0
    /// Files aside now.
    public var quarantined = 0
    public var limit = 0
    public var counts = QueueCounts()
    /// When the report was queued that waits longest, and how long ago that is by the wall clock; nil where none waits. It is the one sign
    /// of a device whose reports have stopped arriving without anybody noticing.
    public var oldestQueuedAt: Timestamp?
    public var oldestAge: Duration?
    /// Nil when the last try succeeded.
    public var lastFailure: LastFailure?
    /// Events that observers of this process were too slow for.
    public var missedEvents = 0

    public var json: JSONValue {
        var object: JSONObject = ["pending": .integer(pending), "limit": .integer(limit), "in_quarantine": .integer(quarantined)]
        for field in QueueCounts.fields { object[field.name] = .integer(counts[keyPath: field.path]) }
        object["oldest_queued_at"] = oldestQueuedAt.map { .string($0.description) }
        object["oldest_age_s"] = oldestAge.map { .integer($0.milliseconds / 1000) }
        object["last_failure"] = lastFailure?.json
        return .object(object)
    }
}

/// One report that waits.
public struct PendingReport: Sendable, Hashable {
    public let name: QueuedName
    public let size: Int
    /// On the device's clock.
    public let queuedAt: Timestamp

    public var id: String { name.id }
}

extension MeasurementQueue {
    /// Everything that waits, oldest first.
    public func pending() throws(QueueError) -> [PendingReport] {
        try store.list().names.compactMap { name in
            var facts = stat()
            guard lstat(store.path(name), &facts) == 0 else { return nil }
            let time = Timestamp(milliseconds: Int64(facts.st_mtim.tv_sec) * 1000 + Int64(facts.st_mtim.tv_nsec) / 1_000_000)
            return PendingReport(name: name, size: Int(facts.st_size), queuedAt: time)
        }
    }

    public var statistics: QueueStatistics {
        get throws(QueueError) {
            var statistics = QueueStatistics()
            let pending = try pending()
            statistics.pending = pending.count
            statistics.quarantined = try store.quarantine.list().count
            statistics.limit = store.limit
            statistics.counts = counters.counts
            statistics.missedEvents = hub.missed
            statistics.lastFailure = LastFailure.read(in: store.folder)
            if let oldest = pending.first {
                statistics.oldestQueuedAt = oldest.queuedAt
                statistics.oldestAge = .milliseconds(max(0, Timestamp.now().milliseconds - oldest.queuedAt.milliseconds))
            }
            return statistics
        }
    }

    /// The report as it will be sent.
    ///
    /// - Throws: ``QueueError`` with the code `not_found` where no report with this id waits, or none that can be read.
    public func report(id: String) throws(QueueError) -> JSONValue {
        guard let name = try store.list().names.first(where: { $0.id == id }) else {
            throw QueueError(.notFound, "no report '\(id)' waits: it was sent, or is in quarantine, or never was here")
        }
        guard case .body(let octets) = store.load(name), let json = try? JSONValue(parsing: octets) else {
            throw QueueError(.notFound, "the report '\(id)' cannot be read")
        }
        return json
    }

    // MARK: Quarantine

    /// Everything that was moved aside, oldest first.
    public func quarantined() throws(QueueError) -> [QuarantinedReport] { try store.quarantine.list() }

    /// Puts a report back into the queue, as the newest, to be tried again.
    ///
    /// - Parameter id: of the report, or its file's name in the quarantine.
    public func retryQuarantined(id: String) throws(QueueError) {
        let all = try store.quarantine.list()
        guard let report = all.last(where: { $0.id == id || $0.file == id }) else {
            throw QueueError(.notFound, "there is nothing '\(id)' in quarantine: 'queue quarantine list' shows what there is")
        }
        let path = store.quarantine.path(report)
        let parsed = report.id ?? ReportFile.id(of: path, maximum: store.maximumSize)
        guard let id = parsed, case .body = ReportFile.load(path, id: id, maximum: store.maximumSize) else {
            throw QueueError(.invalidReport, "'\(report.file)' is no report, and would only come back: look at it, and delete it")
        }
        try store.putBack(path, id: id)
        store.quarantine.forget(report)
    }
}
