/// All columns of a table except some. The schema provides them when a request runs.
private final class RemainingColumns: LateExpression, @unchecked Sendable {  // constant
    private let excluded: [String]

    init(_ excluded: [String]) { self.excluded = excluded }

    override func expression(of source: QuerySource?, among names: [String], on db: Database) throws
        -> SQLExpression
    {
        guard let source else {
            throw DatabaseError(message: "the columns of a table were used outside of a request")
        }
        let table = try db.tableSchema(of: source)
        if let unknown = excluded.first(where: { table.column(named: $0) == nil }) {
            throw DatabaseError(message: "the table \(table.name) has no column \(unknown) to leave out")
        }
        let left = table.columns.map(\.name).filter { name in
            !excluded.contains { CaseInsensitiveName.matches($0, name) }
        }
        guard !left.isEmpty else {
            throw DatabaseError(message: "all columns of the table \(table.name) are left out")
        }
        let columns = left.map { column in
            if names.count > 1, let table = source.name {
                return SQLExpression(.column(table: table, name: column))
            }
            return Column(column).sqlExpression
        }
        return SQLExpression(.terms(columns, suffix: ""))
    }
}

extension SQLSelectable where Self == SQLSelection {
    /// Selects all columns of the table except the given ones.
    ///
    /// ```swift
    /// Player.select(.allColumns(excluding: ["notes"]))
    /// ```
    ///
    /// The request throws if the table lacks one of them, or has no other.
    ///
    /// - Parameter names: The names of the columns to leave out, in any case. If empty, all columns
    ///   are selected by name.
    public static func allColumns(excluding names: some Collection<String>) -> SQLSelection {
        SQLSelection(.expression(SQLExpression(.late(RemainingColumns(Array(names)))), name: nil))
    }
}
