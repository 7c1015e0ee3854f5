/// A feature's part in the saves of a type's records.
///
/// A declaration of the type, such as ``Record/databaseKinds``, makes a rule. The plan of the type
/// finds its rules once, in the order of ``SaveRules``. Statements use them when they are prepared,
/// and each save calls them before and after its statement. Most types have no rules, and their
/// saves skip all of this.
///
/// This class changes nothing. Each feature has a subclass.
class SaveRule {
    // MARK: - Asked once

    /// The name of the declaration, for errors.
    var declaration: String { "a rule" }

    /// The columns whose values the rule determines. Two rules cannot have the same column.
    var ownColumns: [String] { [] }

    /// The columns that each insertion fills in, whether the record encodes them or not. A record
    /// may leave them NULL.
    var insertedColumns: [String] { [] }

    /// Whether saves fill in values among those that the record encodes: see ``prepare(_:of:by:)``.
    var fillsColumns: Bool { false }

    /// Whether a record may leave out columns of an update: see ``WrittenColumns/withheld``.
    var withholdsColumns: Bool { false }

    /// The condition that the row of a record must meet besides its key, in SQL. Nil for none.
    var rowCondition: String? { nil }

    /// The columns that any writer of the table may change without a conflict. Optimistic locking
    /// compares them only if they are named.
    var sharedColumns: [String] { [] }

    /// Throws if records that encode some columns cannot be saved.
    func check(_ names: [String]) throws {}

    /// Changes the columns that statements write.
    ///
    /// - Parameter layout: The columns that records encode.
    func shape(_ columns: inout WrittenColumns, beside layout: RowLayout, in table: TableSchema) {}

    /// Takes over what the rule that existed before the schema changed has learned.
    func learn(from old: SaveRule) {}

    // MARK: - Asked by each save

    /// Returns whether a record leaves a column out of an update unless the program names it.
    ///
    /// - Parameter column: One of the columns that the rule may withhold.
    func withholds(_ column: Int, of record: Record?, _ writer: RecordWriter) -> Bool { false }

    /// Prepares a save: fills in columns, or changes the columns that an update writes.
    ///
    /// - Parameter record: The record, if it is of a class.
    func prepare(_ save: inout Save, of record: Record?, by writer: RecordWriter) throws {}

    /// Ends a save that was prepared, whether it has succeeded or not.
    func end(_ save: borrowing Save, by writer: RecordWriter) {}

    /// Sets the filled-in values in a saved record.
    func give(_ filled: FilledColumns, to record: Record, from writer: RecordWriter) {}

    /// Returns the columns that the rule has left out of a save of a record that now identifies
    /// another row. The record has never read that row's values.
    func columnsLeftOut(of written: ColumnMask, _ writer: RecordWriter, knowing row: PackedRow) -> ColumnMask
    { ColumnMask() }

    /// Throws the reason why an update or a deletion has found no row, if the rule is the cause.
    func explainMissingRow(to writer: RecordWriter) throws {}

    /// Throws the reason why an upsert has written no row, if the rule is the cause.
    func explainIgnoredUpsert(to writer: RecordWriter) throws {}

    // MARK: - Asked by deletions

    // Deletions of many rows ask only the rules of types that keep such rows: see KeptRows.swift.

    /// Deletes the record's row in another way than by DELETE.
    ///
    /// - Returns: Whether there was a row to delete. Nil to delete it by DELETE.
    func delete(_ record: some MutablePersistableRecord, by writer: RecordWriter) throws -> Bool? { nil }

    /// Deletes the rows of a request in another way than by DELETE.
    ///
    /// - Returns: The number of deleted rows. Nil to delete them by DELETE.
    func deleteAll(_ query: SelectQuery, in db: Database) throws -> Int? { nil }

    /// Deletes the rows of a request in another way than by DELETE, and fetches them.
    ///
    /// - Parameter fetch: Fetches the elements by a statement that returns the rows.
    /// - Returns: The elements. Nil to delete the rows by DELETE.
    func deleteAndFetchAll<Element>(
        _ query: SelectQuery, in db: Database,
        _ fetch: (Statement, StatementArguments) throws -> [Element]
    ) throws -> [Element]? { nil }

    /// Returns whether the rule may have deleted the row of a record, as far as the record
    /// remembers.
    func mayHaveDeleted(_ record: Record) -> Bool { false }

    /// Restores the row of a record that the rule has deleted.
    ///
    /// - Returns: Whether it was deleted. Nil if the rule deletes no rows.
    func restore(_ record: some MutablePersistableRecord, in db: Database) throws -> Bool? { nil }
}

/// The columns that the statements of a type write, apart from the values that records encode.
struct WrittenColumns {
    /// The encoded columns that no update writes.
    var leftAlone = ColumnMask()
    /// The encoded columns that a rule may withhold from an update, and that rule.
    var withheld: [(column: Int, rule: SaveRule)] = []
    /// The SQL that inserts an encoded column, with a `?` for its value, if it is not just that.
    var inserted: [Int: String] = [:]
    /// Columns that all insertions write besides the encoded ones, and their values in SQL.
    var added: [(column: String, value: String)] = []
    /// Columns that saves with filled-in values write besides the encoded ones.
    var computed: ComputedColumns?
}

/// Columns that records do not encode, and that an SQL function computes when a record is saved.
struct ComputedColumns {
    /// The columns that an insertion writes.
    var inserted: [String] = []
    /// The columns that an update writes.
    var updated: [String] = []
    /// The name of the function, which takes no arguments.
    let function: String

    var insertedValues: [String] { inserted.map { _ in "\(function)()" } }
    var assignments: [String] { updated.map { "\($0.quotedDatabaseIdentifier) = \(function)()" } }
}
