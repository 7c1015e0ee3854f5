/// A request joined with the tables of its relations, by the columns that the schema declares.
///
/// ```sql
/// SELECT "player".*, "team"."id" AS "shellac_0", "team".* FROM "player" JOIN "team" ON "team"."id" = "player"."teamID"
/// ```
///
/// The columns of each table are preceded by those that identify its rows. These also show where a
/// table begins, and whether it has a row at all.
struct JoinedQuery {
    /// The request.
    private(set) var query: SelectQuery

    private let db: Database
    /// Whether the rows become objects that hold each other. Only the object of a table's row can
    /// hold the objects of the tables behind it.
    private let makesObjects: Bool
    /// The names of the tables so far, which no other table may have.
    private var names: JoinedNames
    /// The selected columns of the joined tables.
    private var columns: [SQLSelection] = []
    /// The number of columns that the program does not see.
    private var hiddenCount = 0

    /// A table of the request.
    private struct Table {
        let name: String
        let end: RelationEnd
    }

    /// The place of a join in the statement.
    private struct Place {
        /// Whether the statement fetches the relations that are included there.
        let isFetched: Bool
        /// Whether the place is among joins in brackets.
        var isInGroup = false
    }

    /// - Parameters:
    ///   - request: The request.
    ///   - included: Its relations.
    ///   - element: The type that the rows become. Nil for a part of another statement, which
    ///     selects only its own columns.
    ///   - names: The names of tables that the statement has already.
    ///   - db: A connection to the database.
    init(
        _ request: SelectQuery, _ included: IncludedRelations, for element: Any.Type?,
        avoiding names: [String],
        on db: Database
    ) throws {
        (query, self.db, makesObjects) = (request, db, element is Record.Type)
        self.names = JoinedNames(names + request.sources.compactMap(\.name))
        let first = (included.joins.first?.definition ?? included.loads.first?.definition).unsafelyUnwrapped
        guard let end = RelationEnd(request.source), let name = request.source.name else {
            throw RelationError.unsound(
                relation: first.name(),
                reason: "the rows of the request are not those of a table: begin with \(first.owner).all()")
        }
        let own = Table(name: name, end: end)
        if !included.joins.isEmpty {
            // Each column is qualified with its table, so that the tables' columns are distinct.
            var scope = ColumnScope(table: name)
            let table = try end.schema(on: db)
            let annotated = included.joins.filter(\.isAnnotating).map(\.definition.query)
            let selections = request.annotations + annotated.flatMap { ($0.selection ?? []) + $0.annotations }
            scope.names = selections.compactMap(\.name).filter { table.column(named: $0) == nil }
            query.move(to: scope)
        }
        var joins = query.joins
        var plan = ScopePlan(key: "", table: end.tableName, definition: nil)
        try add(included, of: own, to: &joins, &plan, Place(isFetched: element != nil))
        query.joins = joins
        query.annotations += columns
        query.supplement = FetchedScopes(plan, included)
    }

    // MARK: - Joins

    /// Joins the tables of relations with the given table.
    private mutating func add(
        _ included: IncludedRelations, of table: Table, to joins: inout [QueryJoin], _ plan: inout ScopePlan,
        _ place: Place
    ) throws {
        if place.isFetched {
            for load in included.loads { try addList(load.definition, of: table, to: &plan) }
        }
        for var join in included.joins {
            try join.checkAlias(among: included.joins)
            if makesObjects, join.definition.includesRows { join.isIncluded = true }
            try add(join, to: table, &joins, &plan, place)
        }
    }

    private mutating func add(
        _ join: RelationJoin, to owner: Table, _ joins: inout [QueryJoin], _ plan: inout ScopePlan,
        _ outer: Place
    ) throws {
        let definition = join.definition
        try definition.checkOwner(owner.end)
        try definition.checkFault()
        let path = try db.relations.path(of: definition, for: owner.end, on: db)
        if definition.anyLimit != nil {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "joined rows cannot have a limit for each parent: load them with including(all:)")
        }
        if definition.steps.contains(where: { $0.direction == .down }) { query.hasUniqueKey = false }

