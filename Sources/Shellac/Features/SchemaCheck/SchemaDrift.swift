/// The faults between records and their tables, thrown by `checkSchema`.
///
/// ```swift
/// do {
///     try db.checkSchema(of: Player.self, Team.self)
/// } catch let error as SchemaDriftError {
///     print(error)
///     // Player reads and encodes the column nickname, which the table player lacks.
///     // Team never encodes the column city of the table team, which is NOT NULL and has no default.
/// }
/// ```
public struct SchemaDriftError: Error, Hashable, Sendable {
    /// All faults that were found: at least one.
    ///
    /// ```swift
    /// let tables = Set(error.faults.map(\.tableName))
    /// ```
    public let faults: [SchemaFault]

    /// - Returns: Nil if there is no fault.
    init?(_ faults: [SchemaFault]) {
        guard !faults.isEmpty else { return nil }
        var seen: Set<String> = []
        // A fault of a table alone is listed once, and not for each of its types.
        self.faults = faults.filter { seen.insert($0.description).inserted }
    }
}

extension SchemaDriftError: CustomStringConvertible {
    /// A sentence for each fault, one per line.
    public var description: String { faults.map(\.description).joined(separator: "\n") }
}

/// A single fault between a record and its table: see ``SchemaDriftError``.
///
/// ```swift
/// let fault = error.faults[0]
/// fault.kind           // .columnMissing(isRead: true, isEncoded: true)
/// fault.recordType     // "Player"
/// fault.tableName      // "player"
/// fault.columns        // ["nickname"]
/// print(fault)         // Player reads and encodes the column nickname, which the table player lacks.
/// ```
public struct SchemaFault: Hashable, Sendable {
    /// The kind of the fault.
    public let kind: Kind
    /// The name of the record's type.
    public let recordType: String
    /// The name of the table, as the type spells it.
    public let tableName: String
    /// The column, or the columns of the key. Empty if the fault concerns the whole record or
    /// table.
    public let columns: [String]

    /// The column, or the first one of the key.
    ///
    /// ```swift
    /// let missing = error.faults.filter { $0.kind == .columnNotSelected }.compactMap(\.column)
    /// ```
    public var column: String? { columns.first }

    /// A kind of fault.
    ///
    /// ```swift
    /// if case .affinityMismatch(let value, let declaredType) = fault.kind {
    ///     print("\(value) in a column of type \(declaredType)")
    /// }
    /// ```
    public enum Kind: Hashable, Sendable {
        /// There is no such table or view.
        case tableMissing
        /// SQLite cannot compile the type's `databaseSelection`.
        case selectionInvalid(message: String)
        /// The table lacks a column that the record encodes or reads, perhaps as an optional.
        case columnMissing(isRead: Bool, isEncoded: Bool)
        /// The table has a column that the record reads, but the type's `databaseSelection` lacks
        /// it.
        case columnNotSelected
        /// The record encodes a column that SQLite computes.
        case generatedColumnEncoded
        /// The record does not encode a column that is NOT NULL and has no default. No row can be
        /// inserted.
        case columnNotEncoded
        /// A stored property of the record has the name of the column, but ``Record/columns(_:)``
        /// has no line for it: it is neither read nor stored. See
        /// ``Record/databaseUnlistedProperties``.
        case propertyNotListed
        /// The record does not encode the whole primary key: it can be neither updated nor deleted.
        case primaryKeyNotEncoded
        /// Each new record has the same key, though SQLite numbers the rows of the table. So the
        /// second saved one replaces the first one.
        case primaryKeyShared(value: DatabaseValue)
        /// The record stores NULL if it has no value, so the default of the column has no effect.
        case defaultOverwritten(defaultValueSQL: String)
        /// No index begins with the columns of a foreign key: SQLite reads the whole table whenever
        /// a row that the key refers to is deleted.
        case foreignKeyNotIndexed(destinationTable: String)
        /// The column of a foreign key does not have the collation of the column that it refers to.
        /// SQLite compares by the latter, so it uses no index that has another collation.
        case foreignKeyOfOtherCollation(destinationTable: String, collation: String)
        /// The column stores another value than the one that the record encodes, or may do so.
        case affinityMismatch(value: StorageClass, declaredType: String)
        /// The type's `databaseDefaultFilter` cannot be compiled, the table lacks the column of its
        /// `databaseSoftDelete`, or a cascade of that cannot find or delete its rows.
        case filterInvalid(message: String)
        /// A unique index also counts deleted rows: see ``TableRecord/databaseSoftDelete``.
        case uniqueIndexOfDeletedRows(name: String, softDelete: String)
        /// A unique index includes the column of ``TableRecord/databaseSoftDelete``. That is NULL
        /// in rows that are not deleted, so the index allows duplicates of these.
        case uniqueIndexOfDates(name: String, softDelete: String)
        /// The table cannot distinguish the classes of ``Record/databaseKinds``, or these are
        /// invalid.
        case kindsInvalid(message: String)
        /// Rows of the table have a kind that ``Record/databaseKinds`` does not list.
        case unknownKind(kind: DatabaseValue, count: Int)
        /// The column's CHECK refuses cases of the enum that the record stores there.
        case casesRefused(type: String, values: [DatabaseValue])
        /// Rows of the table hold a value that is no case of the enum that the record reads there.
        case unknownCase(type: String, value: DatabaseValue, count: Int)
        /// A counter of the table has no triggers, or other ones than the schema requires: see
        /// ``TableDefinition/counter(_:of:using:)``.
        case counterNotKept(reason: String)
        /// Rows of the table have a wrong count.
        case inaccurateCounters(count: Int)
        /// A full-text index of the table is not in step with its rows, or will not be: see
        /// ``Database/rebuild(fullText:)``.
        case fullTextNotKept(index: String, reason: String)
        /// No record could be made from a row, to see what it encodes.
        case recordNotMade(reason: String)
        /// The record that was made from a row could not be encoded.
        case recordNotEncoded(reason: String)
    }
}

