// A cache of the prepared statements that save records of one set of columns.

/// The prepared statements that save records of one set of columns.
struct PreparedSaves: ~Copyable {
    enum Verb { case insert, upsert, update, delete, exists, compare }

    struct Key: Hashable {
        var verb: Verb
        var mask = ColumnMask()
        var expected: ExpectedColumns?
        var resolution: Database.ConflictResolution
        var returning: String?
        var computed: String?
        var computes = false
        /// Distinguishes statements that run at the same time. A saving statement may call a
        /// function that saves.
        var copy = 0
    }
    private var statements: [Key: Statement] = [:]
    private static var maximumCount: Int { 256 }

    /// The statements used last. They are also among the others.
    private(set) var lastInsertion: Insertion?
    private var lastUpdate: Update?
    /// The last insertions of many rows: of the maximum number, and of fewer.
    private var lastManyInsertion: ManyInsertion?
    private var lastFewInsertion: ManyInsertion?

    /// A statement that inserts.
    struct Insertion {
        let resolution: Database.ConflictResolution
        let computes: Bool
        let statement: Unretained<Statement>

        @inline(__always)
        func isFree(for resolution: Database.ConflictResolution, _ computes: Bool) -> Bool {
            self.resolution == resolution && self.computes == computes && statement.use { !$0.isInUse }
        }
    }

    /// A statement that updates. It is read in place, because copying it would count its
    /// references.
    struct Update: ~Copyable {
        let mask: ColumnMask
        let expected: ExpectedColumns?
        let resolution: Database.ConflictResolution
        let computes: Bool
        let statement: Unretained<Statement>

        @inline(__always)
        func isFree(
            for mask: ColumnMask, _ row: ExpectedRow?, _ resolution: Database.ConflictResolution,
            _ computes: Bool
        ) -> Bool {
            let isSame = self.mask == mask && self.resolution == resolution && self.computes == computes
            guard isSame, row?.hasColumns(expected) ?? (expected == nil) else { return false }
            return statement.use { !$0.isInUse }
        }
    }

    /// A statement that inserts many rows.
    private struct ManyInsertion {
        let count: Int
        let computes: Bool
        let statement: Statement
    }

    /// Returns an unused statement. If there is none, changes the key into that of a further
    /// statement.
    func find(_ key: inout Key) -> Statement? {
        while let statement = statements[key] {
            if !statement.isInUse { return statement }
            key.copy += 1
        }
        return nil
    }

    /// Returns the statement that updated last, if it is not in use and does the same.
    @inline(__always)
    func update(
        _ mask: ColumnMask, _ row: ExpectedRow?, _ resolution: Database.ConflictResolution,
        computes: Bool
    ) -> Unretained<Statement>? {
        switch lastUpdate {
        case .some(let last): last.isFree(for: mask, row, resolution, computes) ? last.statement : nil
        case .none: nil
        }
    }

    /// Keeps a statement.
    ///
    /// - Returns: The statements that are kept no longer. A running save may still use them.
    mutating func keep(_ statement: Statement, _ key: Key) -> [Statement] {
        var forgotten: [Statement] = []
        if statements.count > Self.maximumCount {
            lastInsertion = nil
            lastUpdate = nil
            forgotten = Array(statements.values)
            statements = [:]
        }
        statements[key] = statement
        return forgotten
    }

    mutating func setLast(_ insertion: Insertion) { lastInsertion = insertion }

    mutating func setLast(_ update: consuming Update) { lastUpdate = consume update }

    /// Returns the last statement that inserted a number of rows, if it is not in use.
    func insertion(ofRows count: Int, isFull: Bool, computes: Bool) -> Statement? {
        guard let last = isFull ? lastManyInsertion : lastFewInsertion, last.count == count,
            last.computes == computes, !last.statement.isInUse
        else { return nil }
        return last.statement
    }

    /// Keeps a statement that inserts a number of rows.
    mutating func setLast(_ statement: Statement, ofRows count: Int, isFull: Bool, computes: Bool) {
        let last = ManyInsertion(count: count, computes: computes, statement: statement)
        if isFull { lastManyInsertion = last } else { lastFewInsertion = last }
    }
}
