// Reads a row without a static type, or with a type that is an argument.

extension Row {
    /// The value in a column as a Swift value: an `Int64`, a `Double`, a `String` or a `Data`. Nil
    /// for NULL, and if the row has no such column.
    ///
    /// ```swift
    /// switch try row["value"] {
    /// case let text as String: print(text)
    /// case let other?: print(other)
    /// case nil: print("nothing")
    /// }
    /// ```
    ///
    /// This subscript is used if no type is requested. State the type wherever you know it: then a
    /// value that does not convert throws an error.
    ///
    /// - Parameter name: The name of the column, whatever its case. If several columns have it, the
    ///   leftmost is read.
    @_disfavoredOverload
    public subscript(_ name: String) -> (any DatabaseValueConvertible)? {
        get throws { databaseValue(named: name)?.storage.value }
    }

    /// The value in a column as a Swift value. Nil for NULL, and if the row has no such column.
    ///
    /// - Parameter index: The index of the column, from 0.
    /// - Throws: nothing. (It is `throws` for consistency with the subscripts that convert.)
    @_disfavoredOverload
    public subscript(_ index: Int) -> (any DatabaseValueConvertible)? {
        get throws { databaseValue(atIndex: index)?.storage.value }
    }

    /// Returns the value in a column as a value of the given type.
    ///
    /// ```swift
    /// let score = try row.decode(Int.self, forColumn: "score")
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type of the value. With an optional type, NULL is nil, and so is a missing
    ///     column.
    ///   - name: The name of the column, whatever its case. If several columns have it, the
    ///     leftmost is read.
    /// - Throws: a ``RowDecodingError``, as the subscripts do.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn name: String
    ) throws -> Value { try self[name] }

    /// Returns the value at a column index as a value of the given type.
    ///
    /// - Parameters:
    ///   - type: The type of the value. With an optional type, NULL is nil, and so is a missing
    ///     column.
    ///   - index: The index of the column, from 0.
    /// - Throws: a ``RowDecodingError``, as the subscripts do.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value { try self[index] }

    /// Returns the first value of the given columns that is not NULL, or nil.
    ///
    /// ```swift
    /// let name: String? = try row.coalesce(["nickname", "name"])
    /// ```
    ///
    /// - Parameter columns: The names of the columns, in order of preference. Missing columns are
    ///   skipped.
    /// - Throws: a ``RowDecodingError`` if that value does not convert.
    public func coalesce<Value: DatabaseValueConvertible>(_ columns: some Collection<String>) throws -> Value?
    {
        for column in columns {
            if let value = databaseValue(named: column), !value.isNull { return try self[column] as Value }
        }
        return nil
    }

    /// Creates a row from a dictionary of any values, with its columns in the order of their names.
    ///
    /// - Parameter dictionary: The values, keyed by column name. The initializer fails if a key is
    ///   not a text, or if SQLite cannot store a value.
    public init?(_ dictionary: [AnyHashable: Any]) {
        var columns: [(String, DatabaseValue)] = []
        for (key, value) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: value) else { return nil }
            columns.append((name, value))
        }
        self.init(columns.sorted { $0.0 < $1.0 })
    }
}

// MARK: - As a collection

/// A position in a row: see ``Row/startIndex``.
public struct RowIndex: Comparable, Sendable {
    let column: Int

    public static func < (a: RowIndex, b: RowIndex) -> Bool { a.column < b.column }
}

extension Row: RandomAccessCollection {
    /// The position of the leftmost column.
    public var startIndex: RowIndex { RowIndex(column: 0) }

    /// The position after the last column.
    public var endIndex: RowIndex { RowIndex(column: count) }

    /// The name and the value of the column at a position.
    ///
    /// - Parameter position: A valid position of the row.
    public subscript(position: RowIndex) -> Element {
        guard let value = databaseValue(atIndex: position.column) else {
            Misuse.trap(
                "a row has no column at the given position: use positions of the same row, before endIndex."
            )
        }
        return (columnNames[position.column], value)
    }

    public func index(after place: RowIndex) -> RowIndex { RowIndex(column: place.column + 1) }
    public func index(before place: RowIndex) -> RowIndex { RowIndex(column: place.column - 1) }
    public func index(_ place: RowIndex, offsetBy distance: Int) -> RowIndex {
        RowIndex(column: place.column + distance)
    }
    public func distance(from start: RowIndex, to end: RowIndex) -> Int { end.column - start.column }
}
