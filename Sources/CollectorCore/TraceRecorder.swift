internal import Glibc
internal import MeasurementModel
internal import Synchronization

/// Turns what a collector hands over into a trace: declared? permitted? changed? time-stamped. It also keeps the honesty record.
final class TraceRecorder: TraceWriter {
    struct Setting: Sendable {
        var permissions: Permissions
        var clock: any MeasurementClock
        var watch: ClockWatch
        var startedAt: MonotonicInstant
        var clockOffset: Duration?
        var limits = TraceLimits()
        var keepsSnapshots = true
        var observer: TraceObserver?
        /// Whether the calling thread is the collector's own, where a flood may be slowed down.
        var isOwnThread: @Sendable () -> Bool = { false }
    }

    private enum Phase { case open, closing, sealed }

    private struct State {
        var phase = Phase.open
        var record: CollectorRecord
        var snapshots: [Snapshot] = []
        /// Octets that the snapshots take, by estimate.
        var memory = 0
        var last: [FieldValue?]
        var lastOffset = Duration.zero
        var lastCall: MonotonicInstant
        var openGaps: [(reason: String, from: MonotonicInstant)] = []
        var bucket: TokenBucket
        var unavailable = false
    }

    private let descriptor: CollectorDescriptor
    private let setting: Setting
    private let state: Mutex<State>

    init(descriptor: CollectorDescriptor, setting: Setting) {
        self.descriptor = descriptor
        self.setting = setting
        let record = CollectorRecord(name: descriptor.name, version: descriptor.version, trace: descriptor.trace, state: .ok)
        state = Mutex(
            State(
                record: record, last: Array(repeating: nil, count: descriptor.fields.count), lastCall: setting.startedAt,
                bucket: TokenBucket(limits: setting.limits, now: setting.startedAt)))
    }

    @discardableResult
    func record(_ values: [String: FieldValue], at instant: MonotonicInstant?) -> Bool {
        let now = setting.clock.now()
        var check = ValueCheck(permissions: setting.permissions)
        let outcome: Outcome = state.withLock { state in
            switch state.phase {
            case .sealed: return Outcome()
            case .closing where state.record.recorded > 0: return Outcome()
            case .closing, .open: break
            }
            var outcome = Outcome()
            guard admits(&state, now, &outcome) else { return outcome }
            let ordered = check.ordered(values, by: descriptor.fields)
            count(check, in: &state.record)
            if state.unavailable || state.record.state != .ok {
                becomeAvailable(&state)
                outcome.events.append(.state(.ok, reason: nil))
            }
            guard let snapshot = changed(ordered, &state, seenAt: instant ?? now, now: now, &outcome) else {
                state.record.suppressed += 1
                return outcome
            }
            outcome.recorded = true
            outcome.events.append(.snapshot(snapshot))
            return outcome
        }
        tell(outcome)
        return outcome.recorded
    }

    private struct Outcome {
        var recorded = false
        var isFlood = false
        var events: [TraceEvent.Kind] = []
    }

    private func changed(
        _ values: [FieldValue?], _ state: inout State, seenAt: MonotonicInstant, now: MonotonicInstant, _ outcome: inout Outcome
    )
        -> Snapshot?
    {
        guard values.contains(where: { $0 != nil }) else { return nil }
        let isFirst = state.record.recorded == 0
        let fields = descriptor.fields
        let isChange =
            isFirst
            || fields.indices.contains { index in
                fields[index].isChange(from: state.last[index], to: values[index]) { name in
                    guard let other = fields.firstIndex(where: { $0.name == name }) else { return (nil, nil) }
                    return (state.last[other]?.double, values[other]?.double)
                }
            }
        guard isChange else { return nil }
        let memory = setting.keepsSnapshots ? values.reduce(64) { $0 + ($1?.memory ?? 0) } : 0
        guard state.record.recorded < setting.limits.maximumSnapshots, state.memory + memory <= setting.limits.maximumMemory else {
            if let gap = beginGap(StateReason.traceFull.word, &state, now) { outcome.events.append(.gap(gap)) }
            state.record.rejected[StateReason.traceFull.word, default: 0] += 1
            return nil
        }
        setting.watch.look()
        // A moment in the future or before the last snapshot would reorder the trace.
        let offset = max(state.lastOffset, min(seenAt, now) - setting.startedAt)
        let age = now - (setting.startedAt + offset)
        let wall = setting.clock.wall().adding(milliseconds: -age.milliseconds)
        let snapshot = Snapshot(
            clientTime: wall, clientTimeSkewed: setting.clockOffset.map { wall.adding(milliseconds: $0.milliseconds) }, offset: offset,
            fields: zip(fields, values).compactMap { field, value in value.map { Snapshot.Field(name: field.name, value: $0) } })
        state.lastOffset = offset
        state.last = values
        state.record.recorded += 1
        state.memory += memory
        if setting.keepsSnapshots { state.snapshots.append(snapshot) }
        return snapshot
    }

