/// The reader of the rows of a request with joined tables.
final class FetchedScopes: RequestSupplement, @unchecked Sendable {
    let plan: ScopePlan
    private let included: IncludedRelations

    init(_ plan: ScopePlan, _ included: IncludedRelations) { (self.plan, self.included) = (plan, included) }

    override func rows<Element>(
        of statement: Statement, as type: Element.Type, in db: Database
    ) throws -> SuppliedRows? {
        // Tables that are joined only for their conditions add no columns.
        if plan.children.isEmpty, !plan.hasLists { return nil }
        if type is Record.Type { return try JoinedRecords(plan, statement, db) }
        return plan.hasLists ? PrefetchedScopes(plan, statement, db) : JoinedScopes(plan, statement)
    }

    override func refuseCursor() throws {
        // A cursor works for rows without scopes and lists.
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
        return table.moveOn()
    }
}

/// The rows of a request for class records, which get the records of joined tables.
private final class JoinedRecords: SuppliedRows {
    private let plan: ScopePlan
    private let statement: Statement
    private let db: Database
    private var objects: JoinedObjects?

    init(_ plan: ScopePlan, _ statement: Statement, _ db: Database) throws {
        (self.plan, self.statement, self.db) = (plan, statement, db)
        super.init(givesToObjects: true)
        try JoinedObjects.check(plan)
    }

    override func next() throws -> LiveRow? {
        guard try statement.step() else { return nil }
        if let objects { return objects.table.moveOn() }
        let objects = JoinedObjects(plan, of: statement.row)
        self.objects = objects
        return objects.table.moveOn()
    }

    override func give(to object: AnyObject) throws {
        try objects?.give(to: unsafeDowncast(object, to: Record.self))
    }

    override func finish() throws { try objects?.load(in: db) }
}

/// The records made of the rows of joined tables. Each place of the request has one record for each
/// row.
final class JoinedObjects {
    let table: ScopedTable
    private let tables: [JoinedTable]

    init(_ plan: ScopePlan, of statement: LiveRow) {
        table = ScopedTable(plan, of: statement)
        tables = table.tables.map { JoinedTable($0) }
    }

    /// Gives a record the objects joined with its row.
    @inline(__always)
    func give(to record: Record) throws { for table in tables { try table.give(to: record) } }

    /// Loads the relations nested in joined rows.
    func load(in db: Database) throws { for table in tables { try table.load(in: db) } }

    /// Throws if records cannot hold the joined rows.
    static func check(_ plan: ScopePlan) throws {
        for child in plan.children {
            if let definition = child.definition, definition.isMany {
                throw RelationError.unsound(
                    relation: definition.name(),
                    reason:
                        "a join returns one row for each related row, and no list: load it with "
                        + "including(all: \(definition.name())), or fetch rows, or a struct of both")
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
    /// The related objects of a record without a joined row.
    private let none: RelatedObjects?
    /// The column that identifies rows, if it is a single one.
    private let identity: Int?
    private var records: [Record] = []
    /// The objects given to all records related to the same row, and their numbers by the row's
    /// key.
    private var given: [RelatedObjects] = []
    private var integers = IntegerNumbers()
    private var others: [[DatabaseValue]: Int32] = [:]
    /// The objects for the last record, to be given once they are in the processor's cache.
    private var coming: (owner: Unretained<Record>, related: Unretained<RelatedObjects>)?

    init(_ table: ScopedTable) {
        self.table = table
        definition = table.plan.definition.unsafelyUnwrapped
        tables = table.tables.map { JoinedTable($0) }
        none = definition.target?.one(definition.identity, nil)
        identity = table.identity.count == 1 ? table.identity[0] : nil
    }

    func give(to owner: Record) throws {
        // A key that is not NULL identifies one row.
        if let identity, case .integer(let key) = table.statement.value(at: identity).view {
            if let number = integers.number(of: key) { return give(number, to: owner) }
            if let number = try make(for: owner) { integers.add(key, as: number) }
            return
        }
        let key = table.identity.map { table.statement.value(at: $0).view.databaseValue }
        if key.isEmpty || key.contains(where: \.isNull) {
            _ = try make(for: owner)
        } else if let number = others[key] {
            give(number, to: owner)
        } else if let number = try make(for: owner) {
            others[key] = number
        }
    }

    /// Gives a record the objects that other records got before. These have mostly left the
    /// processor's caches, so they are prefetched while the next row is fetched. The record and the
    /// objects live until then.
    private func give(_ number: Int32, to owner: Record) {
        giveComing()
        let related = Unretained(given[Int(number)])
        prefetch(related.context, byteCount: 1)
        coming = (Unretained(owner), related)
    }

    private func giveComing() {
        if let coming { coming.owner.use { owner in coming.related.use { owner.attach($0) } } }
        coming = nil
    }

    /// Gives a record another one, made of the row. Returns the number of the objects that it gives
    /// to all records related to the row.
    private func make(for owner: Record) throws -> Int32? {
        guard let row = table.current else {
            if let none { owner.attach(none) }
            return nil
        }
        // A type that is no record class reads its row in the scope.
        guard let target = definition.target else { return nil }
        let record = try target.make(row)
        records.append(record)
        for table in tables { try table.give(to: record) }
        let related = target.one(definition.identity, record)
        owner.attach(related)
        if let step = table.plan.wayBack { record.attach(RelatedOwner(owner, step)) }
        given.append(related)
        return Int32(given.count - 1)
    }

    func load(in db: Database) throws {
        giveComing()
        let loads = definition.query.included.loads
        for table in tables { try table.load(in: db) }
        if !records.isEmpty, !loads.isEmpty { try loads.load(for: records, areFetched: true, in: db) }
    }
}
