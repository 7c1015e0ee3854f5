/// A column and the value that an update stores in it.
///
/// ```swift
/// try Player.updateAll(db, [Column("score") += 10, Column("name").set(to: "Arthur")])
/// // UPDATE "player" SET "score" = "score" + 10, "name" = 'Arthur'
/// ```
public struct ColumnAssignment: Sendable {
    let column: String
    /// The value, or nil if the column does not change.
    let value: SQLExpression?

    func write(to writer: inout some QueryWriter) throws {
        writer.name(column)
        writer.text(" = ")
        try writer.expression(value ?? Column(column).sqlExpression, above: .lowest)
    }
}

extension Column {
    /// Assigns a value to the column.
    ///
    /// - Parameter value: A value, which is bound, or an expression. Columns in it have their
    ///   values from before the update. Nil stores NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(column: name, value: value?.sqlExpression ?? SQLExpression(.value(.null)))
    }

    /// Returns an assignment that leaves the column of a conflicting row unchanged in an upsert:
    /// see ``MutablePersistableRecord/upsert(_:onConflict:updating:doUpdate:)``. It has no effect
    /// in an update.
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

    /// Keeps only the bits that another integer has, too: `column & value`.
    public static func &= (column: Column, value: some SQLExpressible) -> ColumnAssignment {
        column.assign(.bitAnd, value)
    }

    /// Sets the bits of another integer: `column | value`.
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

/// The columns of a type that declares none. Any name is accepted.
///
/// Closures for a struct with an `enum Columns` use those columns. A subclass of ``Record`` cannot
/// pass its columns to the base class. SQLite then looks up the names, and throws if a column is
/// missing.
///
/// ```swift
/// try Player.updateAll(db) { $0.score += 1 }
/// ```
@dynamicMemberLookup
public enum AnyColumns {
    /// Returns the column with the given name.
    ///
    /// - Parameter name: Any name. SQLite looks it up when the statement is compiled.
    public static subscript(dynamicMember name: String) -> Column { Column(name) }
}
