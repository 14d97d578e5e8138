/// What happened in the queue. Observers get every one; the log category `MeasurementQueue` gets them too.
public enum QueueEvent: Sendable, Hashable {
    /// Safely on the disk.
    case enqueued(id: String)
    /// A report could not be queued, and whoever had it was told so.
    case notQueued(id: String, QueueError)
    /// The server has it, and the file is gone.
    case sent(id: String, wasStoredBefore: Bool)
    /// A try failed; the next one comes by itself.
    case failed(id: String, UploadFailure)
    /// The server will never accept it: moved aside.
    case refused(id: String, code: String, detail: String)
    /// No readable report: moved aside.
    case quarantined(file: String, code: String, detail: String)
    /// Lost, because more came than the limit allows.
    case dropped(id: String)
    /// A test runs somewhere on this device. That is no failure.
    case paused
    case resumed
    /// The registration is gone, and so is the queue.
    case cleared(reason: String, reports: Int)
    /// The queue's files cannot be used now. Nothing that was acknowledged is lost by it.
    case trouble(QueueError)
    /// Another process sends for this queue, or it does not any more and this one does.
    case becameUploader(Bool)
}
