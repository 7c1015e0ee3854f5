/// What was measured of a workload: nanoseconds or bytes for one operation, after the workload's unit.
struct Outcome {
    let workload: Workload
    let operations: Int
    let c: Double?
    let shellac: Double
    let ratio: Double?
    /// How far the result may be from what endless measuring would give, as a part of it.
    let uncertainty: Double?
    let isEqual: Bool

    /// What the gate and the goal are compared with.
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
