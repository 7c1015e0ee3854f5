/// Notes what the statements of a function read, for whoever wants to know what its result depends on.
///
/// It costs nothing where nobody asks: it is looked for on the road of obstructed statements alone.
final class ReadRecorder {
    /// What was read so far.
    private(set) var region = DatabaseRegion()
    /// What the next run of a statement reads at most, where whoever prepared it knows better than the statement does.
    private var limits: [ObjectIdentifier: DatabaseRegion] = [:]
    private let read: (Statement) throws -> DatabaseRegion
    /// Whether a statement is being asked: it may run others.
    private var isAsking = false

    /// - Parameter read: Tells what a statement reads.
    init(_ read: @escaping (Statement) throws -> DatabaseRegion) { self.read = read }

    /// Limits what the next run of a statement reads: to rows that it is about to find by their ids.
    func limit(_ statement: Statement, to region: DatabaseRegion) {
        limits[ObjectIdentifier(statement)] = region
    }

    /// Notes what a statement reads that is about to run.
    func note(_ statement: Statement) throws {
        guard !isAsking else { return }
        isAsking = true
        defer { isAsking = false }
        var read = try read(statement)
        if let limit = limits.removeValue(forKey: ObjectIdentifier(statement)) {
            read = read.intersection(limit)
        }
        region.formUnion(read)
    }
}

extension Database {
    /// Runs a function, and has a recorder note what its statements read.
    func recording<Result>(with recorder: ReadRecorder, _ body: () throws -> Result) rethrows -> Result {
        let outer = readRecorder
        readRecorder = recorder
        updateObstruction()
        defer {
            readRecorder = outer
            updateObstruction()
        }
        return try body()
    }
}
