import Foundation

/// The results as an aligned table, printed line by line.
struct Table {
    private let workloads: [Workload]
    private let nameWidth: Int

    init(_ workloads: [Workload]) {
        self.workloads = workloads
        nameWidth = max(8, workloads.map(\.name.count).max() ?? 0)
    }

    func printHeader() {
        let unit = workloads.contains { $0.unit == .memory } ? "bytes" : "ns/op"
        line(
            "workload", "rows", "c \(unit)", "shellac \(unit)", "ratio", "±", "gate", "goal", "checksum",
            "verdict"
        )
    }

    func print(_ outcome: Outcome) {
        line(
            outcome.workload.name, String(outcome.operations), outcome.c.map { $0.text(1) } ?? "–",
            outcome.shellac.text(1), outcome.ratio.map { $0.text(2) } ?? "–",
            outcome.uncertainty.percent, outcome.workload.gateText,
            outcome.workload.goalText, outcome.checksum, outcome.verdict)
    }

    func printList() {
        for workload in workloads {
            Swift.print(workload.name.left(nameWidth), "gate", workload.gateText, " goal", workload.goalText)
        }
    }

    private func line(
        _ name: String, _ rows: String, _ c: String, _ shellac: String, _ ratio: String,
        _ uncertainty: String, _ gate: String,
        _ goal: String, _ checksum: String, _ verdict: String
    ) {
        Swift.print(
            name.left(nameWidth), rows.right(8), c.right(9), shellac.right(13), ratio.right(6),
            uncertainty.right(5), gate.right(7),
            goal.right(7), checksum.left(9), verdict, separator: "  ")
        fflush(nil)
    }
}

extension Workload {
    var gateText: String { text(gate) }
    var goalText: String { text(goal) }

    private func text(_ bound: Double) -> String {
        unit == .nanoseconds ? "\(bound.text(0)) ns" : bound.text(2)
    }
}

extension Double {
    /// The number with so many decimals.
    func text(_ decimals: Int) -> String { String(format: "%.\(decimals)f", self) }
}

extension Double? {
    fileprivate var percent: String {
        if let self, self.isFinite { (self * 100).text(0) + " %" } else { "–" }
    }
}

extension String {
    func left(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
    func right(_ width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
