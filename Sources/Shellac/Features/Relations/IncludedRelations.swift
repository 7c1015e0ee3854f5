/// A relation whose rows a request joins with its own.
struct RelationJoin: Sendable {
    var definition: RelationDefinition
    /// Whether rows without a related one are left out.
    var isRequired: Bool
    /// Whether the related rows are fetched, in a scope of their own.
    var isIncluded = false
    /// Whether the relation's selection is added to the columns of the request's own rows.
    var isAnnotating = false

    /// Returns whether another join joins the same rows. The two are then merged, unless they have
    /// different aliases.
    private func isSame(as other: RelationJoin) -> Bool {
        let (steps, others) = (definition.steps, other.definition.steps)
        return definition.scopeKey == other.definition.scopeKey && steps.count == others.count
            && zip(steps, others).allSatisfy {
                $0.direction == $1.direction && $0.end == $1.end && $0.using == $1.using
            }
    }

    private func hasOtherAlias(than other: RelationJoin) -> Bool {
        zip(definition.steps, other.definition.steps).contains { $0.hasOtherAlias(than: $1) }
    }

    /// Merges another join of the same rows into this one.
    fileprivate mutating func merge(_ other: RelationJoin) {
        isRequired = isRequired || other.isRequired
        isIncluded = isIncluded || other.isIncluded
        isAnnotating = isAnnotating || other.isAnnotating
        for (index, step) in other.definition.steps.enumerated() {
            definition.steps[index].query.merge(step.query)
            definition.steps[index].firstRows = step.firstRows ?? definition.steps[index].firstRows
        }
        definition.limit = other.definition.limit ?? definition.limit
    }

    /// Throws if another join has the same relation to several rows under another alias. Both would
    /// be joined, with a row for each pair of related rows.
    func checkAlias(among joins: [RelationJoin]) throws {
        guard definition.steps.contains(where: { $0.direction == .down }),
            joins.contains(where: { $0.isSame(as: self) && $0.hasOtherAlias(than: self) })
        else { return }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "it leads to several rows, and was joined under two aliases: use one alias, or give one of "
                + "the two another key with forKey(_:) to join each pair of rows")
    }

    /// Adds a join to others, or merges it into the one of the same rows.
    static func add(_ join: RelationJoin, to joins: inout [RelationJoin]) {
        if let index = joins.firstIndex(where: { $0.isSame(as: join) && !$0.hasOtherAlias(than: join) }) {
            joins[index].merge(join)
        } else {
            joins.append(join)
        }
    }
}

extension SelectQuery {
    /// Merges another request for the same rows into this one.
    fileprivate mutating func merge(_ other: SelectQuery) {
        source.alias = other.source.alias ?? source.alias
        selection = other.selection ?? selection
        annotations += other.annotations
        own.formUnion(other.own)
        if let condition = other.given { filter(condition) }
        if !other.ordering.isEmpty { ordering = other.ordering }
        limit = other.limit ?? limit
        isDistinct = isDistinct || other.isDistinct
        groups += other.groups
        groupCondition = other.groupCondition ?? groupCondition
        joins += other.joins
        commonTables += other.commonTables
        let included = other.included
        for join in included.joins { include(join) }
        include(included.loads)
    }

    /// Whether the request fetches all rows of a table.
    fileprivate var isOfWholeTable: Bool {
        source.type != nil && source.alias == nil && given == nil && matchesRows && commonTables.isEmpty
    }

    /// The relations that are fetched along with the rows.
    var included: IncludedRelations { supplement as? IncludedRelations ?? IncludedRelations() }

    /// Adds a join of a relation's rows.
    mutating func include(_ join: RelationJoin) {
        var joins = included.joins
        RelationJoin.add(join, to: &joins)
        supplement = IncludedRelations(joins: joins, loads: included.loads)
    }

    /// Adds relations whose rows have statements of their own.
    mutating func include(_ loads: [any Relation]) {
        if loads.isEmpty { return }
        supplement = IncludedRelations(joins: included.joins, loads: included.loads + loads)
    }
}

/// The relations that are fetched along with the rows of a request.
final class IncludedRelations: RequestSupplement, @unchecked Sendable {
    /// The relations that are joined.
    let joins: [RelationJoin]
    /// The relations that are loaded by a statement of their own.
    let loads: [any Relation]
    /// The request, if it fetches all rows of a table.
    private let whole: SelectQuery?

    init(joins: [RelationJoin] = [], loads: [any Relation] = [], whole: SelectQuery? = nil) {
        (self.joins, self.loads, self.whole) = (joins, loads, whole)
    }

    override var joinsTables: Bool { !joins.isEmpty }

    /// Whether rows are fetched in addition to those of the request itself.
    var includesRows: Bool {
        !loads.isEmpty
            || joins.contains { join in
                join.isIncluded || join.definition.steps.contains { $0.query.included.includesRows }
            }
    }

    override func joined(
        _ query: SelectQuery, for element: Any.Type?, avoiding names: [String], on db: Database
    ) throws -> SelectQuery {
        // Records find their keys in their remembered rows.
        if joins.isEmpty, element == nil || element is Record.Type {
            guard element != nil, query.isOfWholeTable else { return query }
            var known = query
            known.supplement = IncludedRelations(loads: loads, whole: query)
            return known
        }
        if let element, !loads.isEmpty, element is any DatabaseValueConvertible.Type {
            throw RelationError.unsound(
                relation: loads.map { $0.definition.name() }.joined(separator: ", "),
                reason:
                    "relations can only be loaded for records and rows, but the request returns \(element)")
        }
        return try JoinedQuery(query, self, for: element, avoiding: names, on: db).query
    }

    override func ordered(by change: ([SQLOrdering]) -> [SQLOrdering]) -> RequestSupplement {
        if joins.isEmpty { return self }
        var joins = joins
        for join in joins.indices {
            for step in joins[join].definition.steps.indices {
                joins[join].definition.steps[step].query.changeOrder(change)
            }
        }
        return IncludedRelations(joins: joins, loads: loads)
    }

    override func combined(with other: RequestSupplement?) -> RequestSupplement? {
        var loads = loads
        for load in (other as? IncludedRelations)?.loads ?? []
        where !loads.contains(where: { $0.definition.identity === load.definition.identity }) {
            loads.append(load)
        }
        return loads.isEmpty ? nil : IncludedRelations(loads: loads)
    }

    override func supply<Element>(_ elements: [Element], in db: Database) throws {
        guard let type = Element.self as? Record.Type else { return }
        let records = unsafeBitCast(elements, to: [Record].self)
        for relation in loads { try relation.definition.checkOwner(.type(type)) }
        // A single record may be the first of a larger fetch, so do not load for the whole table.
        try loads.load(for: records, areFetched: true, whole: records.count > 1 ? whole : nil, in: db)
    }

    override func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        var region = DatabaseRegion()
        for relation in loads { try region.formUnion(relation.definition.region(of: type, in: db)) }
        for join in joins {
            for step in join.definition.steps {
                try region.formUnion(step.query.included.region(of: step.end.type, in: db))
            }
        }
        return region
    }
}
