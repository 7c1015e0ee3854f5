/// A row that a statement returns, or that you create yourself.
///
/// ```swift
/// let rows = try Row.fetchCursor(db, sql: "SELECT id, name, score FROM player")
/// while let row = try rows.next() {
///     let name: String = try row["name"]
///     let score: Int? = try row["score"]
///     print(name, score ?? 0)
/// }
/// ```
///
/// A row of a cursor reads SQLite's own memory, until the cursor's next step. Use ``copy()`` to
/// keep it. Reading it later stops the program with an explanation. The rows of `fetchAll` and
/// `fetchOne` own their values.
///
/// The case of column names does not matter, and the leftmost of duplicate columns wins. A column
/// throws a ``RowDecodingError`` if it is missing or NULL, or if its value does not convert. Read
/// as an optional, a missing or NULL column is nil.
public struct Row {
    /// The live row of the statement, with the generation that identifies this row among its rows:
    /// see ``LiveRow``.
    @usableFromInline let live: LiveRow
    @usableFromInline let generation: UInt64
    /// The values of a row that owns them.
    @usableFromInline let packed: PackedRow?

    /// Creates a row that reads the current row of a statement.
    @inlinable @inline(__always)
    init(_ live: LiveRow) {
        self.live = live
        generation = live.storage.pointee.generation
        packed = nil
    }

    @usableFromInline
    init(_ packed: PackedRow) {
        live = LiveRow(LiveRow.none.storage)
        generation = 0
        self.packed = packed
    }

    /// Creates a row with its columns in the order of their names.
    ///
    /// - Parameter dictionary: The values, keyed by column name. Nil is NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }

    /// Creates a row with its columns in the given order.
    ///
    /// - Parameter columns: The names and the values of the columns. Names may be duplicates.
    public init(_ columns: [(String, DatabaseValue)]) {
        self.init(.make(RowLayout(names: columns.map(\.0), sql: nil), values: columns.map(\.1)))
    }

    /// Creates a row without columns.
    public init() { self.init([(String, DatabaseValue)]()) }

    /// Whether the statement still has this row as its current row. The check is one comparison at
    /// each reading.
    @inlinable
    var isLive: Bool { generation == live.storage.pointee.generation }

    /// The packed values of a row that owns them. Traps for a row whose statement has moved on.
    var owned: PackedRow { packed ?? trapStale() }

    @inline(never)
    private func trapStale<Result: ~Copyable>() -> Result {
        Misuse.trap(
            "a row was read after its cursor had moved on. Call copy() on a row to keep it, "
                + "or fetch an array with Row.fetchAll.")
    }

    @usableFromInline
    var layout: RowLayout { isLive ? live.layout : owned.layout }

    // MARK: - Reading a column

    /// The value in a column.
    ///
    /// - Parameter name: The name of the column, whatever its case. If several columns have it, the
    ///   leftmost is read.
    /// - Throws: a ``RowDecodingError`` if the value does not convert, and if the row lacks the
    ///   column, unless an optional is requested.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value {
        @inline(__always)
        get throws {
            guard isLive else { return try packedValue(named: name) }
            let column = live.column(named: name)
            guard column >= 0 else { return try missingValue(name, at: nil) }
            return try live.decode(Value.self, at: column)
        }
    }

    /// The value at a column index.
    ///
    /// - Parameter index: The index of the column, from 0.
    /// - Throws: a ``RowDecodingError`` if the value does not convert, and if the row lacks the
    ///   column, unless an optional is requested.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        @inline(__always)
        get throws {
            guard isLive else { return try packedValue(at: index) }
            guard UInt(bitPattern: index) < UInt(bitPattern: live.count) else {
                return try missingValue(nil, at: index)
            }
            return try live.decode(Value.self, at: index)
        }
    }

    @inlinable
    func packedValue<Value: DatabaseValueConvertible>(named name: String) throws -> Value {
        let column = packedColumn(named: name)
        guard column >= 0 else { return try missingValue(name, at: nil) }
        return try packedValue(in: column)
    }

    @inlinable
    func packedValue<Value: DatabaseValueConvertible>(at column: Int) throws -> Value {
        guard 0..<packedCount ~= column else { return try missingValue(nil, at: column) }
        return try packedValue(in: column)
    }

    @inlinable @inline(__always)
    func packedValue<Value: DatabaseValueConvertible>(in column: Int) throws -> Value {
        // The value is inside the row, so the row must stay alive while the value is read.
        let value = withExtendedLifetime(packed) { Value.fromSQLiteValue(packedValue(in: column)) }
        if let value { return value }
        return try packedNull(in: column)
    }

    @inlinable @inline(never)
    func packedNull<Value: DatabaseValueConvertible>(in column: Int) throws -> Value {
        let isNull = withExtendedLifetime(packed) { packedValue(in: column).isNull }
        if isNull, let value = Value.fromDatabaseValue(.null) { return value }
        throw failure(Value.self, at: column)
    }

    @usableFromInline @inline(never)
    func failure(_ type: any Any.Type, at column: Int) -> RowDecodingError {
        RowDecodingError(type, at: column, of: Array(self), sql: layout.sql)
    }

    @usableFromInline
    func missingValue<Value: DatabaseValueConvertible>(_ name: String?, at index: Int?) throws -> Value {
        if let value = Value.fromMissingColumn() { return value }
        throw RowDecodingError(
            reason: .columnNotFound, columnName: name, columnIndex: index, expectedType: Value.self,
            databaseValue: nil, row: Array(self), sql: layout.sql)
    }

    /// Whether the row has a column.
    ///
    /// - Parameter name: The name of the column, whatever its case.
    @inlinable @inline(__always)
    public func hasColumn(_ name: String) -> Bool {
        isLive ? live.column(named: name) >= 0 : ownsColumn(name)
    }

    @inlinable
    func ownsColumn(_ name: String) -> Bool { packedColumn(named: name) >= 0 }

    // These functions are called rather than inlined, so that the caller does no reference counting
    // for the values.

    @usableFromInline @inline(never)
    func packedColumn(named name: String) -> Int { packed?.column(named: name) ?? trapStale() }

    @usableFromInline @inline(never)
    func packedValue(in column: Int) -> SQLiteValue {
        (packed?.column(column)).map { SQLiteValue($0) } ?? trapStale()
    }

    @usableFromInline
    var packedCount: Int { packed?.count ?? trapStale() }

    // MARK: - Keeping

    /// Returns a row with the same columns, which owns its values and can be kept.
    public func copy() -> Row {
        guard isLive else { return Row(owned) }
        if let attached = live.storage.pointee.attached { return copy(with: attached) }
        return Row(.make(live))
    }
}

@available(
    *, unavailable,
    message:
        "a row may refer to memory of SQLite: return copies, or the values that you read, from the access"
)
extension Row: Sendable {}

// MARK: - Fetching rows

@_documentation(visibility: internal)
extension Row: DatabaseFetchable {
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Row { Row(row) }

    @inlinable
    public static func keptElement(of row: LiveRow) throws -> Row { Row(row).copy() }

    @inlinable
    public static func kept(_ row: Row) throws -> Row { row.copy() }
}
