/// The new records of a list that is being saved. They wait until one statement inserts them all.
///
/// The result is the same as with one statement for each. The records have no callbacks for their
/// insertion, SQLite assigns their keys, and the table has no triggers. Records that differ are
/// saved one by one, in their place among the others.
struct WaitingInsertions {
    private let db: Database
    /// The foreign key of the records.
    private let columns: [String]
    private var records: [Record] = []
    private var known: (type: ObjectIdentifier, mayWait: Bool)?

    /// - Parameter count: The most records that there may be.
    init(_ columns: [String], count: Int, in db: Database) {
        (self.columns, self.db) = (columns, db)
        records.reserveCapacity(count)
    }

    /// Takes a record to insert. Returns false if the record cannot wait.
    mutating func take(_ record: Record) throws -> Bool {
        guard try mayWait(type(of: record)) else { return false }
        records.append(record)
        return true
    }

    private mutating func mayWait(_ type: Record.Type) throws -> Bool {
        let identifier = ObjectIdentifier(type)
        if let known, known.type == identifier { return known.mayWait }
        let plan = try db.plan(for: type).object
        // The foreign key may also be the primary key, and so determine the row.
        let hasOwnKey = plan.rowIDColumn != nil && plan.keyColumn(among: columns) == nil
        let mayWait =
            try hasOwnKey && !plan.traits.overridesInsertionCallbacks
            && Record.mayInsertMany(of: type, nil, in: db)
        known = (identifier, mayWait)
        return mayWait
    }

    /// Inserts the waiting records.
    mutating func insert() throws {
        if records.isEmpty { return }
        let waiting = records
        records = []
        // A record that encodes itself may have saved another record in the meantime.
        if waiting.allSatisfy({ RememberedRow.View($0) == nil }) {
            try Record.insertEach(of: waiting, nil, in: db)
        } else {
            for record in waiting where record.hasDatabaseChanges { try record.save(db) }
        }
    }
}
