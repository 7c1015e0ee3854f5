// Decodes Swift values from the columns of a live row, with errors that name the column.

extension LiveRow {
    /// Decodes the Swift value in a column, which must exist.
    @inlinable @inline(__always)
    func decode<Value: DatabaseValueConvertible>(_ type: Value.Type, at column: Int) throws -> Value {
        if let value = Value.fromSQLiteValue(value(at: column)) { return value }
        return try decodeNull(type, at: column)
    }

    /// Converts NULL on the slow path, after the fast path returned nothing: a `Codable` type may
    /// wrap an optional.
    @inlinable @inline(never)
    func decodeNull<Value: DatabaseValueConvertible>(_ type: Value.Type, at column: Int) throws -> Value {
        if value(at: column).isNull, let value = Value.fromDatabaseValue(.null) { return value }
        throw failure(type, at: column)
    }

    /// Returns an error with the reason why the value in a column did not convert.
    @usableFromInline @inline(never)
    func failure(_ type: any Any.Type, at column: Int) -> RowDecodingError {
        RowDecodingError(type, at: column, of: contents, sql: layout.sql)
    }

    /// A copy of the names and values.
    var contents: [(String, DatabaseValue)] {
        zip(layout.names, 0...).map { ($0, value(at: $1).databaseValue) }
    }
}

extension RowDecodingError {
    /// Creates the error for a value in a column that did not convert.
    init(
        _ type: any Any.Type, at column: Int, of row: [(String, DatabaseValue)], sql: String?
    ) {
        let (name, value) = row[column]
        self.init(
            reason: value.isNull ? .unexpectedNull : .valueMismatch, columnName: name,
            columnIndex: column, expectedType: type, databaseValue: value, row: row, sql: sql)
    }
}

// MARK: - Values fetched from the first column

extension DatabaseValueConvertible {
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self {
        try row.decode(Self.self, at: 0)
    }

    /// Returns nil for NULL, as if there were no row.
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func onlyElement(of row: LiveRow) throws -> Self? {
        row.value(at: 0).isNull ? nil : try row.decode(Self.self, at: 0)
    }
}
