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
    static func uploader(_ configuration: Configuration) throws -> (any ReportUploader)? { nil }
}
