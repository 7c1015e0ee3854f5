/// A part of the selection of a `SELECT` statement: a column, an expression, or all columns.
public protocol SQLSelectable: Sendable {
    /// The selection.
    var sqlSelection: SQLSelection { get }
}

/// One element of the selection of a `SELECT` statement.
public struct SQLSelection: SQLSelectable {
    enum Form: Sendable {
        /// All columns, of one table or of all.
        case allColumns(of: String?)
        case expression(SQLExpression, name: String?)
    }

    let form: Form

    init(_ form: Form) { self.form = form }

    @_documentation(visibility: internal)
    public var sqlSelection: SQLSelection { self }

    func write(to writer: inout some QueryWriter) throws {
        switch form {
        case .allColumns(nil): writer.text("*")
        case .allColumns(let table?):
            writer.name(table)
            writer.text(".*")
        case .expression(let expression, let name):
            try writer.expression(expression, above: .lowest)
            if let name {
                writer.text(" AS ")
                writer.name(name)
            }
        }
    }
}

/// All columns of a table: `*`.
public struct AllColumns: SQLSelectable, Hashable {
    /// Selects all columns, as ``SQLSelectable/allColumns`` does.
    public init() {}

    @_documentation(visibility: internal)
    public var sqlSelection: SQLSelection { SQLSelection(.allColumns(of: nil)) }
}

extension SQLSelectable where Self == AllColumns {
    /// All columns of a table: `*`.
    public static var allColumns: AllColumns { AllColumns() }
}

extension SQLSelectable where Self == Column {
    /// The row id, which every table has unless it is `WITHOUT ROWID`.
    public static var rowID: Column { .rowID }
}
