/// One pass over the columns of a record: it reads, encodes, sets or lists them.
///
/// A class lists its columns once, and all passes use this list:
///
/// ```swift
/// class Player: Record {
///     var id: Int64?
///     var name = ""
///     var tags: [String] = []
///
///     override func columns(_ column: borrowing RecordColumns) throws {
///         try column("id", id) { id = $0 }
///         try column("name", name) { name = $0 }
///         try column("tags", tags) { tags = $0 }
///     }
/// }
/// ```
///
/// Each line has the name of a column, the value of the property, and a closure that sets it. The
/// value is evaluated when the record is encoded. The closure is called if a row has the column. If
/// a row lacks the column, the property stays as it is. Let ``Record/columns(_:)`` do nothing else,
/// because there are many passes.
///
/// One column stores one value: any ``DatabaseValueConvertible``, optional or not. Any other
/// `Codable` value is stored as JSON. The strategies of the class for dates, data, UUIDs and JSON
/// apply, such as ``Record/databaseDateEncodingStrategy(for:)``.
///
/// `reading(_:as:_:)` is for a column that the record never stores, and `writing(_:_:)` for one
/// that it never reads.
public struct RecordColumns: ~Copyable {
    // One number identifies a pass, so that it stays in a register from one column to the next. It
    // is one of the constants below, or else the generation of the statement's row that is read.
    @usableFromInline let pass: UInt64
    /// The encoding of the columns, or the storage of the row. In other passes, a ``GivenColumn``
    /// or an ``OtherPass``.
    @usableFromInline let target: UnsafeMutableRawPointer
    /// The class of the record, whose strategies apply.
    @usableFromInline let record: Record.Type

    @inlinable static var encoding: UInt64 { 0 }
    @inlinable static var giving: UInt64 { .max - 1 }
    @inlinable static var elsewhere: UInt64 { .max }

    /// Creates a pass that encodes.
    @inline(__always)
    init(encoding: UnsafeMutablePointer<ColumnEncoding>, _ record: Record.Type) {
        (pass, target, self.record) = (Self.encoding, UnsafeMutableRawPointer(encoding), record)
    }

    /// Creates a pass that reads a live row.
    @inline(__always)
    init(reading row: LiveRow, _ record: Record.Type) {
        pass = row.storage.pointee.generation
        (target, self.record) = (UnsafeMutableRawPointer(row.storage), record)
    }

    /// Creates a pass that sets one column.
    @inline(__always)
    init(giving column: UnsafeMutablePointer<GivenColumn>, _ record: Record.Type) {
        (pass, target, self.record) = (Self.giving, UnsafeMutableRawPointer(column), record)
    }

    /// Creates a pass that reads a row which owns its values, or that lists columns.
    init(_ other: UnsafeMutablePointer<OtherPass>, _ record: Record.Type) {
        (pass, target, self.record) = (Self.elsewhere, UnsafeMutableRawPointer(other), record)
    }

    /// A pass outside of the hot paths.
    struct OtherPass {
        /// The row that is read. Nil if columns are listed.
        let row: Row?
        var listed: [ListedColumn] = []
    }

    // MARK: - Columns

    /// Lists a column, with the property that it is read into and stored from.
    ///
    /// - Parameters:
    ///   - name: The name of the column, which no strategy converts.
    ///   - value: The stored value.
    ///   - set: A function that sets the property.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the value and the setter.
    @inlinable @inline(__always)
    public func callAsFunction<Value: DatabaseValueConvertible>(
        _ name: String, _ value: @autoclosure () throws -> Value, _ set: (Value) throws -> Void
    ) throws {
        if pass == Self.encoding {
            try encode(value(), in: name)
        } else if let value: Value = try read(name, isWritten: true) {
            try set(value)
        }
    }

    /// Lists a column that holds JSON, with the property that it is read into and stored from.
    ///
    /// - Parameters:
    ///   - name: The name of the column, which no strategy converts.
    ///   - value: The stored value.
    ///   - set: A function that sets the property.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or JSON that does not decode.
    ///   Also any error of the coding, the value and the setter.
    @_disfavoredOverload  // a DatabaseValueConvertible is not JSON
    public func callAsFunction<Value: Codable>(
        _ name: String, _ value: @autoclosure () throws -> Value, _ set: (Value) throws -> Void
    ) throws {
        if pass == Self.encoding {
            try encodeCodable(value(), in: name)
        } else if let value: Value = try readCodable(name, isWritten: true) {
            try set(value)
        }
    }

