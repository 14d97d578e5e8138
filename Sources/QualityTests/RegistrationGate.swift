public import CollectorCore
public import DeviceRegistration
public import MeasurementModel
public import MeasurementSync

/// The gate of a registered device: tests run while the server's confirmation lasts, and within the capability.
public struct RegistrationGate: TestGate {
    private let registry: Registry

    public init(_ registry: Registry) { self.registry = registry }

    /// - Throws: ``TestRefusal`` where the device was never registered, its confirmation has run out or its capability says no; `RegistryError`
    ///   where the server has dropped the device or the state files cannot be used.
    public func admit(_ kind: TestKind) throws -> TestAdmission {
        let confirmation: RegistrationConfirmation
        do {
            confirmation = try registry.confirmation()
        } catch {
            switch error.code {
            case .notRegistered: throw TestRefusal.notRegistered
            case .confirmationExpired: throw TestRefusal.confirmationExpired
            default: throw error
            }
        }
        guard confirmation.capability?.allows(kind) ?? true else { throw TestRefusal.forbidden(kind) }
        return TestAdmission(
            client: Report.Client(uuid: confirmation.clientUUID, label: confirmation.label, tags: confirmation.tags),
            clockOffset: confirmation.clockOffset, left: confirmation.left)
    }
}

extension QualityTest {
    /// A test that the device's registration has to let run.
    ///
    /// - Parameters:
    ///   - type: of the test, such as `WEB`.
    ///   - subject: of the test, such as `website`.
    ///   - registry: asked now and when the test starts; nothing is sent.
    ///   - target: host name or address that is measured against; nil where there is none.
    ///   - collectors: what is recorded beside the measurement.
    ///   - permissions: what the collectors may see. Nothing, unless it is granted here.
    ///   - queue: is silent while the test runs, and takes its report. Nil leaves `settings.activity` as it is.
    ///   - settings: limits, listener, and where the report goes.
    /// - Throws: ``TestRefusal`` or `RegistryError`, which say what to do.
    public convenience init(
        type: String, subject: String, registry: Registry, target: String? = nil, collectors: [any Collector] = [],
        permissions: Permissions = .none, queue: MeasurementQueue? = nil, settings: Settings = Settings()
    ) throws {
        var settings = settings
        if let queue { settings.activity = QueueActivity(queue) }
        try self.init(
            type: type, subject: subject, gate: RegistrationGate(registry), target: target, collectors: collectors,
            permissions: permissions, settings: settings)
    }
}
