/// One line of the budget: a piece of work that is done by Shellac, and by hand over the C API.
struct Workload: Sendable {
    let name: String
    /// The unit of the gate and the goal.
    let unit: Unit
    /// The worst that an issue may be resolved with.
    let gate: Double
    /// The ratio that we aim at.
    let goal: Double
    /// Opens what the workload needs, and returns its sides.
    let sides: @Sendable (Fixture) throws -> Sides

    enum Unit: Sendable {
        /// Shellac's time over the time of the C API.
        case ratio
        /// Shellac's nanoseconds for one operation.
        case nanoseconds
        /// Shellac's bytes for one record over those of the C API. For `--memory` alone.
        case memory
    }

    init(
        _ name: String, _ unit: Unit = .ratio, gate: Double, goal: Double,
        sides: @escaping @Sendable (Fixture) throws -> Sides
    ) {
        (self.name, self.unit, self.gate, self.goal, self.sides) = (name, unit, gate, goal, sides)
    }
}

/// The ways to do the work of a workload.
struct Sides {
    /// The number of rows read, values fetched or accesses made in one run of a side.
    let operations: Int
    let reference: Reference
    let shellac: Side

    enum Reference {
        /// The same work by hand.
        case c(Side)
        /// No such work: the checksum that Shellac's side must return.
        case checksum(UInt64)
    }

    init(operations: Int, c: Side, shellac: Side) {
        (self.operations, self.reference, self.shellac) = (operations, .c(c), shellac)
    }

    init(operations: Int, checksum: UInt64, shellac: Side) {
        (self.operations, self.reference, self.shellac) = (operations, .checksum(checksum), shellac)
    }
}
