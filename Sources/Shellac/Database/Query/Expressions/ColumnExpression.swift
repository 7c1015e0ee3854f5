// Columns of a table, as expressions and as places of a row.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A column with a name: ``Column`` itself, or a case of an enumeration of names.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns: String, ColumnExpression {
///         case id, name, score
///     }
/// }
/// Player.filter(Player.Columns.score > 100).order(Player.Columns.name)
/// Player.filter { $0.score > 100 }
/// ```
public protocol ColumnExpression: SQLSpecificExpressible {
    /// The name of the column.
    var name: String { get }
}

extension ColumnExpression {
    public var sqlExpression: SQLExpression { SQLExpression(.column(name)) }
}

extension ColumnExpression where Self: RawRepresentable, RawValue == String {
    public var name: String { rawValue }
}

extension Column: ColumnExpression {}

extension ColumnExpression {
    /// Returns an assignment that leaves the column of a conflicting row unchanged in an upsert. It
    /// has no effect in an update.
    public var noOverwrite: ColumnAssignment { Column(name).noOverwrite }

    /// Adds to a number.
    public static func += (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        Column(column.name) += value
    }

    /// Subtracts from a number.
    public static func -= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        Column(column.name) -= value
    }

    /// Multiplies a number.
    public static func *= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        Column(column.name) *= value
    }

    /// Divides a number.
    public static func /= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        Column(column.name) /= value
    }

    /// Shifts the bits of an integer left.
    public static func <<= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: SQLExpression(.infix(.leftShift, column.sqlExpression, value.sqlExpression)))
    }

    /// Shifts the bits of an integer right.
    public static func >>= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: SQLExpression(.infix(.rightShift, column.sqlExpression, value.sqlExpression)))
    }

    /// The column without its table, if no tables are joined. This is the column itself. (SQL
    /// qualifies columns of joined tables by their table: ``TableAlias``.)
    public var detached: SQLExpression { sqlExpression }
}

extension Row {
    /// Returns the value in a column.
    ///
    /// - Parameter column: The column, whose name matches in any case. If several columns have that
    ///   name, the leftmost is read.
    /// - Throws: a ``RowDecodingError``, like the subscript by name.
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        get throws { try self[column.name] }
    }

    /// Returns the value in a column as a Swift value. Nil for NULL, and if the row has no such
    /// column.
    ///
    /// - Parameter column: The column, whose name matches in any case.
    /// - Throws: nothing. (It is `throws` for consistency with the subscripts that convert.)
    @_disfavoredOverload
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get throws { databaseValue(named: column.name)?.storage.value }
    }

    /// Returns the value in a column, decoded as the given type.
    ///
    /// - Parameters:
    ///   - type: The type of the value. An optional is nil for NULL, and for a column that the row
    ///     lacks.
    ///   - column: The column, whose name matches in any case.
    /// - Throws: a ``RowDecodingError``, like the subscripts.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value { try self[column.name] }
}

extension Row {
    /// Calls a function with the bytes of a column: see ``Row/withUnsafeData(named:_:)``.
    ///
    /// - Parameters:
    ///   - column: The column, whose name matches in any case.
    ///   - body: A function that gets the bytes, or nil if the column is NULL or missing. The bytes
    ///     are only valid during the call.
    /// - Throws: a ``RowDecodingError`` if the column holds a number, and any error of the
    ///   function.
    public func withUnsafeData<Result>(
        at column: some ColumnExpression, _ body: (Data?) throws -> Result
    ) throws -> Result { try withUnsafeData(named: column.name, body) }
}

extension TableAlias {
    /// Returns a column of the table: `"p"."id"`.
    ///
    /// - Parameter column: The column. Only its name matters.
    public subscript(_ column: some ColumnExpression) -> SQLExpression { self[Column(column.name)] }

    /// Returns a column of the table: `"p"."id"`.
    ///
    /// - Parameter name: The name of the column, without quotes. It is quoted in SQL.
    public subscript(_ name: String) -> SQLExpression { self[Column(name)] }
}
