internal import DeviceRegistration
internal import MeasurementSync
internal import QualityTests

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
        return RegisteredUploader(registry)
    }
}
