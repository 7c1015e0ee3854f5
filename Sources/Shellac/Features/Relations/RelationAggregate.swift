/// What is told of all rows that are related to one: their number, the greatest of their values.
///
/// ```swift
/// Team.annotated(with: Team.players.count, Team.players.max { $0.score })
/// Team.having(Team.players.count >= 11)
/// Team.order(Team.players.count.desc)
/// ```
///
/// It is an expression as any other, and stands wherever one does: in a condition, an order, an assignment. In SQL it is a
/// query of its own for each row: so several of them do not change each other, and rows without related ones stay. An SQL
/// literal knows no schema, and cannot hold it: write its SQL there.
public struct RelationAggregate: SQLSpecificExpressible {
    public let sqlExpression: SQLExpression
    private let name: String

    fileprivate init(_ definition: RelationDefinition, name: String, _ form: RelatedExpression.Form) {
        self.name = name
        sqlExpression = SQLExpression(.late(RelatedExpression(definition, form)))
    }

    /// The expression, under the name that it has where it is given none: `playerCount`.
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

    /// The least value of an expression, or NULL where there is none: `minPlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. The name of a column becomes a part of the result's name.
    public func min(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("MIN", of: expression) { "min" + definition.scopeKey.capital + $0 }
    }

    /// The greatest value of an expression, or NULL where there is none: `maxPlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. The name of a column becomes a part of the result's name.
    public func max(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("MAX", of: expression) { "max" + definition.scopeKey.capital + $0 }
    }

    /// The average of an expression, or NULL where it has no value: `averagePlayerScore`.
    ///
    /// - Parameter expression: An expression of the related rows. The name of a column becomes a part of the result's name.
    public func average(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("AVG", of: expression) { "average" + definition.scopeKey.capital + $0 }
    }

    /// The sum of an expression, or NULL where it has no value: `playerScoreSum`.
    ///
    /// - Parameter expression: An expression of the related rows. The name of a column becomes a part of the result's name.
    public func sum(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("SUM", of: expression) { definition.scopeKey + $0 + "Sum" }
    }

    /// The sum of an expression, as a floating-point number: 0 where it has no value. Its name is that of a sum.
    ///
    /// - Parameter expression: An expression of the related rows. The name of a column becomes a part of the result's name.
    public func total(_ expression: some SQLSpecificExpressible) -> RelationAggregate {
        aggregate("TOTAL", of: expression) { definition.scopeKey + $0 + "Sum" }
    }

    /// The least value of a column that the type declares, or NULL where there is none: `minPlayerScore`.
    ///
    /// - Parameter expression: Returns the expression, of the columns of the related type. It is called at once.
    public func min(
        _ expression: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> RelationAggregate { try min(expression(Target.Columns.self)) }

    /// The greatest value of a column that the type declares, or NULL where there is none: `maxPlayerScore`.
    ///
    /// - Parameter expression: Returns the expression, of the columns of the related type. It is called at once.
    public func max(
        _ expression: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> RelationAggregate { try max(expression(Target.Columns.self)) }

    /// The average of a column that the type declares, or NULL where it has no value: `averagePlayerScore`.
    ///
    /// - Parameter expression: Returns the expression, of the columns of the related type. It is called at once.
    public func average(
        _ expression: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> RelationAggregate { try average(expression(Target.Columns.self)) }

    /// The sum of a column that the type declares, or NULL where it has no value: `playerScoreSum`.
    ///
    /// - Parameter expression: Returns the expression, of the columns of the related type. It is called at once.
    public func sum(
        _ expression: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> RelationAggregate { try sum(expression(Target.Columns.self)) }

    /// The sum of a column that the type declares, as a floating-point number: 0 where it has no value.
    ///
    /// - Parameter expression: Returns the expression, of the columns of the related type. It is called at once.
    public func total(
        _ expression: (Target.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> RelationAggregate { try total(expression(Target.Columns.self)) }
}

extension String {
    /// The text with a capital in front.
    fileprivate var capital: String { prefix(1).uppercased() + dropFirst() }
}

/// An expression of the rows that are related to a row of the query that it stands in.
private final class RelatedExpression: LateExpression, @unchecked Sendable {
    enum Form {
        /// The call of an aggregate function, of an expression or of rows.
        case call(String, SQLExpression?)
        case existence(isNegated: Bool)
    }

    private let definition: RelationDefinition
    private let form: Form

    init(_ definition: RelationDefinition, _ form: Form) { (self.definition, self.form) = (definition, form) }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        guard let type = source?.type, let name = source?.name else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "it stands in a request whose rows are not those of \(definition.owner)")
        }
        try definition.checkOwner(type)
        try definition.checkFault()
        if definition.anyLimit != nil {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "all related rows count, and it has a limit for each parent")
        }
        let path = try db.relations.path(of: definition, for: type, on: db)
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
    /// Finds the rows that are related to the current row of an outer query.
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
        own = .none  // which stands in the condition of its step
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
    /// The joins, of which nothing is fetched. Nil where there are none.
    var joinsAlone: IncludedRelations? {
        if joins.isEmpty { return nil }
        return IncludedRelations(
            joins: joins.map { RelationJoin(definition: $0.definition, isRequired: $0.isRequired) })
    }
}
