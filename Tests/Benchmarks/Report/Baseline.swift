import Foundation

/// The results of an earlier run, with which those of this run are compared.
struct Baseline {
    private let file: File
    private let results: [String: Result]

    /// A file that `--json` has written.
    private struct File: Decodable {
        let machine: String
        let results: [Result]
    }

    private struct Result: Decodable {
        let workload: String
        let ratio: Double?
        let uncertainty: Double?
        let shellacNanoseconds: Double?
        let shellacBytes: Double?

        enum CodingKeys: String, CodingKey {
            case workload, ratio, uncertainty
            case shellacNanoseconds = "shellac_ns"
            case shellacBytes = "shellac_bytes"
        }

        var measured: Double? { ratio ?? shellacNanoseconds ?? shellacBytes }
    }

    init(path: String) throws {
        file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        results = Dictionary(file.results.map { ($0.workload, $0) }, uniquingKeysWith: { $1 })
    }

    /// A difference that says nothing, if the runs do not say how sure they are.
    private static let tolerance = 0.05

    /// Prints what was measured before and now, and marks what differs by more than the noise of
    /// both runs.
    func print(_ outcomes: [Outcome]) {
        if file.machine != Machine.description {
            Swift.print("\nThe earlier run was on another machine: \(file.machine)")
        }
        let width = outcomes.map(\.workload.name.count).max() ?? 0
        Swift.print("\n\("workload".left(width))    before       now   change")
        for outcome in outcomes {
            guard let result = results[outcome.workload.name], let before = result.measured else {
                Swift.print(
                    "\(outcome.workload.name.left(width))         –\(outcome.measured.text(2).right(10))")
                continue
            }
            let change = outcome.measured / before - 1
            let noise = Self.noise(result.uncertainty) + Self.noise(outcome.uncertainty)
            let mark = abs(change) <= noise ? "" : change > 0 ? "  SLOWER" : "  faster"
            Swift.print(
                outcome.workload.name.left(width), before.text(2).right(10),
                outcome.measured.text(2).right(10),
                ((change < 0 ? "" : "+") + (change * 100).text(1) + " %").right(9), mark, separator: "")
        }
    }

    private static func noise(_ uncertainty: Double?) -> Double {
        guard let uncertainty, uncertainty.isFinite else { return tolerance }
        return max(uncertainty, 0.01)
    }
}