        // If each table on the way has one row at most, each row may be missing by itself. But if a
        // row below is required and missing, all rows are missing.
        let isOneRow = try zip(definition.steps, path.steps).dropLast().allSatisfy { step, path in
            try step.direction == .up && step.isUnique(path.to.map(\.name), on: db)
        }
        let isRequiredBelow = definition.steps.contains {
            $0.query.included.joins.contains(where: \.isRequired)
        }
        let isGroup = !join.isRequired && (!isOneRow || isRequiredBelow)
        var place = outer
        place.isInGroup = place.isInGroup || isGroup

        var (tables, passed, before): ([QueryJoin], [String], Table) = ([], [], owner)
        var child = ScopePlan(
            key: definition.scopeKey, table: definition.targetEnd.tableName, definition: definition)
        if definition.steps.count == 1, definition.steps[0].direction == .down {
            child.wayBack = path.steps[0]
        }
        for (number, step) in definition.steps.enumerated() {
            try definition.checkJoining(step)
            let (table, source) = add(step)
            let condition = try step.joinCondition(path.steps[number], table.name, before.name)
            tables.append(
                QueryJoin(isLeft: !join.isRequired && !isGroup, source: source, condition: condition))
            if number == definition.steps.count - 1 {
                try select(join, of: table, path.steps[number], &child, place)
            }
            try add(step.query.included, of: table, to: &tables, &child, place)
            passed.append(table.name)
            before = table
        }
        query.ordering += definition.query.ordering.map { ordering in
            guard let term = ordering.stepTerm else {
                return ordering.moved(to: ColumnScope(table: before.name))
            }
            return term.ordering.moved(to: ColumnScope(table: passed[term.step]))
        }
        if join.isFetched(outer.isFetched) { plan.children.append(child) }
        guard isGroup else {
            joins += tables
            return
        }
        joins.append(
            QueryJoin(
                isLeft: true, source: tables[0].source, condition: tables[0].condition,
                inner: Array(tables.dropFirst())))
    }

    /// Adds the table of a step, under a name that no other one has.
    private mutating func add(_ step: RelationStep) -> (Table, QuerySource) {
        let source = names.source(of: step)
        return (Table(name: source.name ?? "", end: step.end), source)
    }

    // MARK: - Columns

    private mutating func hide(_ column: String, of table: Table) -> SQLSelection {
        defer { hiddenCount += 1 }
        let name = ScopePlan.hiddenPrefix + "\(hiddenCount)"
        return SQLSelection(.expression(SQLExpression(.column(table: table.name, name: column)), name: name))
    }

    /// Selects the columns that a relation selects from its table.
    private mutating func select(
        _ join: RelationJoin, of table: Table, _ step: RelationPath.Step, _ plan: inout ScopePlan,
        _ place: Place
    ) throws {
        let (query, scope) = (join.definition.query, ColumnScope(table: table.name))
        var selection = (query.selection ?? table.end.selection) + query.annotations
        // SQLite chooses names of its own for the columns of joins in brackets.
        if place.isInGroup {
            let columns = try table.end.schema(on: db).columns.filter { !$0.isHidden }.map(\.name)
            selection = selection.flatMap { $0.named(columns) }
        }
        selection = selection.map { $0.moved(to: scope) }
        if join.isAnnotating { self.query.annotations += selection }
        guard join.isFetched(place.isFetched) else { return }
        plan.isThere = hiddenCount..<hiddenCount + step.to.count
        for column in step.to { columns.append(hide(column.name, of: table)) }
        // A table that is joined only for others behind it selects only these hidden columns.
        guard join.isIncluded else { return }
        if join.definition.steps.last?.direction == .up {
            let schema = try table.end.schema(on: db)
            let key = table.end.primaryKey(of: schema)
            let known = step.to.map { CaseInsensitiveName($0.name) }
            if Set(known) == Set(key.map(CaseInsensitiveName.init)) {
                plan.identity = plan.isThere
            } else if !key.isEmpty, key.allSatisfy({ schema.column(named: $0) != nil }) {
                plan.identity = hiddenCount..<hiddenCount + key.count
                for column in key { columns.append(hide(column, of: table)) }
            }
        }
        columns += selection
    }

    /// Selects the columns by which a statement of its own finds the rows of a relation.
    private mutating func addList(
        _ definition: RelationDefinition, of table: Table, to plan: inout ScopePlan
    ) throws {
        try definition.checkOwner(table.end)
        guard definition.isMany else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason:
                    "it leads to one row, which only records of a class can load: join it with "
                    + "including(required:) or including(optional:)")
        }
        let path = try db.relations.path(of: definition, for: table.end, on: db)
        let first = hiddenCount
        for column in path.steps[0].from { columns.append(hide(column, of: table)) }
        plan.lists.append(ScopePlan.List(definition: definition, path: path, columns: first..<hiddenCount))
    }
}

