// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "MeasurementApp",
    dependencies: [
        // In an app of yours: .package(url: "<where FieldProbe is>", .upToNextMinor(from: "0.1.0")). The name is said here because a
        // package that is found by its path is otherwise called like its folder.
        .package(name: "FieldProbe", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "MeasurementApp", dependencies: [.product(name: "FieldProbe", package: "FieldProbe")], swiftSettings: strict),
        .testTarget(
            name: "MeasurementAppTests",
            dependencies: [
                "MeasurementApp", .product(name: "FieldProbe", package: "FieldProbe"),
                .product(name: "CollectorTestKit", package: "FieldProbe"),
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
