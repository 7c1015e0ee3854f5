import Foundation

/// `swift run -c release Benchmarks`: every workload beside the same work by hand over the C API,
/// in one run.
///
/// A workload is a line of a table in `Workloads/`, with its gate and its goal, and a function that
/// makes its two sides. The harness runs both sides in turns, and the report says how they compare.
/// A new family of workloads is a new file in `Workloads/` and its line in `Catalogue`.
///
/// The program fails when a checksum differs: then the two sides did not do the same work. It never
/// fails for a time, which is for the reader to judge, on a quiet machine.
@main
enum Benchmarks {
    static func main() {
        do {
            exit(try run(Options(CommandLine.arguments.dropFirst())) ? EXIT_SUCCESS : EXIT_FAILURE)
        } catch {
            fail("Benchmarks: \(error)")
        }
    }

    /// Does what the command line asks for, and returns whether all checksums are equal.
    private static func run(_ options: Options) throws -> Bool {
        if options.help {
            print(Options.usage)
            return true
        }
        if let footprint = options.footprint {
            let answer = try footprint.measure()
            print(answer.bytes, answer.checksum)
            return true
        }
        if let step = options.startupStep {
            let (nanoseconds, bytes) = try StartupComparison.perform(step[0], step[1])
            print(nanoseconds, bytes)
            return true
        }
        if let step = options.growthStep {
            let (nanoseconds, bytes) = try GrowthComparison.perform(step.name, step.size)
            print(nanoseconds, bytes)
            return true
        }
        if options.startup {
            try StartupComparison().run()
            return true
        }
        if options.growth { return try growth(options.prefixes).run() }
        if let step = options.exchangeStep {
            try ExchangeComparison.perform(step[0], step[1], step[2])
            return true
        }
        if options.exchange {
            try ExchangeComparison(rows: options.rows).run()
            return true
        }
        let workloads = try Catalogue.workloads(
            startingWith: options.prefixes, inMemory: options.list ? nil : options.memory)
        if options.list {
            Table(workloads).printList()
            return true
        }
        if workloads.isEmpty {
            print("None of these workloads is measured in \(options.memory ? "bytes" : "time").")
        }
        #if DEBUG
        print("This is a debug build: its times mean nothing. Use `swift run -c release Benchmarks`.\n")
        #endif

        // A file that cannot be read is found before the long run.
        let baseline = try options.baseline.map { try Baseline(path: $0) }
        let fixture = try Fixture.make(scale: Scale(rows: options.rows))
        defer { fixture.remove() }
        let table = Table(workloads)
        table.printHeader()
        var outcomes: [Outcome] = []
        for workload in workloads {
            let outcome =
                options.memory
                ? try MemoryHarness.run(workload, fixture: fixture)
                : try Harness(rounds: options.rounds, seconds: options.seconds).run(
                    workload, fixture: fixture)
            table.print(outcome)
            outcomes.append(outcome)
        }
        let report = Report(machine: Machine.description, rounds: options.rounds, outcomes: outcomes)
        try options.json.map { try Data(report.json.utf8).write(to: URL(fileURLWithPath: $0)) }
        try options.chart.map { try Data(report.svg.utf8).write(to: URL(fileURLWithPath: $0)) }
        baseline?.print(outcomes)
        return outcomes.allSatisfy(\.isEqual)
    }

    /// The workloads and series whose names begin with one of the prefixes.
    private static func growth(_ prefixes: [String]) throws -> GrowthComparison {
        let series = GrowthSeries.all.filter { series in
            prefixes.isEmpty || prefixes.contains(where: series.name.hasPrefix)
        }
        // Prefixes of series alone mean no workload.
        let others = prefixes.filter { prefix in !GrowthSeries.all.contains { $0.name.hasPrefix(prefix) } }
        let workloads =
            others.isEmpty && !prefixes.isEmpty
            ? [] : try Catalogue.workloads(startingWith: others, inMemory: false)
        return GrowthComparison(workloads: workloads, series: series)
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(2)
    }
}

/// A reason for which the program cannot measure.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
