public import CollectorCore
internal import MeasurementModel

/// Records every valid, precise position that gpsd delivers while a test runs, as `geolocation_trace`.
///
/// It needs the permission for precise location: without it the host does not start it, and no socket is opened. It never records an
/// approximate, old or guessed position; where there is none the trace stays empty, and its gaps say why: `gpsd_away`, `no_device`,
/// `receiver_silent`, `no_fix`, `fix_refused`. gpsd may be missing, restarted or silent at any time: the collector comes back by itself,
/// and neither delays the test's start nor its end.
///
/// What counts as a valid, precise fix is written down in `docs/decisions/0003-gpsd-fixes.md`.
public struct GeolocationCollector: Collector {
    public let descriptor: CollectorDescriptor
    private let settings: GeolocationSettings
    private let timing: Timing

    public init(settings: GeolocationSettings = .init()) { self.init(settings: settings, timing: Timing()) }

    init(settings: GeolocationSettings, timing: Timing) {
        self.settings = settings
        self.timing = timing
        descriptor = CollectorDescriptor(
            name: "geolocation", version: "1.0", trace: "geolocation_trace",
            fields: GeolocationFields.declarations(minimumDistance: settings.minimumDistance), requires: [.preciseLocation],
            maximumSilence: timing.heartbeat * 3, about: "Where the probe was, by gpsd")
    }

    public func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
        var loop = CollectionLoop(settings: settings, timing: timing, trace: trace, session: session)
        loop.run()
    }
}
