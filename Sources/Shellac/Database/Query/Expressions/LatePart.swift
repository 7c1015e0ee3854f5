/// The part of an SQL literal that comes from a request. It is written when the literal runs.
final class LatePart: LateSQL, @unchecked Sendable {  // constant
    enum Form {
        case query(Subquery)
        case expression(SQLExpression)
        case selection(SQLSelection)
        case ordering(SQLOrdering)
        case commonTable(CommonTable)
        case columns(any TableRecord.Type, alias: String?)
    }

    private let form: Form

    init(_ form: Form) { self.form = form }

    func write(to writer: inout some QueryWriter, at place: SQLPlace) throws {
        switch form {
        case .query(let query): try writer.query(query, at: place)
        case .expression(let expression): try writer.expression(expression, above: .lowest)
        case .selection(let selection): try selection.write(to: &writer)
        case .ordering(let ordering): try ordering.write(to: &writer)
        case .commonTable(let table): try table.write(to: &writer)
        case .columns(let type, let alias):
            let query = SelectQuery(QuerySource(.type(type), alias: alias))
            try writer.inQuery(query) { writer in
                try writer.inScope(ColumnScope(table: alias ?? type.databaseTableName)) {
                    try $0.joinedSelection(of: type, alias: alias)
                }
            }
        }
    }

    /// The SQL, if it is independent of the surrounding SQL and of the schema. (Generated names of
    /// tables belong to the whole literal.)
    var known: SQL? {
        if case .query = form { return nil }
        var writer = SQLWriter(nil)
        guard (try? write(to: &writer, at: .operand)) != nil, !writer.hasGivenNames else { return nil }
        return writer.fragment
    }

    override func write(_ piece: SQL, as role: SQLRole, on db: Database?) throws -> SQL {
        var writer = SQLWriter(db)
        try writer.fragment(piece, as: role)
        return writer.fragment
    }

    override func isEqual(to other: LateSQL) -> Bool {
        func sql(_ part: LateSQL) -> SQL? { try? SQL(part).written(on: nil) }
        guard let own = sql(self) else { return false }
        return own == sql(other)
    }
}
