// Listing of columns by a `Column`, such as `Columns.name`, in place of a text.

extension RecordColumns {
    /// Lists a column, with the property that it is read into and stored from.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: The stored value. It is evaluated when the record is encoded.
    ///   - set: A function that sets the property. It is called if a row has the column.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the functions.
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
    ///   - value: The stored value. It is evaluated when the record is encoded.
    ///   - set: A function that sets the property. It is called if a row has the column.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the functions.
    @_disfavoredOverload
    public func callAsFunction<Value: Codable>(
        _ column: Column, _ value: @autoclosure () throws -> Value, _ set: (Value) throws -> Void
    ) throws {
        try self(column.name, value(), set)
    }

    /// Lists a column that the record reads, but never stores.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - type: The type that the column is read as. Usually, the property determines it.
    ///   - set: A function that sets the property. It is called if a row has the column.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the functions.
    @inlinable @inline(__always)
    public func reading<Value: DatabaseValueConvertible>(
        _ column: Column, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        try reading(column.name, as: type, set)
    }

    /// Lists a column of JSON that the record reads, but never stores.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - type: The type that the column is read as. Usually, the property determines it.
    ///   - set: A function that sets the property. It is called if a row has the column.
    /// - Throws: a ``RowDecodingError`` if the column holds NULL, or a value that does not convert.
    ///   Also any error of the functions.
    @_disfavoredOverload
    public func reading<Value: Decodable>(
        _ column: Column, as type: Value.Type = Value.self, _ set: (Value) throws -> Void
    ) throws {
        try reading(column.name, as: type, set)
    }

    /// Lists a column that the record stores, but never reads.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: The stored value. It is evaluated when the record is encoded.
    /// - Throws: any error that encoding the value throws.
    @inlinable @inline(__always)
    public func writing<Value: DatabaseValueConvertible>(
        _ column: Column, _ value: @autoclosure () throws -> Value
    ) throws {
        try writing(column.name, value())
    }

    /// Lists a column of JSON that the record stores, but never reads.
    ///
    /// - Parameters:
    ///   - column: The column. No strategy converts its name.
    ///   - value: The stored value. It is evaluated when the record is encoded.
    /// - Throws: any error that encoding the value throws.
    @_disfavoredOverload
    public func writing<Value: Encodable>(_ column: Column, _ value: @autoclosure () throws -> Value) throws {
        try writing(column.name, value())
    }
}
