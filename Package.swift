// swift-tools-version: 6.2
import PackageDescription

/// Our own continuous integration sets `CI` and sees every warning as an error. Users are spared.
let strict: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")] + strict

let package = Package(
    name: "Shellac",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Shellac", targets: ["Shellac"])
    ],
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "Shellac", dependencies: ["CSQLite"], swiftSettings: settings),
        .target(
            name: "TestSupport", dependencies: ["Shellac"], path: "Tests/TestSupport", swiftSettings: settings
        ),
        .testTarget(name: "ShellacTests", dependencies: ["Shellac", "TestSupport"], swiftSettings: settings),
    ]
)
