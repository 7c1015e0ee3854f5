// The request for the rows related to one record, also through intermediate tables.

extension TableRecord where Self: EncodableRecord {
    /// Returns a request for the rows that are related to this record. You can filter, sort, or
    /// count them.
    ///
    /// ```swift
    /// let best = try team.request(for: Team.players).filter { $0.score > 100 }.fetchAll(db)
    /// let count = try team.request(for: Team.players).fetchCount(db)
    /// ```
    ///
    /// The request uses the values that the record holds now. It neither reads nor changes the
    /// related objects that were loaded for the record.
    ///
    /// - Parameter relation: A relation of the type.
    /// - Returns: A request. Fetching it throws a ``RelationError`` if the relation belongs to
    ///   another type, or no foreign key is found. It also throws the error of the record's
    ///   encoding.
    public func request<Target>(for relation: some Relation<Target>) -> QueryInterfaceRequest<Target> {
        let definition = relation.definition
        var query = definition.query
        if let limit = definition.limit { query.limit = QueryLimit(count: limit, offset: nil) }
        let related = RelatedCondition(definition, self)
        query.filter(SQLExpression(.late(related)))
        query.ordering = related.resolved(query.ordering, at: definition.steps.count - 1)
        return QueryInterfaceRequest(query)
    }
}

/// The condition that rows are related to one record.
private final class RelatedCondition: LateExpression, @unchecked Sendable {
    private let definition: RelationDefinition
    private let owner: RelationEnd
    private let values: Result<[String: DatabaseValue], any Error>

    init(_ definition: RelationDefinition, _ record: some TableRecord & EncodableRecord) {
        self.definition = definition
        owner = .type(type(of: record))
        values = Result { try record.databaseDictionary }.map { values in
            guard let record = record as? Record else { return values }
            return values.filter { !record.isUnread($0.key, $0.value) }
        }
    }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        try definition.checkOwner(owner)
        try definition.checkFault()
        let path = try db.relations.path(of: definition, for: owner, on: db)
        db.noteLoad(of: definition, for: owner)
        return try condition(path, definition.steps.count - 1)
    }

    /// Returns an order of the rows of a step. The order of the rows on the way is one term of it.
    func resolved(_ ordering: [SQLOrdering], at number: Int) -> [SQLOrdering] {
        let terms = ordering.compactMap(\.stepTerm)
        var isResolved = false
        return ordering.compactMap { ordering in
            if ordering.stepTerm == nil { return ordering }
            defer { isResolved = true }
            return isResolved ? nil : SQLOrdering(SQLExpression(.late(RelatedPlace(self, terms, at: number))))
        }
    }

    /// Returns the record's key, by which the rows of the first step are found.
    private func key(_ path: RelationPath) throws -> [DatabaseValue] { try path.steps[0].from.map(value) }

    private static func equation(_ columns: [SQLExpression], _ key: [DatabaseValue]) -> SQLExpression {
        // Nothing is related by NULL.
        if key.contains(where: \.isNull) { return SQLExpression(.word("0")) }
        let equations = zip(columns, key).map {
            SQLExpression(.infix(.equal, $0, SQLExpression(.value($1))))
        }
        return equations.joined(operator: .and)
    }

    /// Returns the place of a row of a step in the order of the rows on the way to it.
    fileprivate func place(by terms: [StepTerm], of table: String, at number: Int, on db: Database) throws
        -> SQLExpression
    {
        let path = try db.relations.path(of: definition, for: owner, on: db)
        let key = try key(path)
        return StepRows(definition, path) { Self.equation($0, key) }.place(by: terms, of: table, at: number)
    }

    /// Returns the condition on the rows of a step.
    private func condition(_ path: RelationPath, _ number: Int) throws -> SQLExpression {
        let columns = path.steps[number].to.map { $0.compared(SQLExpression(.column($0.name))) }
        if number == 0 {
            return try Self.equation(columns, key(path))
        }
        var before = definition.steps[number - 1].query
        before.supplement = before.included.joinsAlone
        before.selection = path.steps[number].from.map {
            SQLSelection(.expression(SQLExpression(.column($0)), name: nil))
        }
        (before.annotations, before.ordering) = ([], [])
        if let first = definition.steps[number - 1].firstRows {
            before.ordering = resolved(first.ordering, at: number - 1)
            before.limit = QueryLimit(count: first.count, offset: nil)
        }
        before.filter(try condition(path, number - 1))
        return SQLExpression(.query(KeyIndex.row(columns), in: .select(before), isNegated: false))
    }

    /// Returns the record's value in a column.
    private func value(of column: String) throws -> DatabaseValue {
        let values = try values.get()
        if let value = values[column] { return value }
        if let value = values.first(where: { CaseInsensitiveName.matches($0.key, column) })?.value {
            return value
        }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "this \(owner) does not encode its column \(column), which the relation needs, or was "
                + "fetched without it"
        )
    }
}

/// The place of a row in the order of the rows that a relation of one record leads through.
private final class RelatedPlace: LateExpression, @unchecked Sendable {  // constant
    private let related: RelatedCondition
    private let terms: [StepTerm]
    private let step: Int

    init(_ related: RelatedCondition, _ terms: [StepTerm], at step: Int) {
        (self.related, self.terms, self.step) = (related, terms, step)
    }

    override func expression(
        of source: QuerySource?, among names: [String], on db: Database
    ) throws -> SQLExpression {
        try related.place(by: terms, of: source?.name ?? "", at: step, on: db)
    }
}
