extension TableRecord where Self: EncodableRecord {
    /// Requests the rows that are related to this record, as a start: filter them, sort them, count them.
    ///
    /// ```swift
    /// let best = try team.request(for: Team.players).filter { $0.score > 100 }.fetchAll(db)
    /// let count = try team.request(for: Team.players).fetchCount(db)
    /// ```
    ///
    /// It goes by what the record holds now. What was loaded for the record stays as it is, and is not looked at.
    ///
    /// - Parameter relation: A relation of the type.
    /// - Returns: A request. Where it is fetched, it throws a ``RelationError`` if the relation is another type's, or no foreign
    ///   key is found; and what the record throws that is encoded.
    public func request<Target>(for relation: some Relation<Target>) -> QueryInterfaceRequest<Target> {
        let definition = relation.definition
        var query = definition.query
        if let limit = definition.limit { query.limit = QueryLimit(count: limit, offset: nil) }
        query.filter(SQLExpression(.late(RelatedCondition(definition, self))))
        return QueryInterfaceRequest(query)
    }
}

/// The condition on rows to be related to one record.
private final class RelatedCondition: LateExpression, @unchecked Sendable {
    private let definition: RelationDefinition
    private let owner: any TableRecord.Type
    private let values: Result<[String: DatabaseValue], any Error>

    init(_ definition: RelationDefinition, _ record: some TableRecord & EncodableRecord) {
        self.definition = definition
        owner = type(of: record)
        values = Result { try record.databaseDictionary }.map { values in
            guard let record = record as? Record else { return values }
            return values.filter { !record.isUnread($0.key, $0.value) }
        }
    }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        try definition.checkOwner(owner)
        let path = try db.relations.path(of: definition, for: owner, on: db)
        db.noteLoad(of: definition, for: owner)
        return try condition(path, definition.steps.count - 1)
    }

    /// The condition on the rows of a step.
    private func condition(_ path: RelationPath, _ number: Int) throws -> SQLExpression {
        let columns = path.steps[number].to.map { SQLExpression(.column($0.name)) }
        if number == 0 {
            let key = try path.steps[0].from.map(value)
            // Nothing is related by NULL.
            if key.contains(where: \.isNull) { return SQLExpression(.word("0")) }
            let equations = zip(columns, key).map {
                SQLExpression(.infix(.equal, $0, SQLExpression(.value($1))))
            }
            return equations.joined(operator: .and)
        }
        var before = definition.steps[number - 1].query
        before.supplement = before.included.joinsAlone
        before.selection = path.steps[number].from.map {
            SQLSelection(.expression(SQLExpression(.column($0)), name: nil))
        }
        (before.annotations, before.ordering) = ([], [])
        before.filter(try condition(path, number - 1))
        return SQLExpression(.query(OwnerKeys.row(columns), in: .select(before), isNegated: false))
    }

    /// What the record has in a column.
    private func value(of column: String) throws -> DatabaseValue {
        let values = try values.get()
        if let value = values[column] { return value }
        if let value = values.first(where: { CaseInsensitiveName.matches($0.key, column) })?.value {
            return value
        }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "this \(owner) does not encode its column \(column), by which it is related, or was fetched without it"
        )
    }
}
