/// The new records of a list that is being saved, which wait for each other: one statement inserts all of them.
///
/// Nobody can tell: they have no callbacks that are called for their insertion, SQLite gives them their keys, and the
/// table has no triggers. Records that differ are saved one by one, in their place among the others.
struct WaitingInsertions {
    private let db: Database
    /// The foreign key of the records.
    private let columns: [String]
    private var records: [Record] = []
    private var known: (type: ObjectIdentifier, mayWait: Bool)?

    /// - Parameter count: How many records there may be.
    init(_ columns: [String], count: Int, in db: Database) {
        (self.columns, self.db) = (columns, db)
        records.reserveCapacity(count)
    }

    /// Takes a record that is to be inserted, unless it cannot wait.
    mutating func take(_ record: Record) throws -> Bool {
        guard try mayWait(type(of: record)) else { return false }
        records.append(record)
        return true
    }

    private mutating func mayWait(_ type: Record.Type) throws -> Bool {
        let identifier = ObjectIdentifier(type)
        if let known, known.type == identifier { return known.mayWait }
        let plan = try db.plan(for: type).object
        // The foreign key may be the primary key, too, and say which row is meant.
        let hasOwnKey = plan.rowIDColumn != nil && plan.keyColumn(among: columns) == nil
        let mayWait =
            try hasOwnKey && !plan.overridesInsertionCallbacks
            && Record.mayInsertMany(of: type, nil, in: db)
        known = (identifier, mayWait)
        return mayWait
    }

    /// Inserts the records that wait.
    mutating func insert() throws {
        if records.isEmpty { return }
        let waiting = records
        records = []
        // One that encodes itself may have saved another one meanwhile.
        if waiting.allSatisfy({ RememberedRow.View($0) == nil }) {
            try Record.insertEach(of: waiting, nil, in: db)
        } else {
            for record in waiting where record.hasDatabaseChanges { try record.save(db) }
        }
    }
}