    /// Lists a column that the record reads, but never stores, such as an annotation of a request
    /// or a generated column.
    ///
    /// ```swift
    /// try column.reading("bookCount") { bookCount = $0 }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - type: The type that the column is read as. Usually, the property determines it.
    ///   - set: A function that sets the property.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the setter.
    @inlinable @inline(__always)
    public func reading<Value: DatabaseValueConvertible>(
        _ name: String, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        if pass != Self.encoding, let value: Value = try read(name, isWritten: false) { try set(value) }
    }

    /// Lists a column of JSON that the record reads, but never stores.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - type: The type that the column is read as. Usually, the property determines it.
    ///   - set: A function that sets the property.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or JSON that does not decode.
    ///   Also any error of the setter.
    @_disfavoredOverload
    public func reading<Value: Decodable>(
        _ name: String, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        if pass != Self.encoding, let value: Value = try readCodable(name, isWritten: false) {
            try set(value)
        }
    }

    /// Lists a column that the record stores, but never reads, from a constant or a computed
    /// property.
    ///
    /// ```swift
    /// try column.writing("slug", name.lowercased())
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - value: The stored value.
    /// - Throws: any error of the value.
    @inlinable @inline(__always)
    public func writing<Value: DatabaseValueConvertible>(
        _ name: String, _ value: @autoclosure () throws -> Value
    ) throws {
        if pass == Self.encoding {
            try encode(value(), in: name)
        } else if pass == Self.elsewhere {
            list(name, Value.self, isRead: false, isWritten: true)
        }
    }

    /// Lists a column of JSON that the record stores, but never reads.
    ///
    /// - Parameters:
    ///   - name: The name of the column.
    ///   - value: The stored value.
    /// - Throws: any error of the coding and the value.
    @_disfavoredOverload
    public func writing<Value: Encodable>(_ name: String, _ value: @autoclosure () throws -> Value) throws {
        if pass == Self.encoding {
            try encodeCodable(value(), in: name)
        } else if pass == Self.elsewhere {
            list(name, Value.self, isRead: false, isWritten: true)
        }
    }

    // MARK: - Encoding

    @inlinable @inline(__always)
    func encode<Value: DatabaseValueConvertible>(_ value: Value, in name: String) throws {
        if Value._followsStrategies, record.hasStrategies { return try encodeByStrategy(value, in: name) }
        let sink = DatabaseValueSink(target.assumingMemoryBound(to: ColumnEncoding.self), name)
        value.store(in: sink)
    }

    private var encoding: ValueEncoding {
        ValueEncoding(PersistenceContainer(target.assumingMemoryBound(to: ColumnEncoding.self)), record)
    }

    @usableFromInline @inline(never)
    func encodeByStrategy(_ value: some DatabaseValueConvertible, in name: String) throws {
        try encoding.encodeByStrategy(value, in: name)
    }

    private func encodeCodable(_ value: some Encodable, in name: String) throws {
        try encoding.encode(value, in: name)
    }

    // MARK: - Reading

    /// Whether the pass reads a statement's row, and the statement has not moved on.
    @inlinable @inline(__always)
    var isLive: Bool { pass < Self.giving && row.storage.pointee.generation == pass }

    @inlinable @inline(__always)
    var row: LiveRow { LiveRow(target.assumingMemoryBound(to: LiveRow.Storage.self)) }

    // These functions return the value, and the caller sets it. A setter that is passed on would
    // keep its record alive in each pass, which makes encoding a third slower.

    /// Reads the value of a column. Nil if there is no such column.
    @inlinable @inline(__always)
    func read<Value: DatabaseValueConvertible>(_ name: String, isWritten: Bool) throws -> Value? {
        guard isLive else {
            if pass == Self.giving, given.pointee.name != NameBits(name) { return nil }
            return try readElsewhere(name, isWritten: isWritten)
        }
        let column = row.column(named: name)
        if column < 0 { return nil }
        if Value._followsStrategies, record.hasStrategies { return try readByStrategy(name) }
        return try row.decodeListed(Value.self, at: column)
    }

