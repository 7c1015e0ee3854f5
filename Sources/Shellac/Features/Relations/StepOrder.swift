// The order of relations that lead through rows with an order of their own.
//
// Tags may lead through taggings that are sorted by their position, for example:
//
//     static let tags = hasMany(Tag.self, through: taggings.order { $0.position }, using: Tagging.tag.order { $0.name })
//
// The relation then has both orders. `position` is first, as a term that includes the step whose
// columns it names. `name` follows. Derived relations can therefore replace or reverse the order,
// like that of any relation. The code that builds a statement of the relation resolves these
// columns to their place in the statement.

/// A term of the order of rows that a relation leads through.
final class StepTerm: LateExpression, @unchecked Sendable {  // constant
    /// The number of the step whose columns it names.
    let step: Int
    let ordering: SQLOrdering

    init(_ step: Int, _ ordering: SQLOrdering) { (self.step, self.ordering) = (step, ordering) }

    override var reversed: LateExpression? { StepTerm(step, ordering.reversed) }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        throw DatabaseError(
            message:
                "a request is ordered by rows that a relation leads through, but does not contain the "
                + "relation: load it, join it, or begin with request(for:)")
    }
}

extension SQLOrdering {
    /// The term, if it orders rows that a relation leads through.
    var stepTerm: StepTerm? {
        if case .late(let late)? = expression.syntax { late as? StepTerm } else { nil }
    }

    /// Returns the same term, for a step whose number is higher by the given one.
    fileprivate func term(of step: Int) -> SQLOrdering {
        let known = stepTerm
        let term = StepTerm(step + (known?.step ?? 0), known?.ordering ?? self)
        return SQLOrdering(SQLExpression(.late(term)))
    }

    /// Whether the expression is certainly one value. A fragment or a late expression may be
    /// several terms, which are no value.
    private var isOneValue: Bool {
        switch expression.syntax {
        case .fragment, .late: false
        default: true
        }
    }

    /// The expression that a subquery selects, so that the query around it can sort by it.
    fileprivate var selectable: SQLExpression { isOneValue ? expression : [self].rank }

    /// Returns the order by the column that a subquery has selected.
    fileprivate func by(_ column: SQLExpression) -> SQLOrdering {
        guard isOneValue else { return SQLOrdering(column) }
        return SQLOrdering(column, isDescending: isDescending, areNullsLast: areNullsLast)
    }
}

extension [SQLOrdering] {
    /// The place of a row in the order. Equal rows have the same place.
    fileprivate var rank: SQLExpression {
        SQLExpression(.call(FunctionCall(name: "RANK", arguments: []))).over(SQLWindow(order: self))
    }

    /// Returns the same order, after that of the rows that a relation leads through.
    ///
    /// - Parameters:
    ///   - order: The order of these rows.
    ///   - count: The number of the steps that lead to them.
    func following(_ order: [SQLOrdering], after count: Int) -> [SQLOrdering] {
        let before = order.map { $0.stepTerm == nil ? $0.term(of: count - 1) : $0 }
        return before + map { $0.stepTerm == nil ? $0 : $0.term(of: count) }
    }
}

/// A limit on the rows of a step, with their order. The rows behind the first ones lead nowhere.
struct FirstRows: Sendable {
    let count: Int
    let ordering: [SQLOrdering]
}

extension RelationDefinition {
    /// The limit on the rows of one parent that the relation has, or leads through. Nil if there is
    /// no limit.
    var anyLimit: Int? { limit ?? steps.lazy.compactMap(\.firstRows?.count).first }
}

// MARK: - The rows of several steps

/// The rows that some steps of a relation lead to, each with the key that it was found by.
struct StepRows {
    static let via = "shellac_via"

    private let definition: RelationDefinition
    private let path: RelationPath
    /// Returns the condition on the rows of the first step, from the columns of their key.
    private let condition: ([SQLExpression]) -> SQLExpression

    init(
        _ definition: RelationDefinition, _ path: RelationPath,
        where condition: @escaping ([SQLExpression]) -> SQLExpression
    ) { (self.definition, self.path, self.condition) = (definition, path, condition) }

    /// The rows that all steps lead to, in their order.
    var query: SelectQuery {
        let number = definition.steps.count - 1
        var query = query(upTo: number, definition.query.ordering)
        query.ordering = resolved(query.ordering)
        return query
    }

    /// Returns the rows that the steps up to a number lead to.
    ///
    /// - Parameter order: The order in which the caller will sort the rows. ``via`` contains the
    ///   columns of earlier steps.
    private func query(upTo number: Int, _ order: [SQLOrdering]) -> SelectQuery {
        var query = definition.steps[number].query
        let step = path.steps[number]
        if number == 0 {
            query.filter(condition(step.to.map { $0.compared(query.own($0.name)) }))
            return query
        }
        let before = passed(number - 1, order.compactMap(\.stepTerm), to: step.from)
        let conditions = step.to.enumerated().map { index, column in
            SQLExpression(
                .infix(
                    .equal, column.compared(query.own(column.name, isJoined: true)),
                    Self.column("shellac_next\(index)")))
        }
        query.joins.append(
            QueryJoin(
                isLeft: false, source: QuerySource(.query(.select(before)), alias: Self.via),
                condition: conditions.joined(operator: .and)))
        return query
    }

