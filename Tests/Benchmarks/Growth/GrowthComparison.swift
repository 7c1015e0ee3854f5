import Foundation

/// `Benchmarks --growth`: the cost of one operation when there is more of everything.
///
/// First each workload runs with more and more rows. Then each ``GrowthSeries`` runs: columns,
/// observers, saves in one transaction, types, and rows of one cursor.
struct GrowthComparison {
    let workloads: [Workload]
    let series: [GrowthSeries]

    /// The rows of each table.
    private static let rows = [1_000, 10_000, 100_000, 1_000_000]
    /// The growth that is taken for none.
    private static let tolerance = 1.15

    /// Measures, prints each line as soon as it is known, and returns whether all checksums are
    /// equal.
    func run() throws -> Bool {
        let outcomes = try measureWorkloads()
        for one in series { try print(one) }
        return outcomes.allSatisfy(\.isEqual)
    }

    // MARK: - Workloads

    private func measureWorkloads() throws -> [Outcome] {
        if workloads.isEmpty { return [] }
        let fixtures = try Self.rows.map { try Fixture.make(scale: Scale(rows: $0)) }
        defer { for fixture in fixtures { fixture.remove() } }
        let width = workloads.map(\.name.count).max() ?? 0
        Swift.print("ns/op, and the ratio to C, by the rows of each table")
        line("workload".left(width), Self.rows.map(String.init))
        return try workloads.flatMap { workload in
            let outcomes = try fixtures.map { try Harness(rounds: 3, seconds: 2).run(workload, fixture: $0) }
            line(workload.name.left(width), outcomes.map(Self.cell) + [Self.verdict(outcomes)])
            return outcomes
        }
    }

    private static func cell(_ outcome: Outcome) -> String {
        outcome.shellac.text(1) + (outcome.ratio.map { " (\($0.text(2)))" } ?? "")
    }

    /// Compares the largest tables with those of 10,000 rows, since a run with fewer rows is too
    /// short. A table of many rows is deeper and in no cache, for C as for Shellac.
    private static func verdict(_ outcomes: [Outcome]) -> String {
        let (first, last) = (outcomes[1], outcomes[outcomes.count - 1])
        if last.shellac <= first.shellac * tolerance { return "flat" }
        guard let before = first.ratio, let now = last.ratio else { return "GROWS" }
        return now <= before * tolerance ? "as in C" : "GROWS"
    }

    // MARK: - Series

    static let step = "--growth-step"

    /// Measures one size of a series, in a process of its own. Returns nanoseconds and bytes.
    static func perform(_ name: String, _ size: Int) throws -> (Double, Double) {
        guard let series = GrowthSeries.all.first(where: { $0.name == name }) else {
            throw BenchmarkError("unknown series \(name)")
        }
        let cost = try series.measure(size)
        return (cost.nanoseconds, cost.bytes ?? .nan)
    }

    private func print(_ series: GrowthSeries) throws {
        Swift.print("\n\(series.name): \(series.subject)")
        for size in series.sizes {
            let (nanoseconds, bytes) = try Answer<Double>.of([Self.step, series.name, String(size)])
            line(
                String(size).right(9),
                ["\(nanoseconds.text(1)) ns", bytes.isNaN ? "" : "\(bytes.text(1)) bytes"])
        }
    }

    private func line(_ name: String, _ cells: [String]) {
        Swift.print(name, cells.map { $0.right(18) }.joined())
        fflush(nil)
    }
}

/// One kind of work in several sizes.
struct GrowthSeries: Sendable {
    let name: String
    /// The things that a size counts, and the operation that a figure is for.
    let subject: String
    let sizes: [Int]
    /// Does the work in one size.
    let measure: @Sendable (Int) throws -> Cost

    struct Cost {
        let nanoseconds: Double
        /// The memory that the process has more of at the end of the work.
        var bytes: Double?
    }

    static let all = [columns, observers, saves, types, stream]
}

extension GrowthSeries.Cost {
    /// Measures a function several times, and takes the time in the middle.
    ///
    /// - Parameter units: The number of operations of one run.
    static func median(units: Int, _ body: () throws -> Void) rethrows -> Self {
        try body()
        let times = try (1...7).map { _ in try ContinuousClock().measure(body) / .nanoseconds(1) }
        return Self(nanoseconds: times.median / Double(units))
    }
}
