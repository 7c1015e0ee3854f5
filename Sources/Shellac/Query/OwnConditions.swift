/// What holds of all rows of a type, where these are some of its table's: a class among the kinds of a table has such a
/// condition.
///
/// It is not part of what a program asks for: each query of the type's rows has it, and each table that is joined.
public final class _OwnConditions: Sendable {
    let condition: SQLExpression

    init(_ condition: SQLExpression) { self.condition = condition }
}

extension TableRecord {
    public static var _ownConditions: _OwnConditions? { nil }
}

extension SelectQuery {
    /// What holds of the rows of the type, said of its table where others stand beside it.
    var ownCondition: SQLExpression? {
        guard let own = own?.condition else { return nil }
        guard !joins.isEmpty, let name = source.name else { return own }
        return own.moved(to: ColumnScope(table: name))
    }

    /// All that must hold of a row.
    var condition: SQLExpression? {
        guard let own = ownCondition else { return given }
        return given.map { .chain(.and, [own, $0]) } ?? own
    }
}

extension QueryJoin {
    /// Joins the table of a query, whose rows are those of its type.
    init(isLeft: Bool, wholeTable query: SelectQuery, alias: String?, on condition: SQLExpression) {
        var source = query.source
        source.alias = alias ?? source.alias
        let own = (query.own?.condition).flatMap { own in
            source.name.map { own.moved(to: ColumnScope(table: $0)) }
        }
        self.init(
            isLeft: isLeft, source: source,
            condition: own.map { .chain(.and, [condition, $0]) } ?? condition)
    }
}
