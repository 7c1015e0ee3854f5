/// The statement that finds the rows of a relation for records with given keys.
///
/// ```sql
/// SELECT *, "teamID" AS "shellac_key0" FROM "player" WHERE "teamID" IN (SELECT +value FROM json_each(?))
///
/// SELECT "tag".*, "shellac_via"."shellac_key0", "tag"."id" FROM "tag"
///     JOIN (SELECT "postID" AS "shellac_key0", "tagID" AS "shellac_next0" FROM "tagging"
///           WHERE "postID" IN (SELECT +value FROM json_each(?))) AS "shellac_via"
///     ON "tag"."id" = "shellac_via"."shellac_next0"
/// ```
///
/// The columns of a record are followed by those of the key that it was found by. If the relation
/// leads through other tables, a row may be found several times. The columns that identify it
/// follow then.
struct RelationQuery {
    private(set) var select: SelectQuery
    /// The number of columns after those of a record, which contain its owner's key.
    let keyCount: Int
    /// The number of columns after these, which contain the row's own key.
    let identityCount: Int
    /// The number of columns after these, which are not read from the rows.
    private(set) var rankCount = 0

    /// - Parameters:
    ///   - identity: The columns that identify the target's rows, if these may be found several
    ///     times.
    ///   - element: The type that the rows become.
    init(
        _ definition: RelationDefinition, _ path: RelationPath, _ keys: KeyIndex.List, identity: [String],
        for element: Any.Type, in db: Database
    ) throws {
        for step in definition.steps { try definition.check(step) }
        keyCount = path.steps[0].to.count
        identityCount = identity.count
        let rows = StepRows(definition, path, where: keys.condition)
        select = rows.query
        let target = select
        select.annotations += (0..<keyCount).map { rows.keyColumn($0, of: target) }
        select.annotations += identity.map { SQLSelection(.expression(target.own($0), name: nil)) }
        if definition.limit != nil {
            select.annotations.append(rows.number(of: target, select.ordering))
            rankCount = 1
        }
        if let supplement = select.supplement {
            select = try supplement.joined(select, for: element, avoiding: [], on: db)
        }
        if let limit = definition.limit {
            guard plan.children.isEmpty else {
                throw RelationError.unsound(
                    relation: definition.name(),
                    reason:
                        "it has a limit for each parent, and its rows are joined with others: load the "
                        + "others with including(_:)"
                )
            }
            leaveOut(behind: limit)
        }
    }

    /// The positions of the tables and their columns in the rows.
    var plan: ScopePlan {
        let joined = (select.supplement as? FetchedScopes)?.plan
        return joined ?? ScopePlan(key: "", table: "", definition: nil, isAlone: true)
    }

    /// Runs the statement.
    ///
    /// - Parameters:
    ///   - list: The keys that the query was made with.
    ///   - keys: All keys.
    ///   - body: Receives each row, the number of the key that it was found by, and the index of
    ///     the first column of the row's own key. The row is valid until the next one.
    @inline(__always)
    func eachRow(
        _ list: KeyIndex.List, _ keys: inout KeyIndex, in db: Database,
        _ body: (LiveRow, Int32, Int) throws -> Void
    ) throws {
        let (statement, arguments) = try db.queries.prepare(
            RequestQuery(storage: SharedQuery(select), purpose: .rows), on: db)
        try statement.begin(arguments)
        defer { statement.abandon() }
        let row = statement.row
        let noted = db.queries.noted
        var column: Int?
        while try statement.step() {
            noted?.note(row)
            let first = column ?? keyColumn(of: row)
            column = first
            if let number = list.only ?? keys.number(of: row, at: first) {
                try body(row, number, first + keyCount)
            }
        }
    }

    /// Returns the index of the first column of the key that a row of the statement was found by.
    private func keyColumn(of row: LiveRow) -> Int {
        row.layout.column(named: "shellac_key0") ?? row.count - rankCount - identityCount - keyCount
    }

    /// Leaves out the rows of each key that exceed the limit.
    private mutating func leaveOut(behind limit: Int) {
        let supplement = select.supplement
        select.supplement = nil
        select = select.firstRows(limit)
        select.ordering = [SQLOrdering(SQLExpression(.column("shellac_rank")))]
        select.supplement = supplement
    }
}

extension RelationDefinition {
    /// Throws if the rows of a step have a refinement that is impossible for many records at once.
    func check(_ step: RelationStep) throws {
        func refuse(_ reason: String) throws -> Never {
            throw RelationError.unsound(relation: name(), reason: reason)
        }
        try checkFault()
        let query = step.query
        guard RelationEnd(query.source) != nil, query.commonTables.isEmpty else {
            try refuse(
                "the rows of a relation must come from a table, not from a union or a common table expression"
            )
        }
        if query.isDistinct, limit != nil {
            try refuse(
                "SQLite numbers rows before it removes duplicates: write either distinct() or a limit")
        }
        if query.limit != nil {
            try refuse(
                "one limit for all rows would leave some records without theirs: write limitPerParent(3)"
            )
        }
        if !query.groups.isEmpty || query.groupCondition != nil {
            try refuse("grouped rows belong to no record: group a request instead")
        }
    }

    /// Throws if the relation was composed of parts that do not fit together.
    func checkFault() throws { if let fault { throw RelationError.unsound(relation: name(), reason: fault) } }
}
