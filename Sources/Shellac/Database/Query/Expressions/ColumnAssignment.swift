/// A column, and what an update stores in it.
///
/// ```swift
/// try Player.updateAll(db, [Column("score") += 10, Column("name").set(to: "Arthur")])
/// // UPDATE "player" SET "score" = "score" + 10, "name" = 'Arthur'
/// ```
public struct ColumnAssignment: Sendable {
    let column: String
    /// Nil where the column is to stay as it is.
    let value: SQLExpression?

    func write(to writer: inout some QueryWriter) throws {
        writer.name(column)
        writer.text(" = ")
        try writer.expression(value ?? Column(column).sqlExpression, above: .lowest)
    }
}

extension Column {
    /// Stores a value.
    ///
    /// - Parameter value: A value, which is bound, or an expression: columns in it have the values that they have before the
    ///   update. Nil stores NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(column: name, value: value?.sqlExpression ?? SQLExpression(.value(.null)))
    }

    /// Leaves the column of a row that is in the way of an upsert as it is: see
    /// ``MutablePersistableRecord/upsert(_:onConflict:updating:doUpdate:)``. An update does nothing with it.
    public var noOverwrite: ColumnAssignment { ColumnAssignment(column: name, value: nil) }

    /// Toggles a Boolean column: `SET flag = NOT flag`.
    public func toggle() -> ColumnAssignment { set(to: !self) }

    /// Adds to a number.
    public static func += (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.add, value)
    }

    /// Subtracts from a number.
    public static func -= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.subtract, value)
    }

    /// Multiplies a number.
    public static func *= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.multiply, value)
    }

    /// Divides a number.
    public static func /= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.divide, value)
    }

    /// Keeps the bits that an integer has, too.
    public static func &= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.bitAnd, value)
    }

    /// Adds the bits that an integer has.
    public static func |= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.bitOr, value)
    }

    private func assign(_ infix: InfixOperator, _ value: some SQLExpressible) -> ColumnAssignment {
        set(to: SQLExpression(.infix(infix, sqlExpression, value.sqlExpression)))
    }
}

/// Collects the assignments of a closure.
@resultBuilder
public enum ColumnAssignmentsBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ assignment: ColumnAssignment) -> [ColumnAssignment] { [assignment] }
    @_documentation(visibility: internal)
    public static func buildExpression(_ assignments: [ColumnAssignment]) -> [ColumnAssignment] {
        assignments
    }
    @_documentation(visibility: internal)
    public static func buildBlock(_ assignments: [ColumnAssignment]...) -> [ColumnAssignment] {
        assignments.flatMap { $0 }
    }
    @_documentation(visibility: internal)
    public static func buildOptional(_ assignments: [ColumnAssignment]?) -> [ColumnAssignment] {
        assignments ?? []
    }
    @_documentation(visibility: internal)
    public static func buildEither(first: [ColumnAssignment]) -> [ColumnAssignment] { first }
    @_documentation(visibility: internal)
    public static func buildEither(second: [ColumnAssignment]) -> [ColumnAssignment] { second }
    @_documentation(visibility: internal)
    public static func buildArray(_ assignments: [[ColumnAssignment]]) -> [ColumnAssignment] {
        assignments.flatMap { $0 }
    }
}

/// The columns of a type that declares none: any name is one.
///
/// A struct that declares an `enum Columns` has closures that know its columns. A subclass of ``Record`` cannot tell its
/// base class of them: SQLite looks for them, and throws where there is none.
///
/// ```swift
/// try Player.updateAll(db) { $0.score += 1 }
/// ```
@dynamicMemberLookup
public enum AnyColumns {
    /// The column of a name.
    ///
    /// - Parameter name: Any name, which SQLite looks for when the statement is compiled.
    public static subscript(dynamicMember name: String) -> Column { Column(name) }
}
