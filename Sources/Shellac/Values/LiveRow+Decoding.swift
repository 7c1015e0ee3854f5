extension LiveRow {
    /// The Swift value in a column, which must exist.
    @inlinable @inline(__always)
    func decode<Value: DatabaseValueConvertible>(_ type: Value.Type, at column: Int) throws -> Value {
        if let value = Value.fromSQLiteValue(value(at: column)) { return value }
        throw failure(Value.self, at: column)
    }

    /// Why the value in a column did not convert.
    @usableFromInline @inline(never)
    func failure(_ type: any Any.Type, at column: Int) -> RowDecodingError {
        let found = value(at: column).databaseValue
        return RowDecodingError(
            reason: found.isNull ? .unexpectedNull : .valueMismatch, columnName: layout.names[column],
            columnIndex: column, expectedType: type, databaseValue: found, columnNames: layout.names, sql: sql
        )
    }
}

// MARK: - Values are fetched from the first column

extension DatabaseValueConvertible {
    @inlinable @inline(__always)
    public static func currentElement(of row: LiveRow) throws -> Self {
        try row.decode(Self.self, at: 0)
    }

    /// NULL is nil, as no row is.
    @inlinable @inline(__always)
    public static func onlyElement(of row: LiveRow) throws -> Self? {
        try row.decode(Self?.self, at: 0)
    }
}
