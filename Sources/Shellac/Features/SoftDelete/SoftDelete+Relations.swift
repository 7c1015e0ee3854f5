// Soft deletes that cascade to the rows of relations.

extension SoftDelete {
    /// Declares a column that holds the date of the deletion, or NULL, and relations to cascade to.
    ///
    /// The rows of the relations are deleted along with their owner, with the same date. They are
    /// restored along with the row whose deletion included them.
    ///
    /// ```swift
    /// class Team: Record {
    ///     static let players = hasMany(Player.self)
    ///
    ///     override class var databaseSoftDelete: SoftDelete? {
    ///         .column("deletedAt", cascading: Team.players)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The column.
    ///   - relations: Relations to rows that refer to this one. Their type must declare
    ///     ``TableRecord/databaseSoftDelete``, too.
    public static func column(_ name: String, cascading relations: any Relation...) -> SoftDelete {
        SoftDelete(name, relations.map { RelationCascade($0.definition) })
    }
}

/// The rows of a relation, which are deleted and restored along with those that they belong to.
private struct RelationCascade: SoftDeleteCascade {
    let definition: RelationDefinition

    init(_ definition: RelationDefinition) { self.definition = definition }

    var name: String { definition.name() }

    func ownerColumns(of type: any TableRecord.Type, on db: Database) throws -> [String] {
        try path(for: type, on: db).steps[0].from
    }

    func rows(
        along owners: [[DatabaseValue]], of type: any TableRecord.Type, on db: Database
    ) throws -> [SelectQuery] {
        let path = try path(for: type, on: db)
        var keys = KeyIndex(path.steps[0].to, capacity: owners.count)
        for owner in owners { keys.add(owner) }
        return keys.lists().map { list in
            var query = definition.steps[0].query
            // Of the type's own conditions, only that of its kind stays. Rows that the others hide
            // from reads go along with the row that they belong to, too.
            (query.own, query.ordering, query.supplement) = (.kind, [], query.included.joinsAlone)
            query.filter(
                list.condition(path.steps[0].to.map { $0.compared(SQLExpression(.column($0.name))) }))
            return query
        }
    }

    private func path(for type: any TableRecord.Type, on db: Database) throws -> RelationPath {
        try definition.checkOwner(.type(type))
        guard definition.steps.count == 1, definition.steps[0].direction == .down, definition.limit == nil
        else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason:
                    "a cascade deletes the rows that refer to a deleted row: name a hasMany or hasOne "
                    + "relation without a limit"
            )
        }
        try definition.check(definition.steps[0])
        return try db.relations.path(of: definition, for: .type(type), on: db)
    }
}