    /// Every call has one budget, whatever it says: a collector must not flood with gaps and states either. Notes what the call itself
    /// means: an end of silence, the begin or end of a flood.
    private func admits(_ state: inout State, _ now: MonotonicInstant, _ outcome: inout Outcome) -> Bool {
        if let gap = noteSilence(&state, now) { outcome.events.append(.gap(gap)) }
        guard state.bucket.take(at: now) else {
            state.record.rejected[StateReason.flood.word, default: 0] += 1
            if let gap = beginGap(StateReason.flood.word, &state, now) { outcome.events.append(.gap(gap)) }
            outcome.isFlood = true
            return false
        }
        if let gap = endGap(StateReason.flood.word, &state, now) { outcome.events.append(.gap(gap)) }
        return true
    }

    private func tell(_ outcome: Outcome) {
        for event in outcome.events { setting.observer?(TraceEvent(trace: descriptor.trace, kind: event)) }
        // A collector that floods is slowed down on its own thread, so that it costs the measurement next to no time.
        if outcome.isFlood, !Task.isCancelled, setting.isOwnThread() { usleep(200) }
    }

    private func count(_ check: ValueCheck, in record: inout CollectorRecord) {
        for reason in check.rejected { reject(reason, 1, &record) }
        for name in check.withheld where !record.withheld.contains(name) { record.withheld.append(name) }
    }

    /// Distinct reasons are bounded, because a hostile collector makes them up.
    private func reject(_ reason: String, _ count: Int, _ record: inout CollectorRecord) {
        let known = record.rejected[reason] != nil || record.rejected.count < 64
        record.rejected[known ? String(reason.prefix(80)) : "other", default: 0] += count
    }

    private func noteSilence(_ state: inout State, _ now: MonotonicInstant) -> CollectorRecord.Gap? {
        defer { state.lastCall = now }
        guard let promised = descriptor.maximumSilence, now - state.lastCall > promised else { return nil }
        return addGap(from: state.lastCall, to: now, StateReason.silent.word, &state)
    }

    // MARK: Gaps and states

    func gap(_ event: GapEvent) {
        let now = setting.clock.now()
        let outcome: Outcome = state.withLock { state in
            var outcome = Outcome()
            guard state.phase != .sealed, admits(&state, now, &outcome) else { return outcome }
            let told: CollectorRecord.Gap? =
                switch event {
                case .began(let reason, let at): beginGap(reason.word, &state, at ?? now)
                case .ended(let reason, let at): endGap(reason.word, &state, at ?? now)
                case .passed(let reason, let from, let to): addGap(from: from, to: to, reason.word, &state)
                }
            if let told { outcome.events.append(.gap(told)) }
            return outcome
        }
        tell(outcome)
    }

    private func beginGap(_ reason: String, _ state: inout State, _ at: MonotonicInstant) -> CollectorRecord.Gap? {
        guard !state.openGaps.contains(where: { $0.reason == reason }) else { return nil }
        // Our own reasons always have their place; what a collector makes up is bounded.
        let isOwn = reason == StateReason.flood.word || reason == StateReason.traceFull.word
        guard isOwn || state.openGaps.count < setting.limits.maximumOpenGaps else {
            state.record.gapsNotListed += 1
            return nil
        }
        let from = max(at, setting.startedAt)
        state.openGaps.append((reason, from))
        return CollectorRecord.Gap(from: from - setting.startedAt, to: nil, reason: reason)
    }

    private func endGap(_ reason: String, _ state: inout State, _ at: MonotonicInstant) -> CollectorRecord.Gap? {
        guard let index = state.openGaps.firstIndex(where: { $0.reason == reason }) else { return nil }
        let open = state.openGaps.remove(at: index)
        return addGap(from: open.from, to: at, reason, &state)
    }

