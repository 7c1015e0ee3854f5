// swift-tools-version: 6.2
import PackageDescription

/// Our own continuous integration sets `CI` and sees every warning as an error. Users are spared.
let strict: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]
let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny")] + strict

/// The pages of Playgrounds/Tour.playground, in the order of its contents.xcplayground.
let pages = [
    "Opening", "Rows", "Values", "Transactions", "Concurrency", "Functions", "Schema", "Records",
    "LostUpdates", "Validation", "Kinds", "Scopes", "Requests", "Relations", "Observation", "Live", "Lists",
    "Triggers", "Pool", "Exchange", "Search", "Journal", "Breaking",
]

let package = Package(
    name: "Shellac",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Shellac", targets: ["Shellac"]),
        .library(name: "ShellacTesting", targets: ["ShellacTesting"]),
        .executable(name: "shellac", targets: ["ShellacCommand"]),
        .plugin(name: "ShellacPlugin", targets: ["ShellacPlugin"]),
        // A plugin finds a tool by the name of its target.
        .executable(name: "ShellacCommand", targets: ["ShellacCommand"]),
    ],
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "Shellac", dependencies: ["CSQLite"], swiftSettings: settings),
        // A library for the tests of programs. Programs do not link it.
        .target(
            name: "ShellacTesting", dependencies: ["Shellac", "CSQLite"], swiftSettings: settings),
        // The command `shellac`. A target of its name would be that of the library, where file names have no case.
        .executableTarget(
            name: "ShellacCommand", dependencies: ["Shellac", "CSQLite"], swiftSettings: settings),
        // `swift package shellac …`, here and in each package that depends on this one.
        .plugin(
            name: "ShellacPlugin",
            capability: .command(
                intent: .custom(
                    verb: "shellac", description: "Looks into an SQLite file, and changes nothing.")),
            dependencies: ["ShellacCommand"], path: "Sources/ShellacPlugin"),
        .target(
            name: "TestSupport", dependencies: ["Shellac", "ShellacTesting", "CSQLite"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        // An allocator of SQLite that fails on request. Only C code can be asked for one in time.
        .target(name: "FailingMemory", dependencies: ["CSQLite"], path: "Tests/FailingMemory"),
        // A process that holds a lock, which the tests run.
        .executableTarget(
            name: "SecondProcess", dependencies: ["Shellac", "CSQLite"], path: "Tests/SecondProcess",
            swiftSettings: settings),
        // A machine that uses a database in a Ceph cluster, which .ci/ceph runs.
        .executableTarget(
            name: "CephMachine", dependencies: ["Shellac"], path: "Tests/CephMachine",
            swiftSettings: settings),
        // A process whose allocations the tests count.
        .executableTarget(
            name: "AllocationCount", dependencies: ["Shellac"], path: "Tests/AllocationCount",
            swiftSettings: settings),
        // A program whose code belongs to the main actor by default, which the tests run.
        .executableTarget(
            name: "MainActorClient", dependencies: ["Shellac"], path: "Tests/MainActorClient",
            swiftSettings: settings + [.defaultIsolation(MainActor.self)]),
        // A sample of a whole program, at a terminal, which the tests run.
        .executableTarget(
            name: "Reminders", dependencies: ["Shellac"], path: "Playgrounds/Reminders",
            swiftSettings: settings),
        // A program that was written for another library of the family, and moved over: as it was, and as it became.
        .executableTarget(
            name: "MovedProgram", dependencies: ["Shellac"], path: "Tests/MovedProgram",
            exclude: ["Bookshop.txt", "Library.txt", "Board.txt", "Ledger.txt"], swiftSettings: settings),
        // Checks of arbitrary bytes, for the tests and for .ci/fuzz.
        .target(
            name: "Fuzzing", dependencies: ["Shellac", "CSQLite"], path: "Tests/Fuzzing", exclude: ["Corpus"],
            swiftSettings: settings),
        .testTarget(
            name: "ShellacTests",
            dependencies: [
                "Shellac", "ShellacTesting", "TestSupport", "FailingMemory", "Fuzzing", "SecondProcess",
                "AllocationCount",
                "MainActorClient", "Reminders",
                "ShellacCommand", "MovedProgram",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks", dependencies: ["Shellac", "CSQLite"], path: "Tests/Benchmarks",
            exclude: ["RESULTS.md", "results.json"], swiftSettings: settings),
        // Building Tour builds its pages, which it runs: see Playgrounds/Tour/main.swift.
        .executableTarget(
            name: "Tour", dependencies: pages.map { .target(name: "Tour\($0)") }, path: "Playgrounds/Tour",
            swiftSettings: settings),
    ]
        + pages.map { page in
            .executableTarget(
                name: "Tour\(page)",
                dependencies: page == "Breaking" ? ["Shellac", "ShellacTesting"] : ["Shellac"],
                path: "Playgrounds/Tour.playground/Pages/\(page).xcplaygroundpage",
                sources: ["Contents.swift"], swiftSettings: settings)
        }
)
