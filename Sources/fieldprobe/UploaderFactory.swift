internal import DeviceRegistration
internal import MeasurementSync

/// The one place that makes the queue and its way to the server from the configuration.
enum UploaderFactory {
    static func queue(_ configuration: Configuration) -> MeasurementQueue {
        var settings = MeasurementQueue.Settings()
        settings.limit = configuration.text("queue", "limit").flatMap { Int($0) } ?? settings.limit
        settings.retryInterval =
            configuration.text("queue", "retry-interval").flatMap(ConfigurationValue.duration) ?? settings.retryInterval
        return MeasurementQueue(stateDirectory: configuration.stateDirectory, settings: settings, logger: TestOptions.logger)
    }

    /// - Returns: nil where this device has no server or is not registered with it.
    static func uploader(_ configuration: Configuration) throws -> (any ReportUploader)? {
        guard configuration.apiEndpoint != nil else { return nil }
        let registry = try Registration.registry(configuration)
        guard registry.isClientRegistered() else { return nil }
        return RegisteredUploader(api: ClientAPI(registry: registry))
    }
}

/// Sends the queue's reports under this device's registration.
struct RegisteredUploader: ReportUploader {
    let api: ClientAPI

    func upload(id: String, body: [UInt8]) async -> MeasurementSync.UploadOutcome {
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
