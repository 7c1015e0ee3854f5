// Inserts many records of one type by multi-row INSERT statements, and derives the row IDs.

import CSQLite

/// A batch of records of one type, inserted many at a time.
///
/// ## The life of a batch
///
/// Each record encodes its columns, and their packed bytes are stored one record after the other.
/// One statement inserts them when there are enough, or when a record encodes other columns. The
/// values are bound in place.
///
/// Then the row ids are known without a query. Given ids are known, and the others are counted back
/// from the last one. Counting is right if three conditions hold. Nothing else inserts rows into
/// the table while the statement runs, and no row is left out. SQLite assigns each row the
/// number after the largest one: see "SQLite Autoincrement". If any of this is uncertain, rows are
/// inserted one by one.
final class InsertionBatch {
    typealias DidInsert = (_ batch: InsertionBatch, _ rowIDs: ArraySlice<Int64>) throws -> Void

    private let database: Database
    private let plan: RecordPlan
    /// Whether the batch must use a single statement. If it cannot, it throws
    /// ``SeveralStatements``.
    private let isAlone: Bool
    private let didInsert: DidInsert?

    @exclusivity(unchecked) private var statements: RecordStatements?
    /// Whether SQLite generates the row ids.
    @exclusivity(unchecked) private var givesRowIDs = false
    @exclusivity(unchecked) private var buffer: PackedBuffer
    /// The positions at which the bytes of each record end.
    @exclusivity(unchecked) private var ends: ContiguousArray<Int> = []
    @exclusivity(unchecked) private var filled: [FilledColumns?] = []
    /// Whether columns are filled in, in addition to the ones that the records encode.
    @exclusivity(unchecked) private var computes = false
    @exclusivity(unchecked) private var limit = 1

    /// The row ids of all records that were inserted.
    @exclusivity(unchecked) private(set) var rowIDs: [Int64] = []

    /// The maximum number of rows in one statement. More gain nothing.
    static let maximumRows = 64

    /// - Parameters:
    ///   - count: The number of expected records.
    ///   - didInsert: Called when a statement has inserted rows.
    init(
        _ plan: RecordPlan, of count: Int, isAlone: Bool, on database: Database, didInsert: DidInsert? = nil
    ) {
        (self.plan, self.isAlone, self.database, self.didInsert) = (plan, isAlone, database, didInsert)
        // As short as possible: glibc's `malloc` consolidates memory before it allocates a long
        // piece. See ``SnapshotPool``.
        buffer = PackedBuffer(capacity: 64 * min(max(count, 1), Self.maximumRows))
        ends.reserveCapacity(min(count, Self.maximumRows))
    }

    deinit { buffer.deallocate() }

    // MARK: - Taking records

    /// Takes the values that a record has encoded.
    @inline(__always)
    func take(_ writer: RecordWriter, _ filled: FilledColumns?) throws {
        let needsRowID = writer.withStatements { statements in
            statements.rowIDColumn.map(writer.columns.isNull) ?? true
        }
        if ends.count >= limit || needsRowID != givesRowIDs || !isLaid(outAs: writer)
            || writer.computes(filled) != computes
        {
            try begin(writer, needsRowID, computes: writer.computes(filled))
        }
        let bytes = writer.columns.bytes
        let start = ends.last ?? 0
        let end = start &+ bytes.byteCount
        if end &+ 8 > buffer.capacity { buffer.grow(to: end + 8) }
        buffer.copy(bytes, to: start)
        ends.append(end)
        if plan.rules.fillColumns { self.filled.append(filled) }
    }

    private func isLaid(outAs writer: RecordWriter) -> Bool {
        writer.withStatements { $0 === statements }
    }

    /// Starts to gather records with other columns, or records for another statement.
    @inline(never)
    private func begin(_ writer: RecordWriter, _ needsRowID: Bool, computes: Bool) throws {
        if !ends.isEmpty {
            if isAlone { throw SeveralStatements() }
            try insert()
        }
        let statements = writer.statements
        (self.statements, givesRowIDs, self.computes) = (statements, needsRowID, computes)
        limit =
            statements.names.includeRowIDName
            ? 1 : Self.maximumRows(of: statements.layout.count, on: database)
    }