extension SchemaFault: CustomStringConvertible {
    /// The fault as a sentence.
    public var description: String {
        let column = columns.count == 1 ? "the column \(names)" : "the columns \(names)"
        let table = "the table \(tableName)"
        return switch kind {
        case .tableMissing: "\(recordType) is stored in \(table), which does not exist."
        case .selectionInvalid(let message):
            "\(recordType) has a databaseSelection that does not work with \(table): \(message)."
        case .columnMissing(let isRead, let isEncoded):
            "\(recordType) \(isRead ? isEncoded ? "reads and encodes" : "reads" : "encodes") \(column), "
                + "which \(table) lacks."
        case .columnNotSelected:
            "\(recordType) reads \(column) of \(table), which its databaseSelection lacks."
        case .generatedColumnEncoded:
            "\(recordType) encodes \(column) of \(table), which is generated and cannot be written."
        case .columnNotEncoded:
            "\(recordType) never encodes \(column) of \(table), which is NOT NULL and has no default."
        case .propertyNotListed:
            "\(recordType) has a property \(names), but no line for \(column) of \(table) in columns(_:): "
                + "the property is neither read nor stored. List it, or name it in databaseUnlistedProperties."
        case .primaryKeyNotEncoded:
            "\(recordType) does not encode the primary key (\(names)) of \(table), by which it is updated and deleted."
        case .primaryKeyShared(let value):
            Record.sharedKeySentence(recordType, value, column: names, table: tableName)
        case .defaultOverwritten(let sql):
            "\(recordType) stores NULL in \(column) of \(table) if it has no value, instead of the default "
                + "\(sql)."
        case .foreignKeyNotIndexed(let destination):
            "The foreign key (\(names)) of \(table), which refers to the table \(destination), has no index."
        case .foreignKeyOfOtherCollation(let destination, let collation):
            "The column \(names) of \(table) refers to the table \(destination), which compares with "
                + "\(collation), and so no index of the foreign key is used. Declare the column COLLATE "
                + "\(collation)."
        case .affinityMismatch(let value, let type):
            "\(recordType) encodes \(value) in \(column) of \(table), whose type is \(type): \(effect(of: value, type))."
        case .filterInvalid(let message):
            "\(recordType) has a default filter that does not work with \(table): \(message)."
        case .uniqueIndexOfDeletedRows(let name, let softDelete):
            "The unique index \(name) (\(names)) of \(table) includes deleted rows of \(recordType), and "
                + "so the \(names) of a deleted row cannot be used again. Make it partial: WHERE \(softDelete) "
                + "IS NULL."
        case .uniqueIndexOfDates(let name, let softDelete):
            "The unique index \(name) (\(names)) of \(table) does not keep rows of \(recordType) that are "
                + "not deleted from repeating each other: they have NULL in \(softDelete), and no NULL equals "
                + "another. Leave that column out, and make it partial: WHERE \(softDelete) IS NULL."
        case .kindsInvalid(let message):
            "\(recordType) has databaseKinds that do not work with \(table): \(message)."
        case .unknownKind(let kind, let count):
            "\(count) \(count == 1 ? "row" : "rows") of \(table) \(count == 1 ? "is" : "are") of the kind \(kind.sqlLiteral) in \(column), "
                + "which the databaseKinds of \(recordType) do not list."
        case .casesRefused(let type, let values):
            "The CHECK of \(column) of \(table) refuses these cases of \(type): "
                + "\(values.map(\.sqlLiteral).joined(separator: ", ")). Rebuild the table with check(in: "
                + "\(type).self)."
        case .unknownCase(let type, let value, let count):
            "\(count) \(count == 1 ? "row holds" : "rows hold") \(value.sqlLiteral) in \(column) of "
                + "\(table), which is not a case of \(type)."
        case .counterNotKept(let reason):
            "Nothing updates \(column) of \(table), which is a counter: \(reason)."
        case .inaccurateCounters(let count):
            "\(count) \(count == 1 ? "row" : "rows") of \(table) \(count == 1 ? "has" : "have") a wrong count in \(column): "
                + "call recount(\"\(tableName)\", \"\(names)\")."
        case .fullTextNotKept(let index, let reason):
            "The full-text index \(index) of \(table) is out of step: \(reason)."
        case .recordNotMade(let reason):
            "No \(recordType) could be made from a row of \(table), to see what it encodes: call checkSchema(_:) on "
                + "an instance. (\(reason))"
        case .recordNotEncoded(let reason):
            "The \(recordType) that was made from a row of \(table) could not be encoded: call checkSchema(_:) on "
                + "an instance. (\(reason))"
        }
    }

    private var names: String { columns.joined(separator: ", ") }

    /// Returns the effect on a value.
    private func effect(of value: StorageClass, _ declaredType: String) -> String {
        switch value {
        case .blob: "declare it BLOB"
        case .text: "texts that look like numbers are stored as numbers"
        case .real where ColumnAffinity(declaredType: declaredType) == .integer:
            "numbers without a fraction are stored as integers"
        case .integer, .real, .null: "it is stored as a text"
        }
    }
}
