/// A part of an SQL expression: a value, a column, another expression.
///
/// All values that a column can store conform. So operators and functions accept them next to
/// columns:
///
/// ```swift
/// Column("score") > 100
/// Column("teamID") == team.id
/// ```
public protocol SQLExpressible: SendableMetatype {
    /// The expression.
    var sqlExpression: SQLExpression { get }
}

/// An SQL expression: a tree whose leaves are values and columns.
///
/// Operators and functions build it, independently of any database. Values in it are bound, and
/// names are quoted.
/// names are quoted.
public struct SQLExpression: Sendable {
    enum Form: Sendable {
        /// A value, which is bound.
        case value(DatabaseValue)
        /// A column, by its name.
        case column(String)
        /// Any other expression: a slot for the layer of queries.
        case tree(any AnyObject & Sendable)
    }

    let form: Form

    init(_ form: Form) { self.form = form }
}

extension SQLExpression: SQLExpressible {
    @_documentation(visibility: internal)
    public var sqlExpression: SQLExpression { self }
}

extension DatabaseValueConvertible {
    public var sqlExpression: SQLExpression { SQLExpression(.value(databaseValue)) }
}

extension Optional: SQLExpressible where Wrapped: DatabaseValueConvertible {}
