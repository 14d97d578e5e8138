import CollectorCore
import CollectorTestKit
import ConnectionDetail
import Geolocation
import LabSupport
import MeasurementModel
import Neighbours
import Testing

extension KitTests {
    /// every built-in collector conforms. The tests are here and not beside their collectors, because nothing else may run meanwhile.
    @Suite struct BuiltInTests {
        /// - Parameter observation: long enough for the first news of what the collector watches.
        private static func settings(observation: Duration) -> CollectorConformance.Settings {
            var settings = CollectorConformance.Settings.short()
            settings.observation = observation
            settings.targetHost = "203.0.113.9"
            return settings
        }

        @Test("R-50 connection-detail conforms, with a path and without one", arguments: [true, false])
        func connectionDetail(hasPath: Bool) async throws {
            let verdict = try await NetworkNamespace.run { namespace in
                if hasPath {
                    try namespace.veth("d0", peer: "p0")
                    try namespace.ip("addr add 192.0.2.2/24 dev d0")
                    try namespace.ip("route add default via 192.0.2.1")
                }
                let conformance = CollectorConformance(ConnectionDetailCollector(), settings: Self.settings(observation: .seconds(1)))
                return namespace.wait { await conformance.run() }
            }
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict[.records]?.outcome == .passed && verdict[.values]?.outcome == .passed, "\(verdict.text)")
        }

        @Test("R-50 neighbours conforms, with a path and without one", arguments: [true, false])
        func neighbours(hasPath: Bool) async throws {
            let verdict = try await NetworkNamespace.run { namespace in
                if hasPath {
                    try namespace.veth("d0", peer: "p0")
                    try namespace.ip("addr add 192.0.2.2/24 dev d0")
                    try namespace.ip("route add default via 192.0.2.1")
                    try namespace.ip("neigh add 192.0.2.1 lladdr 02:00:00:00:00:01 nud permanent dev d0")
                }
                let conformance = CollectorConformance(NeighboursCollector(), settings: Self.settings(observation: .seconds(1)))
                return namespace.wait { await conformance.run() }
            }
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict[.records]?.outcome == .passed, "\(verdict.text)")
        }

        @Test("R-50 geolocation conforms with a gpsd that has fixes")
        func geolocation() async throws {
            try await GPSDLab.run { lab in
                try lab.feed("move:3600,speed=20,rate=10")
                let collector = GeolocationCollector(settings: GeolocationSettings(port: "\(lab.port)"))
                let verdict = await CollectorConformance(collector, settings: Self.settings(observation: .seconds(4))).run()
                #expect(verdict.isConforming, "\(verdict)")
                #expect(verdict[.values]?.outcome == .passed && verdict[.timeStamps]?.outcome == .passed, "\(verdict.text)")
            }
        }

        @Test("R-50 geolocation conforms without gpsd: it says that there is none")
        func withoutDaemon() async throws {
            let collector = GeolocationCollector(settings: GeolocationSettings(port: "\(try LoopbackPort.pick())"))
            let verdict = await CollectorConformance(collector, settings: Self.settings(observation: .seconds(1))).run()
            #expect(verdict.isConforming, "\(verdict)")
            #expect(verdict[.records]?.figures?.hasPrefix("'unavailable' (no_daemon") == true, "\(verdict.text)")
        }
    }
}
