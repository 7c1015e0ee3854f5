// A relation may lead through rows that have an order of their own, as tags through taggings that are sorted by their position.
//
//     static let tags = hasMany(Tag.self, through: taggings.order { $0.position }, using: Tagging.tag.order { $0.name })
//
// The relation then has the order of both: `position` in front, as a term that says whose columns it names, and `name` behind it. So what
// is derived from it can replace the order, or reverse it, as that of any relation. Who makes a statement of the relation says where
// these columns stand in it.

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
                "a request has the order of rows that a relation leads through, and not the relation: load it, join it, or begin with "
                + "request(for:)")
    }
}

extension SQLOrdering {
    /// The term, where it is one of rows that a relation leads through.
    var stepTerm: StepTerm? {
        if case .late(let late)? = expression.syntax { late as? StepTerm } else { nil }
    }

    /// The same term, of a step that has another number.
    fileprivate func term(of step: Int) -> SQLOrdering {
        let known = stepTerm
        let term = StepTerm(step + (known?.step ?? 0), known?.ordering ?? self)
        return SQLOrdering(SQLExpression(.late(term)))
    }

    /// Whether it may be several terms, which are no value.
    private var isOneValue: Bool {
        switch expression.syntax {
        case .fragment, .late: false
        default: true
        }
    }

    /// What a subquery selects, so that the query around it can sort by that.
    fileprivate var selectable: SQLExpression { isOneValue ? expression : [self].rank }

    /// The order by what a subquery has selected.
    fileprivate func by(_ column: SQLExpression) -> SQLOrdering {
        guard isOneValue else { return SQLOrdering(column) }
        return SQLOrdering(column, isDescending: isDescending, areNullsLast: areNullsLast)
    }
}

extension [SQLOrdering] {
    /// The place of a row in the order: equal ones have the same.
    fileprivate var rank: SQLExpression {
        SQLExpression(.call(FunctionCall(name: "RANK", arguments: []))).over(SQLWindow(order: self))
    }

    /// The same order behind that of the rows which a relation leads through.
    ///
    /// - Parameters:
    ///   - order: That of these rows.
    ///   - count: The number of the steps that lead to them.
    func following(_ order: [SQLOrdering], after count: Int) -> [SQLOrdering] {
        let before = order.map { $0.stepTerm == nil ? $0.term(of: count - 1) : $0 }
        return before + map { $0.stepTerm == nil ? $0 : $0.term(of: count) }
    }
}

/// The first rows of a step that count: those behind them lead nowhere.
struct FirstRows: Sendable {
    let count: Int
    let ordering: [SQLOrdering]
}

extension RelationDefinition {
    /// The most rows of one parent that the relation has, or leads through. Nil where there is no limit.
    var anyLimit: Int? { limit ?? steps.lazy.compactMap(\.firstRows?.count).first }
}

// MARK: - The rows of several steps

/// The rows that some steps of a relation lead to, each with the key that it was found by.
struct StepRows {
    static let via = "shellac_via"

    private let definition: RelationDefinition
    private let path: RelationPath
    /// What is true of the rows that the first step leads to.
    private let condition: ([SQLExpression]) -> SQLExpression

    init(
        _ definition: RelationDefinition, _ path: RelationPath,
        where condition: @escaping ([SQLExpression]) -> SQLExpression
    ) { (self.definition, self.path, self.condition) = (definition, path, condition) }

    /// Returns the rows that all steps lead to, in their order.
    var query: SelectQuery {
        let number = definition.steps.count - 1
        var query = query(upTo: number, definition.query.ordering)
        query.ordering = resolved(query.ordering)
        return query
    }

    /// The rows that some steps lead to.
    ///
    /// - Parameter order: How they will be sorted: what belongs to earlier steps stands in ``via``.
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

    /// The rows that are passed, with what the next step needs of them.
    ///
    /// - Parameters:
    ///   - number: The step that leads to them.
    ///   - terms: The terms of the order of what comes behind them.
    ///   - columns: The columns that the next step goes by.
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

    /// An order whose terms of earlier steps name what stands for them in ``via``.
    private func resolved(_ order: [SQLOrdering]) -> [SQLOrdering] {
        var index = -1
        return order.map { ordering in
            guard let term = ordering.stepTerm else { return ordering }
            index += 1
            return term.ordering.by(Self.column("shellac_order\(index)"))
        }
    }

    /// The place of the rows that are passed in an order, for the row of the last step that they lead to.
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

    /// A column of the key that a row was found by.
    func keyColumn(_ index: Int, of query: SelectQuery) -> SQLSelection {
        SQLSelection(.expression(key(index, of: query), name: "shellac_key\(index)"))
    }

    private func key(_ index: Int, of query: SelectQuery) -> SQLExpression {
        let isFirst = query.joins.last?.source.alias != Self.via
        return isFirst ? query.own(path.steps[0].to[index].name) : Self.column("shellac_key\(index)")
    }

    /// The number of a row among those of its key.
    func number(of query: SelectQuery, _ order: some Sequence<SQLOrdering>) -> SQLSelection {
        let partition = path.steps[0].to.enumerated().map { $1.compared(key($0, of: query)) }
        let call = SQLExpression(.call(FunctionCall(name: "ROW_NUMBER", arguments: [])))
        let number = call.over(SQLWindow(partitionBy: partition, order: Array(order)))
        return SQLSelection(.expression(number, name: "shellac_rank"))
    }
}

extension SelectQuery {
    /// The rows of each key up to a number of them.
    func firstRows(_ count: Int) -> SelectQuery {
        var query = SelectQuery(QuerySource(.query(.select(self))))
        let rank = SQLExpression(.column("shellac_rank"))
        query.filter(SQLExpression(.infix(.lessOrEqual, rank, SQLExpression(.value(count.databaseValue)))))
        return query
    }

    /// A column of the query's own table.
    func own(_ column: String, isJoined: Bool = false) -> SQLExpression {
        guard isJoined || !joins.isEmpty, let table = source.name else {
            return SQLExpression(.column(column))
        }
        return SQLExpression(.column(table: table, name: column))
    }
}