    @discardableResult
    private func addGap(from: MonotonicInstant, to: MonotonicInstant, _ reason: String, _ state: inout State) -> CollectorRecord.Gap {
        let begin = max(from, setting.startedAt)
        let gap = CollectorRecord.Gap(from: begin - setting.startedAt, to: max(begin, to) - setting.startedAt, reason: reason)
        if state.record.gaps.count < setting.limits.maximumGaps {
            state.record.gaps.append(gap)
        } else {
            state.record.gapsNotListed += 1
        }
        return gap
    }

    func unavailable(_ reason: StateReason, detail: String?) { become(.unavailable, reason, detail) }

    func denied(_ reason: StateReason, detail: String?) { become(.denied, reason, detail) }

    private func become(_ new: CollectorRecord.State, _ reason: StateReason, _ detail: String?) {
        let now = setting.clock.now()
        let outcome: Outcome = state.withLock { state in
            var outcome = Outcome()
            guard state.phase != .sealed, admits(&state, now, &outcome) else { return outcome }
            let isNews = state.record.state != new || state.record.reason != reason.word
            state.unavailable = true
            state.record.state = new
            state.record.reason = reason.word
            state.record.detail = detail.map { String($0.prefix(500)) }
            if isNews { outcome.events.append(.state(new, reason: reason.word)) }
            return outcome
        }
        tell(outcome)
    }

    func available() {
        let now = setting.clock.now()
        let outcome: Outcome = state.withLock { state in
            var outcome = Outcome()
            guard state.phase != .sealed, state.unavailable, admits(&state, now, &outcome) else { return outcome }
            becomeAvailable(&state)
            outcome.events.append(.state(.ok, reason: nil))
            return outcome
        }
        tell(outcome)
    }

    private func becomeAvailable(_ state: inout State) {
        state.unavailable = false
        state.record.state = .ok
        state.record.reason = nil
        state.record.detail = nil
    }

    func resynced() {
        state.withLock { if $0.phase != .sealed { $0.record.resyncs += 1 } }
    }

    func rejected(_ reason: String, count: Int) {
        let now = setting.clock.now()
        let outcome: Outcome = state.withLock { state in
            guard state.phase != .sealed else { return Outcome() }
            reject(reason, count, &state.record)
            return Outcome(events: noteSilence(&state, now).map { [.gap($0)] } ?? [])
        }
        tell(outcome)
    }

    func provenance(_ subject: String, _ source: String) {
        state.withLock { state in
            guard state.phase != .sealed, state.record.provenance.count < 64 else { return }
            state.record.provenance[subject] = source
        }
    }

    // MARK: The end

    /// The test has ended: from now on only a first snapshot is taken.
    func close() {
        state.withLock { if $0.phase == .open { $0.phase = .closing } }
    }

    /// Takes nothing more and gives what there is. Gaps that are still open end at the test's end.
    ///
    /// - Parameters:
    ///   - wasRunning: false for a collector that returned before the end: it had nothing more to say, and is not silent.
    ///   - hangs: it did not end: since its last call nobody knows what it would have seen.
    func seal(endedAt end: MonotonicInstant, wasRunning: Bool = true, hangs: Bool = false) -> (
        record: CollectorRecord, snapshots: [Snapshot]
    ) {
        var outcome = Outcome()
        let result = state.withLock { state in
            if state.phase != .sealed {
                state.phase = .sealed
                let lastCall = state.lastCall
                if hangs, lastCall < end {
                    outcome.events.append(.gap(addGap(from: lastCall, to: end, StateReason.hung.word, &state)))
                } else if wasRunning, let gap = noteSilence(&state, max(end, lastCall)) {
                    outcome.events.append(.gap(gap))
                }
                for open in state.openGaps { outcome.events.append(.gap(addGap(from: open.from, to: end, open.reason, &state))) }
                state.openGaps = []
                state.record.gaps.sort { $0.from < $1.from }
                // What was seen before keeps its worth: a trace with snapshots is not "unavailable" as a whole, its gaps tell.
                if state.record.state == .unavailable, state.record.recorded > 0 { becomeAvailable(&state) }
            }
            return (state.record, state.snapshots)
        }
        tell(outcome)
        return result
    }
}
