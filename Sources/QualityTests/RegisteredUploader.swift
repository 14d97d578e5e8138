public import DeviceRegistration
public import MeasurementSync

/// Sends the queue's reports under this device's registration.
public struct RegisteredUploader: ReportUploader {
    private let api: ClientAPI

    public init(_ registry: Registry) { api = ClientAPI(registry: registry) }

    public func upload(id: String, body: [UInt8]) async -> MeasurementSync.UploadOutcome {
        let compressed = GZip.compress(body)
        do {
            return Self.outcome(try await api.uploadMeasurement(id: id, body: compressed ?? body, gzip: compressed != nil))
        } catch {
            return .retry(after: nil, UploadFailure(code: "interrupted", message: "the upload was broken off", isServerWide: false))
        }
    }

    /// What registration calls it, in the queue's words.
    private static func outcome(_ outcome: DeviceRegistration.UploadOutcome) -> MeasurementSync.UploadOutcome {
        switch outcome {
        case .stored: .accepted
        case .alreadyStored: .alreadyStored
        case .refusedForGood(let problem): .refusedForGood(code: problem.code, detail: problem.detail ?? problem.code)
        case .retry(let error, let after): .retry(after: after, failure(error))
        case .tokenRenewalFailed(let error): .retry(after: nil, failure(error))
        case .dropped(let reason): .deviceDropped(reason: reason.code)
        case .notRegistered: .deviceDropped(reason: "not_registered")
        }
    }

    private static func failure(_ error: RegistryError) -> UploadFailure {
        UploadFailure(code: "\(error.code)", message: error.message, isServerWide: true)
    }
}

extension MeasurementQueue {
    /// Works for a registered device: sends what waits, and is cleared when the registration is lost. An app calls it once for
    /// its registry, when it starts and after it has registered.
    ///
    /// - Throws: ``QueueError`` where the queue cannot be worked on.
    public func serve(_ registry: Registry) throws(QueueError) {
        clearWhenLost(registry)
        if registry.isClientRegistered() { try start(uploader: RegisteredUploader(registry)) }
    }

    /// Is cleared with the registration: what was measured under it belongs to nobody without it. An empty queue has nothing to say.
    public func clearWhenLost(_ registry: Registry) {
        registry.whenLost { [self] loss in
            guard getPendingCount() > 0 || (try? quarantined().isEmpty) == false else { return }
            // What goes wrong is in the queue's own log.
            _ = try? clear(reason: "\(loss.cause)")
        }
    }
}
