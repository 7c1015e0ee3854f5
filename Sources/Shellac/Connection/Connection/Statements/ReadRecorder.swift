/// Notes the regions that a function's statements read, and its result depends on.
///
/// It costs nothing unless it is used: only statements that require a check look for it.
final class ReadRecorder {
    /// The region that was read so far.
    private(set) var region = DatabaseRegion()
    /// Limits for the next run of a statement, if its creator knows more precisely what it reads.
    private var limits: [ObjectIdentifier: DatabaseRegion] = [:]
    private let read: (Statement) throws -> DatabaseRegion
    /// Whether the region of a statement is being determined, which may run other statements.
    private var isAsking = false

    /// - Parameter read: A function that returns the region that a statement reads.
    init(_ read: @escaping (Statement) throws -> DatabaseRegion) { self.read = read }

    /// Limits the region of a statement's next run, to rows that it will look up by ID.
    func limit(_ statement: Statement, to region: DatabaseRegion) {
        limits[ObjectIdentifier(statement)] = region
    }

    /// Notes the region of a statement that is about to run.
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
    /// Calls a function while a recorder notes the regions that its statements read.
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
