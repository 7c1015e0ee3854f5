/// What reads the rows of a request whose tables are joined.
final class FetchedScopes: RequestSupplement, @unchecked Sendable {
    let plan: ScopePlan
    private let included: IncludedRelations

    init(_ plan: ScopePlan, _ included: IncludedRelations) { (self.plan, self.included) = (plan, included) }

    override func rows<Element>(
        of statement: Statement, as type: Element.Type, in db: Database
    ) throws -> SuppliedRows? {
        if type is Record.Type { return try JoinedRecords(plan, statement, db) }
        return plan.hasLists ? PrefetchedScopes(plan, statement, db) : JoinedScopes(plan, statement)
    }

    override func refuseCursor() throws {
        // Rows that come alone come one by one.
        if !plan.children.isEmpty || plan.hasLists { try super.refuseCursor() }
    }

    override func supply<Element>(_ elements: [Element], in db: Database) throws {
        try included.supply(elements, in: db)
    }

    override func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        try included.region(of: type, in: db)
    }
}

/// The rows of a request, with those of joined tables.
private final class JoinedScopes: SuppliedRows {
    private let plan: ScopePlan
    private let statement: Statement
    private var table: ScopedTable?

    init(_ plan: ScopePlan, _ statement: Statement) {
        (self.plan, self.statement) = (plan, statement)
        super.init()
    }

    override func next() throws -> LiveRow? {
        guard try statement.step() else { return nil }
        let table = table ?? ScopedTable(plan, of: statement.row)
        self.table = table
        table.moveOn(statement.row)
        return table.row
    }
}

/// The rows of a request that becomes records of a class, which are given those of joined tables.
private final class JoinedRecords: SuppliedRows {
    private let plan: ScopePlan
    private let statement: Statement
    private let db: Database
    private var objects: JoinedObjects?

    init(_ plan: ScopePlan, _ statement: Statement, _ db: Database) throws {
        (self.plan, self.statement, self.db) = (plan, statement, db)
        super.init()
        try JoinedObjects.check(plan)
    }

    override func next() throws -> LiveRow? {
        guard try statement.step() else { return nil }
        let objects = objects ?? JoinedObjects(plan, of: statement.row)
        self.objects = objects
        objects.table.moveOn(statement.row)
        return objects.table.row
    }

    override func take<Element>(_ element: Element) throws {
        // Elements are of a class of records: a cast to an object would look that up for each.
        guard let record = unsafeBitCast(Optional(element), to: Record?.self) else { return }
        try objects?.give(to: record, statement.row)
    }

    override func finish() throws { try objects?.load(in: db) }
}

/// The records that are made of the rows of joined tables: one for each row that is found at one place of the request.
final class JoinedObjects {
    let table: ScopedTable
    private let tables: [JoinedTable]

    init(_ plan: ScopePlan, of statement: LiveRow) {
        table = ScopedTable(plan, of: statement)
        tables = table.tables.map(JoinedTable.init)
    }

    /// Gives a record what was joined with its row.
    func give(to record: Record, _ statement: LiveRow) throws {
        for table in tables { try table.give(to: record, statement) }
    }

    /// Loads what is to be loaded along with joined rows.
    func load(in db: Database) throws { for table in tables { try table.load(in: db) } }

    /// Throws where records cannot be given what is joined.
    static func check(_ plan: ScopePlan) throws {
        for child in plan.children {
            if let definition = child.definition, definition.isMany {
                throw RelationError.unsound(
                    relation: definition.name(),
                    reason:
                        "to join it is to have a row for each of several, and no list: load it by "
                        + "including(all: \(definition.name())), or fetch as rows or as a struct of both")
            }
            try check(child)
        }
    }
}

/// The records of one joined table.
private final class JoinedTable {
    private let table: ScopedTable
    private let definition: RelationDefinition
    private let tables: [JoinedTable]
    /// What is given where there is no row.
    private let none: RelatedObjects?
    /// The column that tells rows apart, where it is one.
    private let identity: Int?
    private var records: [Record] = []
    /// What is given to all that are related to one row.
    private var byInteger: [Int64: RelatedObjects] = [:]
    private var byKey: [[DatabaseValue]: RelatedObjects] = [:]

    init(_ table: ScopedTable) {
        self.table = table
        definition = table.plan.definition.unsafelyUnwrapped
        tables = table.tables.map(JoinedTable.init)
        none = definition.target?.one(definition.identity, nil)
        identity = table.identity.count == 1 ? table.identity[0] : nil
    }

    func give(to owner: Record, _ statement: LiveRow) throws {
        guard table.isThere else {
            if let none { owner.relate(none) }
            return
        }
        var key: [DatabaseValue] = []
        var integer: Int64?
        if let column = identity, case .integer(let value) = statement.value(at: column).view {
            if let known = byInteger[value] { return owner.relate(known) }
            integer = value
        } else {
            key = table.identity.map { statement.value(at: $0).view.databaseValue }
            if !key.isEmpty, let known = byKey[key] { return owner.relate(known) }
        }
        // A type that is no class of records reads its row in the scope.
        guard let target = definition.target else { return }
        let record = try target.make(table.row)
        records.append(record)
        for table in tables { try table.give(to: record, statement) }
        let related = target.one(definition.identity, record)
        if let integer { byInteger[integer] = related } else if !key.isEmpty { byKey[key] = related }
        owner.relate(related)
        if let step = table.plan.wayBack { record.relate(RelatedOwner(owner, step)) }
    }

    func load(in db: Database) throws {
        let loads = definition.query.included.loads
        for table in tables { try table.load(in: db) }
        if !records.isEmpty, !loads.isEmpty { try loads.load(for: records, areFetched: true, in: db) }
    }
}