    /// Returns the number of rows that one statement inserts, for a number of columns.
    static func maximumRows(of columnCount: Int, on database: Database) -> Int {
        let variables = Int(sqlite3_limit(database.pointer, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
        return max(min(maximumRows, variables / max(columnCount, 1)), 1)
    }

    // MARK: - Inserting

    /// Inserts the records that were taken.
    func insert() throws {
        guard let statements, !ends.isEmpty else { return }
        let first = rowIDs.count
        if try ends.count == 1 || knowsRowIDs(of: statements) {
            try insert(ends.indices, statements)
        } else {
            if isAlone { throw SeveralStatements() }
            for record in ends.indices { try insert(record..<record + 1, statements) }
        }
        try didInsert?(self, rowIDs[first...])
        ends.removeAll(keepingCapacity: true)
        filled.removeAll(keepingCapacity: true)
    }

    private func insert(_ records: Range<Int>, _ statements: RecordStatements) throws {
        let statement =
            records.count == 1
            ? try statements.insertion(.abort, nil, computes: computes).object
            : try statements.insertion(
                ofRows: records.count, isFull: records.count == limit, computes: computes)
        do {
            try statement.begin { bind(records, statements, to: $0) }
            while try statement.step() {}
        } catch {
            throw statement.telling(error) {
                records.flatMap { columns(of: $0, statements).databaseValues }
            }
        }
        let changes = Int(sqlite3_changes(database.pointer))
        guard changes == records.count else {
            throw DatabaseError(
                message:
                    "\(changes) of \(records.count) records were inserted into the table \(plan.tableName): "
                    + "insert them one by one", sql: statement.sql)
        }
        let last = sqlite3_last_insert_rowid(database.pointer)
        if records.count == 1 || !plan.hasRowIDs {
            for _ in records { rowIDs.append(last) }
        } else if givesRowIDs {
            rowIDs.append(contentsOf: last - Int64(records.count - 1)...last)
        } else if let column = statements.rowIDColumn {
            for record in records {
                rowIDs.append(columns(of: record, statements).value(at: column).integer)
            }
        }
    }

    private func columns(of record: Int, _ statements: RecordStatements) -> PackedBytes {
        let start = record == 0 ? 0 : ends[record - 1]
        return buffer.bytes(from: start, count: statements.layout.count, byteCount: ends[record] - start)
    }

    private func bind(_ records: Range<Int>, _ statements: RecordStatements, to pointer: OpaquePointer)
        -> Int32
    {
        let count = statements.layout.count
        var code = SQLITE_OK
        var parameter: Int32 = 1
        for record in records {
            let bound = columns(of: record, statements).bind(to: pointer, from: parameter)
            if bound != SQLITE_OK { code = bound }
            parameter &+= Int32(truncatingIfNeeded: count)
        }
        return code
    }

    /// Whether the row ids will be known after one statement has inserted the rows.
    private func knowsRowIDs(of statements: RecordStatements) throws -> Bool {
        if !plan.hasRowIDs { return true }
        if givesRowIDs { return try hasRoomForRowIDs() }
        guard let column = statements.rowIDColumn else { return true }
        // A text that looks like a number is stored as a number, and only the row shows which one.
        return ends.indices.allSatisfy { columns(of: $0, statements).tag(at: column).isInteger }
    }

    /// Whether the next rows get consecutive ids. After the largest possible id, SQLite picks ids
    /// at random.
    private func hasRoomForRowIDs() throws -> Bool {
        guard let statement = try plan.selectionOfLargestRowID(on: database) else { return false }
        return try Int64.fetchOne(statement) ?? 0 <= Int64.max - Int64(ends.count)
    }

    // MARK: - Reading

    /// Unpacks the columns that a record of the last statement has encoded. Returns the values that
    /// were filled in.
    func unpack(_ record: Int, to writer: RecordWriter) -> FilledColumns? {
        guard let statements else { return nil }
        writer.use(Unretained(plan), Unretained(statements))
        writer.columns.take(columns(of: record, statements), statements.layout)
        return filled.isEmpty ? nil : filled[record]
    }
}

/// The error thrown if the records of a batch need several statements, and so a savepoint around
/// them.
struct SeveralStatements: Error {}

/// The facts about a table that insertions of many rows need. Each is nil until then.
struct BulkInsertion {
    /// Whether one statement may insert many rows.
    fileprivate var takesManyRows: Bool?
    /// The statement that selects the largest row id.
    fileprivate var largestRowID: Statement?
}

extension RecordPlan {
    /// Whether the row ids of the table can be known.
    var hasRowIDs: Bool { table.primaryKey.tableHasRowID }

    /// Returns a query for the largest row id. Nil if no name refers to it.
    fileprivate func selectionOfLargestRowID(on database: Database) throws -> Statement? {
        if let statement = bulk.largestRowID, !statement.isInUse { return statement }
        guard let name = table.rowIDName else { return nil }
        let column = rowIDColumn == nil ? name : name.quotedDatabaseIdentifier
        let statement = try database.cachedStatement(sql: "SELECT max(\(column)) FROM \(quotedTable)")
        bulk.largestRowID = statement
        return statement
    }

    /// Whether one statement may insert many rows. Meanwhile, nothing else may insert rows into the
    /// table, and no row may be left out.
    func canTakeManyRows(on database: Database) throws -> Bool {
        if let takesManyRows = bulk.takesManyRows { return takesManyRows }
        let answer =
            try table.kind == .table && !database.schema.hasConflictClause(table)
            && database.schema.triggers(on: table).allSatisfy(\.leavesOtherRowsAlone)
        bulk.takesManyRows = answer
        return answer
    }
}
