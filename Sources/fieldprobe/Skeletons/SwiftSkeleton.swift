/// A collector in Swift, as a package: it is linked into an app that runs its measurement inside a test.
enum SwiftSkeleton {
    static let files = [
        Skeleton.File(path: "Package.swift", text: package, about: "the package, and where it finds FieldProbe"),
        Skeleton.File(path: "Sources/@TYPE@/@TYPE@Collector.swift", text: collector, about: "the collector"),
        Skeleton.File(path: "Tests/@TYPE@Tests/@TYPE@CollectorTests.swift", text: test, about: "its test"),
        Skeleton.File(path: "README.md", text: readme, about: "how it gets into an app"),
    ]

    private static let package = #"""
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "@NAME@",
            products: [.library(name: "@TYPE@", targets: ["@TYPE@"])],
            dependencies: [
                // Where FieldProbe is: a folder with its sources, or .package(url: ADDRESS, from: VERSION).
                @DEPENDENCY@
            ],
            targets: [
                .target(name: "@TYPE@", dependencies: [.product(name: "CollectorCore", package: "@IDENTITY@")]),
                .testTarget(
                    name: "@TYPE@Tests",
                    dependencies: [
                        "@TYPE@", .product(name: "CollectorCore", package: "@IDENTITY@"),
                        .product(name: "CollectorTestKit", package: "@IDENTITY@"),
                    ]),
            ]
        )

        """#

    private static let collector = #"""
        import CollectorCore
        import Glibc
        import MeasurementModel

        /// Records the load of the machine. Replace the field and what is read by your own.
        public struct @TYPE@Collector: Collector {
            /// Everything that can ever be recorded: what is not declared is dropped.
            public let descriptor = CollectorDescriptor(
                name: "@NAME@", version: "0.1", trace: "@TRACE@",
                fields: [
                    .number(
                        "load", privacy: .performanceData, changes: .by(0.5), about: "Processes that run or want to, over one minute")
                ],
                about: "The load of the machine")

            private let interval: Duration

            public init(interval: Duration = .seconds(1)) { self.interval = interval }

            /// Lives as long as the test, on a thread of its own, so it may block here. What belongs to one test lives inside the call.
            public func collect(into trace: some TraceWriter, during session: CollectionSession) async throws {
                // The first reading at once, so that also the shortest test has one.
                repeat {
                    if let load = Self.load() {
                        // Every reading is said: the recorder decides whether something has changed.
                        trace.record(["load": .number(load)])
                    } else {
                        // What is not there is a state and no error: it is told, not thrown.
                        trace.unavailable("no_reading", detail: "the load cannot be read")
                    }
                    // Never sleep: this wait ends with the test.
                } while !session.wait(until: session.clock.now() + interval).isCancelled
            }

            /// getloadavg(3). Nil where it is not known: what is not known is left out, never zero.
            static func load() -> Double? {
                var average = 0.0
                return getloadavg(&average, 1) == 1 ? average : nil
            }
        }

        """#

    private static let test = #"""
        import CollectorCore
        import CollectorTestKit
        import MeasurementModel
        import Testing

        import @TYPE@

        struct @TYPE@CollectorTests {
            @Test("Its values are plausible, and also the shortest test has one")
            func values() async throws {
                let run = CollectorHost(collectors: [@TYPE@Collector()]).start(kind: TestKind(type: "NETWORK", subject: "ping"))
                let outcome = await run.finish()
                #expect(outcome.records[0].state == .ok)
                let load = try #require(outcome.traces[0].snapshots.first?["load"]?.double)
                #expect((0..<100_000).contains(load))
            }

            @Test("It keeps the contract of collectors")
            func conforms() async {
                let verdict = await CollectorConformance(@TYPE@Collector()).run()
                #expect(verdict.isConforming, "\(verdict)")
            }
        }

        """#

    private static let readme = #"""
        # @NAME@

        A collector for FieldProbe: it records `@TRACE@` beside a network-quality test. `swift test` tests it.

        A Swift collector runs in the process of the app that measures. In the app's `Package.swift`:

            dependencies: [.package(path: "../@NAME@"), ...],
            targets: [.executableTarget(name: "App", dependencies: [
                .product(name: "@TYPE@", package: "@NAME@"), .product(name: "FieldProbe", package: "@IDENTITY@"),
            ])]

        and where the app makes its test:

            import FieldProbe
            import @TYPE@

            let test = try QualityTest(
                type: "WEB", subject: "website", registry: registry, target: "server.example",
                collectors: [ConnectionDetailCollector(), @TYPE@Collector()])

        The command `fieldprobe` runs collectors that are programs or shared libraries: `fieldprobe collectors new` writes those too.

        """#
}
