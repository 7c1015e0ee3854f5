/// The measurements of a workload: nanoseconds or bytes for one operation, after the workload's
/// unit.
struct Outcome {
    let workload: Workload
    let operations: Int
    let c: Double?
    let shellac: Double
    let ratio: Double?
    /// The distance that the result may have from that of endless measuring, as a part of it.
    let uncertainty: Double?
    let isEqual: Bool

    /// The value that is compared with the gate and the goal.
    var measured: Double { ratio ?? shellac }

    var verdict: String {
        if measured <= workload.goal { return "goal" }
        return measured <= workload.gate ? "gate" : "OVER"
    }

    var checksum: String { isEqual ? "equal" : "different" }
}

/// All that was measured in a run.
struct Report {
    let machine: String
    let rounds: Int
    let outcomes: [Outcome]
}