extension RelationJoin {
    /// Whether the statement fetches rows of the join, or of relations included behind it.
    fileprivate func isFetched(_ isFetched: Bool) -> Bool {
        isFetched && (isIncluded || definition.includesRows)
    }
}

extension RelationDefinition {
    /// Whether rows are fetched along with those of the relation.
    fileprivate var includesRows: Bool { steps.contains { $0.query.included.includesRows } }

    /// The name of one joined row: the given key of a relation to one row, or else the singular.
    var scopeKey: String {
        if let givenKey, !isMany { return givenKey }
        return Inflection.singular(givenKey ?? targetEnd.tableName)
    }

    /// Throws if the rows of a step have a refinement that joins do not support.
    func checkJoining(_ step: RelationStep) throws {
        try check(step)
        guard step.query.joins.isEmpty, !step.query.isDistinct else {
            throw RelationError.unsound(
                relation: name(),
                reason:
                    "its request has joins of its own, or is distinct, and joins support neither: join "
                    + "relations, or load them with including(all:)")
        }
    }
}

extension RelationStep {
    /// Whether the given columns of the table identify one row at most.
    fileprivate func isUnique(_ columns: [String], on db: Database) throws -> Bool {
        let table = try end.schema(on: db)
        let key = end.primaryKey(of: table)
        return Set(key.map(CaseInsensitiveName.init)) == Set(columns.map(CaseInsensitiveName.init))
            || table.uniqueKey(of: columns) != nil
    }

    /// Returns the condition that joins the rows of the step with those that it comes from.
    func joinCondition(_ path: RelationPath.Step, _ name: String, _ origin: String) throws -> SQLExpression {
        let equations = zip(path.to, path.from).map { to, from in
            SQLExpression(
                .infix(
                    .equal, to.compared(SQLExpression(.column(table: name, name: to.name))),
                    SQLExpression(.column(table: origin, name: from))))
        }
        let conditions = equations + (query.condition.map { [$0.moved(to: ColumnScope(table: name))] } ?? [])
        return conditions.joined(operator: .and)
    }
}

// MARK: - Columns of several tables

extension SelectQuery {
    /// Qualifies the columns that are named without a table.
    fileprivate mutating func move(to scope: ColumnScope) {
        selection = selection?.map { $0.moved(to: scope) }
        annotations = annotations.map { $0.moved(to: scope) }
        (own, given) = (.none, condition?.moved(to: scope))
        ordering = ordering.map { $0.moved(to: scope) }
        groups = groups.map { $0.moved(to: scope) }
        groupCondition = groupCondition?.moved(to: scope)
    }
}

extension SQLSelection {
    /// The name that the selection sets for a column.
    fileprivate var name: String? { if case .expression(_, let name) = form { name } else { nil } }

    /// Returns the same columns, each by its name.
    fileprivate func named(_ columns: [String]) -> [SQLSelection] {
        switch form {
        case .allColumns:
            return columns.map { SQLSelection(.expression(SQLExpression(.column($0)), name: $0)) }
        case .expression(let expression, nil):
            guard case .column(let column) = expression.form else { return [self] }
            return [SQLSelection(.expression(expression, name: column))]
        case .expression: return [self]
        }
    }

    fileprivate func moved(to scope: ColumnScope) -> SQLSelection {
        switch form {
        case .allColumns(nil): SQLSelection(.allColumns(of: scope.table))
        case .allColumns: self
        case .expression(let expression, let name):
            SQLSelection(.expression(expression.moved(to: scope), name: name))
        }
    }
}

extension SQLOrdering {
    fileprivate func moved(to scope: ColumnScope) -> SQLOrdering {
        SQLOrdering(
            expression.moved(to: scope), isDescending: isDescending, areNullsLast: areNullsLast)
    }
}