    /// Returns the rows that a step passes, with the columns that the next step needs.
    ///
    /// - Parameters:
    ///   - number: The step that leads to them.
    ///   - terms: The terms, in the order of the rows behind them, that belong to this step or
    ///     earlier ones.
    ///   - columns: The columns that the next step compares.
    private func passed(_ number: Int, _ terms: [StepTerm], to columns: [String]) -> SelectQuery {
        let first = definition.steps[number].firstRows
        let known = terms.filter { $0.step < number }.map { SQLOrdering(SQLExpression(.late($0))) }
        let order = known + (first?.ordering ?? [])
        var rows = query(upTo: number, order)
        let inner = rows
        (rows.ordering, rows.annotations) = ([], [])
        rows.selection = path.steps[0].to.indices.map { keyColumn($0, of: inner) }
        rows.selection? += columns.enumerated().map {
            SQLSelection(.expression(inner.own($1), name: "shellac_next\($0)"))
        }
        var passedOn = 0
        for (index, term) in terms.enumerated() {
            var value = term.ordering.selectable
            if term.step < number {
                value = Self.column("shellac_order\(passedOn)")
                passedOn += 1
            }
            rows.selection?.append(SQLSelection(.expression(value, name: "shellac_order\(index)")))
        }
        guard let first else { return rows }
        rows.annotations = [self.number(of: inner, resolved(order).suffix(first.ordering.count))]
        return rows.firstRows(first.count)
    }

    /// Returns an order whose terms of earlier steps name the columns of ``via`` in their place.
    private func resolved(_ order: [SQLOrdering]) -> [SQLOrdering] {
        var index = -1
        return order.map { ordering in
            guard let term = ordering.stepTerm else { return ordering }
            index += 1
            return term.ordering.by(Self.column("shellac_order\(index)"))
        }
    }

    /// Returns the first place, in an order, of the passed rows that lead to a row of a step.
    ///
    /// - Parameters:
    ///   - terms: The order.
    ///   - number: The step that leads to the row.
    ///   - table: The name of the row's table.
    func place(by terms: [StepTerm], of table: String, at number: Int) -> SQLExpression {
        let step = path.steps[number]
        var passed = passed(number - 1, terms, to: step.from)
        let order = terms.enumerated().map { $1.ordering.by(SQLExpression(.column("shellac_order\($0)"))) }
        passed = SelectQuery(QuerySource(.query(.select(passed))))
        passed.annotations = [SQLSelection(.expression(order.rank, name: "shellac_rank"))]
        var query = SelectQuery(QuerySource(.query(.select(passed)), alias: Self.via))
        for (index, column) in step.to.enumerated() {
            query.filter(
                SQLExpression(
                    .infix(
                        .equal, column.compared(SQLExpression(.column(table: table, name: column.name))),
                        Self.column("shellac_next\(index)"))))
        }
        let least = FunctionCall(name: "MIN", arguments: [Self.column("shellac_rank")])
        query.selection = [SQLSelection(.expression(SQLExpression(.call(least)), name: nil))]
        return SQLExpression(.subquery(.select(query)))
    }

    private static func column(_ name: String) -> SQLExpression {
        SQLExpression(.column(table: via, name: name))
    }

    /// Returns a column of the key that a row was found by.
    func keyColumn(_ index: Int, of query: SelectQuery) -> SQLSelection {
        SQLSelection(.expression(key(index, of: query), name: "shellac_key\(index)"))
    }

    private func key(_ index: Int, of query: SelectQuery) -> SQLExpression {
        let isFirst = query.joins.last?.source.alias != Self.via
        return isFirst ? query.own(path.steps[0].to[index].name) : Self.column("shellac_key\(index)")
    }

    /// Returns the number of a row among the rows of its key.
    func number(of query: SelectQuery, _ order: some Sequence<SQLOrdering>) -> SQLSelection {
        let partition = path.steps[0].to.enumerated().map { $1.compared(key($0, of: query)) }
        let call = SQLExpression(.call(FunctionCall(name: "ROW_NUMBER", arguments: [])))
        let number = call.over(SQLWindow(partitionBy: partition, order: Array(order)))
        return SQLSelection(.expression(number, name: "shellac_rank"))
    }
}

extension SelectQuery {
    /// Returns the first rows of each key, up to the given count.
    func firstRows(_ count: Int) -> SelectQuery {
        var query = SelectQuery(QuerySource(.query(.select(self))))
        let rank = SQLExpression(.column("shellac_rank"))
        query.filter(SQLExpression(.infix(.lessOrEqual, rank, SQLExpression(.value(count.databaseValue)))))
        return query
    }

    /// Returns a column of the query's own table.
    func own(_ column: String, isJoined: Bool = false) -> SQLExpression {
        guard isJoined || !joins.isEmpty, let table = source.name else {
            return SQLExpression(.column(column))
        }
        return SQLExpression(.column(table: table, name: column))
    }
}
