/// Measures the memory of the sides of a workload, each in a process of its own.
enum MemoryHarness {
    static func run(_ workload: Workload, fixture: Fixture) throws -> Outcome {
        let operations = try workload.sides(fixture).operations
        func footprint(_ side: String) throws -> Side.Footprint {
            try FootprintRequest(
                workload: workload.name, side: side, path: fixture.path, rows: fixture.scale.rows
            ).measureElsewhere()
        }
        let (c, shellac) = (try footprint("c"), try footprint("shellac"))
        return Outcome(
            workload: workload, operations: operations, c: Double(c.bytes) / Double(operations),
            shellac: Double(shellac.bytes) / Double(operations),
            ratio: Double(shellac.bytes) / Double(c.bytes), uncertainty: nil,
            isEqual: c.checksum == shellac.checksum)
    }
}

/// A request to another process of this program: measure the footprint of one side of a memory
/// workload.
struct FootprintRequest {
    /// The option of the command line that makes the request.
    static let option = "--footprint"

    let workload: String
    let side: String
    let path: String
    let rows: Int

    /// The answer to the request.
    func measure() throws -> Side.Footprint {
        guard let workload = Catalogue.all.first(where: { $0.name == workload }) else {
            throw BenchmarkError("unknown workload \(workload)")
        }
        let sides = try workload.sides(Fixture(path: path, scale: Scale(rows: rows)))
        switch (side, sides.reference) {
        case ("shellac", _): return try sides.shellac.footprint()
        case ("c", .c(let c)): return try c.footprint()
        default: throw BenchmarkError("\(workload.name) has no side \(side)")
        }
    }

    /// The answer of a new process.
    func measureElsewhere() throws -> Side.Footprint {
        let (bytes, checksum) = try Answer<UInt64>.of([Self.option, workload, side, path, String(rows)])
        return Side.Footprint(bytes: Int(bytes), checksum: checksum)
    }
}
