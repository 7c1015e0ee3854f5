/// An aggregate over all rows related to one row, such as their number or their greatest value.
///
/// ```swift
/// Team.annotated(with: Team.players.count, Team.players.max { $0.score })
/// Team.having(Team.players.count >= 11)
/// Team.order(Team.players.count.desc)
/// ```
///
/// It is an expression like any other, usable in a condition, an order or an assignment. In SQL it
/// is a subquery for each row. So several aggregates do not affect each other, and rows without
/// related ones stay. An SQL literal has no schema and cannot contain it, so write its SQL there.
public struct RelationAggregate: SQLSpecificExpressible {
    public let sqlExpression: SQLExpression
    private let name: String

    fileprivate init(_ definition: RelationDefinition, name: String, _ form: RelatedExpression.Form) {
        self.name = name
        sqlExpression = SQLExpression(.late(RelatedExpression(definition, form)))
    }

    /// The expression, under its default name, such as `playerCount`.
    @_documentation(visibility: internal)
    public var sqlSelection: SQLSelection { SQLSelection(.expression(sqlExpression, name: name)) }
}

extension HasMany {
    private func aggregate(_ name: String, _ form: RelatedExpression.Form) -> RelationAggregate {
        RelationAggregate(definition, name: name, form)
    }

    private func aggregate(
        _ function: String, of expression: some SQLSpecificExpressible, _ name: (String) -> String
    ) -> RelationAggregate {
        let column =
            if case .column(let column) = expression.sqlExpression.form { column.capital } else { "" }
        return aggregate(name(column), .call(function, expression.sqlExpression))
    }

    /// The number of related rows: `playerCount`.
    public var count: RelationAggregate { aggregate(definition.scopeKey + "Count", .call("COUNT", nil)) }

    /// Whether there is no related row: `hasNoPlayer`.
    public var isEmpty: RelationAggregate {
        aggregate("hasNo" + definition.scopeKey.capital, .existence(isNegated: true))
    }

    /// The least value of an expression, or NULL if there is none: `minPlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. If it is a column, its name
    ///   becomes part of the result's name.
    public func min(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("MIN", of: expression) { "min" + definition.scopeKey.capital + $0 }
    }

    /// The greatest value of an expression, or NULL if there is none: `maxPlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. If it is a column, its name
    ///   becomes part of the result's name.
    public func max(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("MAX", of: expression) { "max" + definition.scopeKey.capital + $0 }
    }

    /// The average of an expression, or NULL if it has no value: `averagePlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. If it is a column, its name
    ///   becomes part of the result's name.
    public func average(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("AVG", of: expression) { "average" + definition.scopeKey.capital + $0 }
    }

    /// The sum of an expression, or NULL if it has no value: `playerScoreSum`.
    ///
    /// - Parameter expression: An expression of the related rows. If it is a column, its name
    ///   becomes part of the result's name.
    public func sum(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("SUM", of: expression) { definition.scopeKey + $0 + "Sum" }
    }

    /// The sum of an expression, as a floating-point number: 0 if it has no value. It has the name
    /// of a sum.
    ///
    /// - Parameter expression: An expression of the related rows. If it is a column, its name
    ///   becomes part of the result's name.
    public func total(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("TOTAL", of: expression) { definition.scopeKey + $0 + "Sum" }
    }
}

extension String {
    /// The string with its first letter in upper case.
    fileprivate var capital: String { prefix(1).uppercased() + dropFirst() }
}

/// An expression over the rows related to a row of the enclosing query.
private final class RelatedExpression: LateExpression, @unchecked Sendable {
    enum Form {
        /// A call of an aggregate function, over an expression or over rows.
        case call(String, SQLExpression?)
        case existence(isNegated: Bool)
    }

    private let definition: RelationDefinition
    private let form: Form

    init(_ definition: RelationDefinition, _ form: Form) { (self.definition, self.form) = (definition, form) }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        guard let end = RelationEnd(source), let name = source?.name else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "it was used in a request whose rows are not those of \(definition.owner)")
        }
        try definition.checkOwner(end)
        try definition.checkFault()
        if definition.anyLimit != nil {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "an aggregate counts all related rows, but the relation has a limit for each parent")
        }
        let path = try db.relations.path(of: definition, for: end, on: db)
        var query = try SelectQuery(relatedBy: definition, path, to: name, avoiding: names)
        switch form {
        case .existence(let isNegated):
            query.selection = [SQLSelection(.expression(SQLExpression(.word("1")), name: nil))]
            return SQLExpression(.exists(.select(query), isNegated: isNegated))
        case .call(let function, let argument):
            var call = FunctionCall(name: function, arguments: [])
            call.takesRows = argument == nil
            if let argument {
                let isJoined = !query.joins.isEmpty
                let scope = ColumnScope(table: query.source.name ?? "")
                call.arguments = [isJoined ? argument.moved(to: scope) : argument]
            }
            query.selection = [SQLSelection(.expression(SQLExpression(.call(call)), name: nil))]
            return SQLExpression(.subquery(.select(query)))
        }
    }
}

extension SelectQuery {
    /// Creates a query for the rows related to the current row of an outer query.
    fileprivate init(
        relatedBy definition: RelationDefinition, _ path: RelationPath, to name: String,
        avoiding names: [String]
    ) throws {
        var names = JoinedNames(names)
        let sources = try definition.steps.map { step in
            try definition.checkJoining(step)
            return names.source(of: step)
        }
        let last = sources.count - 1
        self.init(sources[last])
        own = .none  // which is in the condition of its step
        supplement = definition.query.included.joinsAlone
        for index in (0...last).reversed() {
            let origin = index == 0 ? name : sources[index - 1].name ?? ""
            let condition = try definition.steps[index].joinCondition(
                path.steps[index], sources[index].name ?? "", origin)
            if index == 0 {
                filter(condition)
            } else {
                joins.append(QueryJoin(isLeft: false, source: sources[index - 1], condition: condition))
            }
        }
    }
}

extension IncludedRelations {
    /// The joins alone, without fetching their rows. Nil if there are none.
    var joinsAlone: IncludedRelations? {
        if joins.isEmpty { return nil }
        return IncludedRelations(
            joins: joins.map { RelationJoin(definition: $0.definition, isRequired: $0.isRequired) })
    }
}
