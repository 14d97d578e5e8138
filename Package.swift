// swift-tools-version: 6.2
import PackageDescription

/// Every target builds in Swift 6 mode, with the upcoming features on and with warnings as errors.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "FieldProbe",
    products: [
        // With the modules that it re-exports: what they offer is its API, and .ci/api compares the modules of products.
        .library(
            name: "FieldProbe",
            targets: [
                "FieldProbe", "CollectorCore", "ConnectionDetail", "DeviceRegistration", "ExternalCollector", "Geolocation",
                "HTTPTransport", "MeasurementModel", "MeasurementSync", "Neighbours", "ProbeLog", "QualityTests",
            ]),
        .library(name: "CollectorCore", targets: ["CollectorCore", "MeasurementModel", "ProbeLog"]),
        .library(name: "CollectorTestKit", targets: ["CollectorTestKit"]),
        .executable(name: "fieldprobe", targets: ["fieldprobe"]),
        .executable(name: "fieldprobe-server", targets: ["fieldprobe-server"]),
        .executable(name: "fieldprobe-collector-host", targets: ["fieldprobe-collector-host"]),
    ],
    targets: [
        // Layer 0: the C libraries, each behind one module map and one shim header.
        .target(name: "CLinux"),
        .systemLibrary(
            name: "CNetlink", pkgConfig: "libnl-genl-3.0 libnl-route-3.0",
            providers: [.apt(["libnl-genl-3-dev", "libnl-route-3-dev"])]),
        .systemLibrary(name: "CGPSD", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        // What collectors in other languages include.
        .target(name: "CCollectorABI"),

        // Layer 0: words shared by everything above.
        .target(name: "MeasurementModel", dependencies: ["CLinux"], swiftSettings: strict),
        .target(name: "ProbeLog", dependencies: ["CLinux"], swiftSettings: strict),

        // Layer 1: what collectors are made of.
        .target(
            name: "CollectorCore", dependencies: ["CLinux", "MeasurementModel", "ProbeLog"], swiftSettings: strict),
        .target(name: "Netlink", dependencies: ["CLinux", "CNetlink", "MeasurementModel"], swiftSettings: strict),
        .target(name: "HTTPTransport", dependencies: ["CLinux", "CCurl", "MeasurementModel"], swiftSettings: strict),

        // Layer 2: the collectors themselves, the kit that tests them, and the device's side of the server.
        .target(
            name: "ConnectionDetail",
            dependencies: ["CLinux", "CNetlink", "CSystemd", "MeasurementModel", "ProbeLog", "CollectorCore", "Netlink"],
            path: "Plugins/ConnectionDetail", swiftSettings: strict),
        .target(
            name: "Geolocation",
            dependencies: ["CLinux", "CGPSD", "MeasurementModel", "ProbeLog", "CollectorCore"],
            path: "Plugins/Geolocation", swiftSettings: strict),
        .target(
            name: "Neighbours", dependencies: ["CLinux", "CNetlink", "MeasurementModel", "ProbeLog", "CollectorCore", "Netlink"],
            path: "Plugins/Neighbours", exclude: ["README.md"], swiftSettings: strict),
        .target(
            name: "CollectorTestKit", dependencies: ["CLinux", "MeasurementModel", "ProbeLog", "CollectorCore", "ExternalCollector"],
            swiftSettings: strict),

        .target(
            name: "ExternalCollector", dependencies: ["CLinux", "MeasurementModel", "ProbeLog", "CollectorCore"], swiftSettings: strict),

        .target(
            name: "DeviceRegistration",
            dependencies: ["CLinux", "COpenSSL", "MeasurementModel", "ProbeLog", "CollectorCore", "HTTPTransport"],
            swiftSettings: strict),
        // Layer 2: what gets finished reports to the server.
        .target(
            name: "MeasurementSync", dependencies: ["CLinux", "CZlib", "MeasurementModel", "ProbeLog"], swiftSettings: strict),

        // Layer 3: tests as sessions, and the umbrella that an app imports.
        .target(
            name: "QualityTests",
            dependencies: [
                "CLinux", "MeasurementModel", "ProbeLog", "CollectorCore", "HTTPTransport", "DeviceRegistration", "MeasurementSync",
            ],
            swiftSettings: strict),
        .target(
            name: "FieldProbe",
            dependencies: [
                "MeasurementModel", "ProbeLog", "CollectorCore", "ExternalCollector", "HTTPTransport", "ConnectionDetail", "Geolocation",
                "Neighbours", "DeviceRegistration", "MeasurementSync", "QualityTests",
            ],
            swiftSettings: strict),

        // Layer 4: what a probe runs.
        .executableTarget(
            name: "fieldprobe",
            dependencies: [
                "CLinux", "CSystemd", "MeasurementModel", "ProbeLog", "CollectorCore", "ConnectionDetail", "Geolocation", "Neighbours",
                "Netlink", "ExternalCollector", "CollectorTestKit", "HTTPTransport", "DeviceRegistration", "MeasurementSync",
                "QualityTests",
                // Not linked in, but wanted wherever this program is built: it starts the foreign collectors.
                "fieldprobe-collector-host",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "fieldprobe-server",
            dependencies: [
                "CLinux", "CSystemd", "COpenSSL", "CSQLite", "CMicroHTTPD", "CZlib", "MeasurementModel", "ProbeLog",
            ],
            exclude: ["Packaging"], swiftSettings: strict),

        // What stands between fieldprobe and a collector that is somebody else's code: in C, so that such a process is small.
        .executableTarget(name: "fieldprobe-collector-host", dependencies: ["CCollectorABI", "CJansson"]),

        // Labs: what tests need of the outside world, built on the machine itself.
        .target(name: "CSanitizer", path: "Tests/Labs/CSanitizer"),
        .target(
            name: "LabSupport", dependencies: ["CLinux", "CSanitizer", "MeasurementModel"], path: "Tests/Labs/LabSupport",
            swiftSettings: strict),

        // Apart from LabSupport, because OpenSSL's headers bring types of the C library along that its files could then not tell apart.
        .target(
            name: "ServerLab", dependencies: ["COpenSSL", "LabSupport", "MeasurementModel"], path: "Tests/Labs/ServerLab",
            swiftSettings: strict),
        // A process that queues, uploads and tests, for the tests to kill.
        .executableTarget(
            name: "QueueWorker", dependencies: ["CLinux", "MeasurementModel", "MeasurementSync", "ProbeLog", "LabSupport"],
            path: "Tests/Labs/QueueWorker", swiftSettings: strict),

        // The three ways to write a collector, at full speed.
        .executableTarget(
            name: "CollectorBench",
            dependencies: ["CollectorCore", "ExternalCollector", "MeasurementModel", "fieldprobe-collector-host"],
            path: "Tests/Bench/CollectorBench", swiftSettings: strict),

        .testTarget(name: "MeasurementModelTests", dependencies: ["MeasurementModel"], swiftSettings: strict),
        .testTarget(
            name: "CollectorCoreTests", dependencies: ["CLinux", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog"],
            swiftSettings: strict),
        .testTarget(
            name: "ExternalCollectorTests",
            dependencies: [
                "CLinux", "ExternalCollector", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog", "LabSupport",
                "fieldprobe-collector-host",
            ],
            swiftSettings: strict),
        // The collectors in C and Python, built and run as anybody's.
        .testTarget(
            name: "ExampleCollectorTests",
            dependencies: [
                "ExternalCollector", "CollectorCore", "CollectorTestKit", "MeasurementModel", "LabSupport", "fieldprobe-collector-host",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CollectorTestKitTests",
            dependencies: [
                "CLinux", "CollectorCore", "CollectorTestKit", "ConnectionDetail", "Geolocation", "Neighbours", "ExternalCollector",
                "MeasurementModel", "ProbeLog", "LabSupport", "fieldprobe-collector-host",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NetlinkTests", dependencies: ["CLinux", "CNetlink", "Netlink", "MeasurementModel", "LabSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "ConnectionDetailTests",
            dependencies: [
                "CLinux", "CNetlink", "ConnectionDetail", "Netlink", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog",
                "LabSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "GeolocationTests",
            dependencies: ["CLinux", "Geolocation", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog", "LabSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NeighboursTests",
            dependencies: [
                "CLinux", "CNetlink", "Neighbours", "Netlink", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog",
                "LabSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPTransportTests", dependencies: ["CLinux", "HTTPTransport", "MeasurementModel", "LabSupport"], swiftSettings: strict),
        .testTarget(
            name: "DeviceRegistrationTests",
            dependencies: [
                "CLinux", "COpenSSL", "DeviceRegistration", "HTTPTransport", "QualityTests", "CollectorCore", "CollectorTestKit",
                "MeasurementModel", "ProbeLog", "LabSupport", "ServerLab",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "QualityTestsTests",
            dependencies: [
                "CLinux", "QualityTests", "HTTPTransport", "CollectorCore", "CollectorTestKit", "MeasurementModel", "ProbeLog",
                "LabSupport",
            ],
            swiftSettings: strict),
        // Only what an app would import: the README's examples.
        .testTarget(name: "FieldProbeTests", dependencies: ["FieldProbe", "LabSupport"], swiftSettings: strict),
        .testTarget(
            name: "MeasurementSyncTests",
            dependencies: [
                "CLinux", "MeasurementModel", "MeasurementSync", "ProbeLog", "CollectorTestKit", "QualityTests", "HTTPTransport",
                "LabSupport",
                "QueueWorker",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "CLinux", "fieldprobe", "DeviceRegistration", "QualityTests", "CollectorCore", "ExternalCollector", "MeasurementModel",
                "ProbeLog", "LabSupport", "ServerLab", "MeasurementSync",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "ServerTests", dependencies: ["CLinux", "COpenSSL", "fieldprobe-server", "MeasurementModel", "LabSupport"],
            exclude: ["Tools"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Linked with libFuzzer, which brings its own main: built by .ci/fuzz only.
if Context.environment["FIELDPROBE_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "FuzzDecoders", dependencies: ["MeasurementModel", "Netlink", "Geolocation", "ExternalCollector"], path: "Tests/Fuzz",
            exclude: ["corpus"], swiftSettings: [.unsafeFlags(["-parse-as-library", "-enable-testing"])]))
}