    @inlinable @inline(never)
    func readElsewhere<Value: DatabaseValueConvertible>(_ name: String, isWritten: Bool) throws -> Value? {
        if pass == Self.giving, !(Value._followsStrategies && record.hasStrategies) {
            given.pointee.isTaken = true
            if let value = Value.fromSQLiteValue(given.pointee.value) { return value }
        }
        guard let row = ownedRow(name) else {
            list(name, Value.self, isRead: true, isWritten: isWritten)
            return nil
        }
        if Value._followsStrategies, record.hasStrategies { return try readByStrategy(name) }
        let column = row.packedColumn(named: name)
        if column < 0 { return nil }
        // For NULL, an optional type returns nil, which is not the same nil as for a missing
        // column.
        return try row.packedValue(in: column) as Value
    }

    @usableFromInline @inline(never)
    func readByStrategy<Value: DatabaseValueConvertible>(_ name: String) throws -> Value? {
        guard let row = anyRow(name), row.hasColumn(name) else { return nil }
        return try RecordDecoding(row: row, record: record).decodeByStrategy(in: name) as Value
    }

    private func readCodable<Value: Decodable>(_ name: String, isWritten: Bool) throws -> Value? {
        guard let row = anyRow(name) else {
            list(name, Value.self, isRead: true, isWritten: isWritten)
            return nil
        }
        return row.hasColumn(name)
            ? try RecordDecoding(row: row, record: record).decode(Value.self, in: name) : nil
    }

    private func anyRow(_ name: String) -> Row? { isLive ? Row(row) : ownedRow(name) }

    /// Returns the row that owns its values. Nil if columns are listed.
    @usableFromInline @inline(never)
    func ownedRow(_ name: String) -> Row? {
        if pass == Self.giving { return given.pointee.row(name) }
        guard pass == Self.elsewhere else { trapStale() }
        return target.assumingMemoryBound(to: OtherPass.self).pointee.row
    }

    /// The column that is set.
    @inlinable @inline(__always)
    var given: UnsafeMutablePointer<GivenColumn> { target.assumingMemoryBound(to: GivenColumn.self) }

    @inline(never)
    private func trapStale() -> Never {
        Misuse.trap(
            "the row of a record was read after its cursor had moved on: columns(_:) of \(record), or one of its "
                + "setters, has moved it. Only set properties there.")
    }

    // MARK: - Listing

    @usableFromInline @inline(never)
    func list(_ name: String, _ type: any Any.Type, isRead: Bool, isWritten: Bool) {
        guard pass == Self.elsewhere else { return }
        let pass = target.assumingMemoryBound(to: OtherPass.self)
        if pass.pointee.row != nil { return }
        pass.pointee.listed.append(
            ListedColumn(name: name, type: type, isRead: isRead, isWritten: isWritten))
    }
}

@available(*, unavailable, message: "a pass over columns ends when columns(_:) returns")
extension RecordColumns: Sendable {}

/// A value to set for a listed property: the row id, a date, or the value before a save that is
/// rolled back.
@usableFromInline
struct GivenColumn {
    /// The name of the column, as the record spells it.
    @usableFromInline let name: NameBits
    /// The packed value. The caller keeps it alive.
    let packed: PackedValue
    /// Whether the record has taken it.
    @usableFromInline var isTaken = false

    @usableFromInline
    var value: SQLiteValue { SQLiteValue(packed) }

    /// Returns a row with this column only, if the name matches. Otherwise a row without columns.
    mutating func row(_ name: String) -> Row {
        if NameBits(name) != self.name { return Row() }
        isTaken = true
        return Row([(name, packed.view.databaseValue)])
    }
}

/// A column that a class lists.
struct ListedColumn {
    let name: String
    /// The type that it is read as, or stored from.
    let type: any Any.Type
    let isRead: Bool
    let isWritten: Bool
}

extension LiveRow {
    /// Decodes the Swift value in a column. It is not inlined, so that a list of many columns stays
    /// short: each pass runs over the inlined code.
    @inlinable @inline(never)
    func decodeListed<Value: DatabaseValueConvertible>(_ type: Value.Type, at column: Int) throws -> Value {
        try decode(type, at: column)
    }
}
