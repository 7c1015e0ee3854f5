/// A column by its name: ``Column`` itself, or a case of an enumeration of names.
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
    /// Stores a value.
    ///
    /// - Parameter value: A value, which is bound, or an expression: columns in it have the values that they have before the
    ///   update. Nil stores NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment { Column(name).set(to: value) }

    /// Leaves the column of a row that is in the way of an upsert as it is. An update does nothing with it.
    public var noOverwrite: ColumnAssignment { Column(name).noOverwrite }

    /// Toggles a Boolean column: `SET flag = NOT flag`.
    public func toggle() -> ColumnAssignment { Column(name).toggle() }

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

    /// The column where no table is joined with others: the column itself. (SQL names columns of joined tables by their table:
    /// ``TableAlias``.)
    public var detached: SQLExpression { sqlExpression }
}

extension Row {
    /// The value in a column.
    ///
    /// - Parameter column: The column, by its name, whose case does not matter. Of several columns of that name, the leftmost is
    ///   read.
    /// - Throws: a ``RowDecodingError``, as the subscript by a name does.
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        get throws { try self[column.name] }
    }

    /// Whether the row has a column.
    ///
    /// - Parameter column: The column, by its name, whose case does not matter.
    public func hasColumn(_ column: some ColumnExpression) -> Bool { hasColumn(column.name) }

    /// Returns the value in a column as a value of a type.
    ///
    /// - Parameters:
    ///   - type: The type of the value. An optional takes NULL, and nil for a column that the row lacks.
    ///   - column: The column, by its name, whose case does not matter.
    /// - Throws: a ``RowDecodingError``, as the subscripts do.
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value { try self[column.name] }

    /// Returns the first value of some columns that is not NULL, or nil.
    ///
    /// - Parameter columns: The columns, in the order in which they are asked. Those that the row lacks are passed over.
    /// - Throws: a ``RowDecodingError`` when that value does not convert.
    public func coalesce<Value: DatabaseValueConvertible>(
        _ columns: some Collection<some ColumnExpression>
    ) throws -> Value? { try coalesce(columns.map(\.name)) }
}

extension TableAlias {
    /// A column of the table: `"p"."id"`.
    ///
    /// - Parameter column: The column, of which the name alone matters.
    public subscript(_ column: some ColumnExpression) -> SQLExpression { self[Column(column.name)] }

    /// A column of the table: `"p"."id"`.
    ///
    /// - Parameter name: The name of the column, without quotes: SQL gets it quoted.
    public subscript(_ name: String) -> SQLExpression { self[Column(name)] }
}
