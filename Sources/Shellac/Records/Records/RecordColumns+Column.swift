// The lines of a list whose columns have a name of their own, as `Columns.name` has.

extension RecordColumns {
    /// Lists a column, with the property that it is read into and stored from.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: What is stored. It is asked for where the record is encoded.
    ///   - set: Sets the property. It is called where a row has the column.
    /// - Throws: a ``RowDecodingError`` where the column holds NULL, or a value that does not convert, and what the functions
    ///   throw.
    @inlinable @inline(__always)
    public func callAsFunction<Value: DatabaseValueConvertible>(
        _ column: Column, _ value: @autoclosure () throws -> Value, _ set: (Value) throws -> Void
    ) throws {
        try self(column.name, value(), set)
    }

    /// Lists a column that holds JSON, with the property that it is read into and stored from.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: What is stored. It is asked for where the record is encoded.
    ///   - set: Sets the property. It is called where a row has the column.
    /// - Throws: a ``RowDecodingError`` where the column holds NULL, or a value that does not convert, and what the functions
    ///   throw.
    @_disfavoredOverload
    public func callAsFunction<Value: Codable>(
        _ column: Column, _ value: @autoclosure () throws -> Value, _ set: (Value) throws -> Void
    ) throws {
        try self(column.name, value(), set)
    }

    /// Lists a column that the record reads, and never stores.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - type: What it is read as. Mostly, the property says it.
    ///   - set: Sets the property. It is called where a row has the column.
    /// - Throws: a ``RowDecodingError`` where the column holds NULL, or a value that does not convert, and what the functions
    ///   throw.
    @inlinable @inline(__always)
    public func reading<Value: DatabaseValueConvertible>(
        _ column: Column, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        try reading(column.name, as: type, set)
    }

    /// Lists a column of JSON that the record reads, and never stores.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - type: What it is read as. Mostly, the property says it.
    ///   - set: Sets the property. It is called where a row has the column.
    /// - Throws: a ``RowDecodingError`` where the column holds NULL, or a value that does not convert, and what the functions
    ///   throw.
    @_disfavoredOverload
    public func reading<Value: Decodable>(
        _ column: Column, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        try reading(column.name, as: type, set)
    }

    /// Lists a column that the record stores, and never reads.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: What is stored. It is asked for where the record is encoded.
    /// - Throws: what encoding the value throws.
    @inlinable @inline(__always)
    public func writing<Value: DatabaseValueConvertible>(
        _ column: Column, _ value: @autoclosure () throws -> Value
    ) throws {
        try writing(column.name, value())
    }

    /// Lists a column of JSON that the record stores, and never reads.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: What is stored. It is asked for where the record is encoded.
    /// - Throws: what encoding the value throws.
    @_disfavoredOverload
    public func writing<Value: Encodable>(_ column: Column, _ value: @autoclosure () throws -> Value) throws {
        try writing(column.name, value())
    }
}
