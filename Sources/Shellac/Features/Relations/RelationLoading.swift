/// The loading of a relation for records. One statement finds the rows for all of them.
struct RelationLoading {
    let definition: RelationDefinition
    private let target: RelatedClass
    let db: Database

    init(_ definition: RelationDefinition, in db: Database) throws {
        guard let target = definition.target else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "\(definition.targetEnd) is not a record class: only record classes can be loaded "
                    + "into records")
        }
        (self.definition, self.target, self.db) = (definition, target, db)
    }

    /// Loads the relation, and the relations nested in it.
    ///
    /// - Parameters:
    ///   - owners: The records to load the relation for.
    ///   - areFetched: Whether the records were just fetched, so that their values are those that
    ///     they remember.
    ///   - whole: The request that has fetched the records, if it has fetched all rows of their
    ///     table.
    func load(for owners: [Record], areFetched: Bool, whole: SelectQuery? = nil) throws {
        guard let first = owners.first else { return }
        let type = Swift.type(of: first)
        if owners.allSatisfy({ Swift.type(of: $0) == type }) {
            return try load(for: owners, of: type, areFetched, whole)
        }
        // Classes of other tables may inherit a relation. Classes of one table share a statement.
        var groups: [(type: Record.Type, records: [Record])] = []
        for owner in owners {
            let type = definition.declaringClass(for: Swift.type(of: owner))
            if let index = groups.firstIndex(where: { $0.type == type }) {
                groups[index].records.append(owner)
            } else {
                groups.append((type, [owner]))
            }
        }
        for group in groups { try load(for: group.records, of: group.type, areFetched, nil) }
    }

    private func load(
        for owners: [Record], of type: Record.Type, _ areFetched: Bool, _ whole: SelectQuery?
    ) throws {
        let path = try path(for: type)
        var keys = KeyIndex(path.steps[0].to, capacity: owners.count)
        try keys.add(owners, path.steps[0].from, of: definition, areFetched, in: db)
        if owners.count == 1, !areFetched { db.noteLoad(of: definition, for: .type(type)) }
        let found = try find(path, &keys, for: owners, whole)
        give(owners, keys, found)
    }

    /// Returns the columns that the relation goes by, for records of a class.
    func path(for type: Record.Type) throws -> RelationPath {
        try definition.checkOwner(.type(type))
        return try db.relations.path(of: definition, for: .type(type), on: db)
    }

    /// Returns the related objects of each key, with all nested relations loaded. An element is nil
    /// if the key has no row.
    ///
    /// - Parameters:
    ///   - owners: The first of the records that have the keys. The related objects lead back to
    ///     these.
    ///   - whole: The request for all rows that have the keys, if there is one.
    ///   - refuse: A handler for an unreadable row. It gets the number of the row's key, and the
    ///     error. It throws to give up the whole search.
    func find(
        _ path: RelationPath, _ keys: inout KeyIndex, for owners: [Record], _ whole: SelectQuery? = nil,
        refuse: (Int32, any Error) throws -> Void = { throw $1 }
    ) throws -> [RelatedObjects?] {
        let step = path.steps[0]
        // Only the keys of peers are known.
        let back = leadsBack && !owners.isEmpty ? step : nil
        var found = RelatedRows(definition, target, keys, back, owners)
        var all: KeyIndex.List?
        if let whole, step.comparesIntegers { all = KeyIndex.List(of: step.from[0], in: whole) }
        for list in keys.count == 0 ? [] : all.map({ [$0] }) ?? keys.lists() {
            try fetch(list, path, &keys, &found, refuse)
        }
        try definition.nested.load(for: found.records, areFetched: true, in: db)
        return found.objects
    }

    /// Whether each related object belongs to one record alone, and leads back to it.
    var leadsBack: Bool { definition.steps.count == 1 && definition.steps[0].direction == .down }

    // MARK: - Fetching

    private func fetch(
        _ list: KeyIndex.List, _ path: RelationPath, _ keys: inout KeyIndex, _ found: inout RelatedRows,
        _ refuse: (Int32, any Error) throws -> Void
    ) throws {
        let query = try RelationQuery(
            definition, path, list, identity: identity(path), for: target.type, in: db)
        let plan = query.plan
        try JoinedObjects.check(plan)
        var objects: JoinedObjects?
        try query.eachRow(list, &keys, in: db) { row, number, identityColumn in
            let joined = objects ?? JoinedObjects(plan, of: row)
            objects = joined
            guard found.wantsRow(of: number) else { return }
            let identity = (0..<query.identityCount).map {
                row.value(at: identityColumn + $0).view.databaseValue
            }
            let own = joined.table.moveOn()
            do {
                try found.add(number, identity) {
                    let record = try target.make(own)
                    try joined.give(to: record)
                    return record
                }
            } catch {
                try refuse(number, error)
            }
        }
        try objects?.load(in: db)
    }

    /// Returns the columns that identify the target's rows, if several records may have the same
    /// one.
    private func identity(_ path: RelationPath) throws -> [String] {
        if path.steps.count == 1 { return [] }
        let end = definition.targetEnd
        return try end.primaryKey(of: end.schema(on: db))
    }

    /// Gives each record its related objects.
    private func give(_ owners: [Record], _ keys: KeyIndex, _ found: [RelatedObjects?]) {
        let nothing = nothing
        for (owner, number) in zip(owners, keys.numbers) {
            owner.attach(number < 0 ? nothing : found[Int(number)] ?? nothing)
        }
    }

    /// The related objects of a record without a related row.
    var nothing: RelatedObjects {
        definition.isMany ? target.many(definition.identity, 0) : target.one(definition.identity, nil)
    }
}

/// The fetched rows, as records.
///
/// Each record is put in its place as soon as it is made. Later, it would have left the processor's
/// caches.
private struct RelatedRows {
    /// The related objects of each key.
    private(set) var objects: [RelatedObjects?]
    /// All records, each once, if nested relations need them.
    private(set) var records: [Record] = []

    private let definition: RelationDefinition
    private let target: RelatedClass
    private let keepsRecords: Bool
    /// The records of rows that may be fetched several times.
    private var byIdentity: [[DatabaseValue]: Record] = [:]

    /// The records that the related objects lead back to, the step that they do so by, and the ways
    /// back made so far.
    private let owners: [Record]
    private let firstOwners: [Int32]
    private let step: RelationPath.Step?
    private var waysBack: [RelatedOwner?]
    /// The key of the last row, and the number of its rows in sequence.
    private var lastNumber: Int32 = -1
    private var length = 0

    init(
        _ definition: RelationDefinition, _ target: RelatedClass, _ keys: KeyIndex,
        _ step: RelationPath.Step?, _ owners: [Record]
    ) {
        (self.definition, self.target, self.step) = (definition, target, step)
        (self.owners, firstOwners) = (owners, keys.firstOwners)
        keepsRecords = !definition.nested.isEmpty
        objects = Array(repeating: nil, count: keys.count)
        waysBack = Array(repeating: nil, count: step == nil ? 0 : keys.count)
    }

    /// Returns whether a key needs another row.
    func wantsRow(of number: Int32) -> Bool { definition.isMany || objects[Int(number)] == nil }

    /// Adds a row. A row that was added before becomes the same object.
    mutating func add(
        _ number: Int32, _ identity: [DatabaseValue], _ make: () throws -> Record
    ) rethrows {
        // A primary key that is NULL does not identify a row.
        let isKnowable = !identity.isEmpty && !identity.contains(where: \.isNull)
        if isKnowable, let known = byIdentity[identity] { return put(known, number) }
        let record = try make()
        if isKnowable { byIdentity[identity] = record }
        if keepsRecords { records.append(record) }
        put(record, number)
    }

    private mutating func put(_ record: Record, _ number: Int32) {
        if let step { attachInverse(record, number, step) }
        let expected = length
        length = number == lastNumber ? length + 1 : 1
        lastNumber = number
        if let known = objects[Int(number)] { return known.add(record) }
        guard definition.isMany else {
            objects[Int(number)] = target.one(definition.identity, record)
            return
        }
        // Lists often have the same length.
        let list = target.many(definition.identity, min(expected, 16))
        list.add(record)
        objects[Int(number)] = list
    }

    private mutating func attachInverse(_ record: Record, _ number: Int32, _ step: RelationPath.Step) {
        let back =
            waysBack[Int(number)] ?? RelatedOwner(owners[Int(firstOwners[Int(number)])], step)
        waysBack[Int(number)] = back
        record.attach(back)
    }
}

extension RelationDefinition {
    /// Returns the class that represents all classes of the same table, for which the relation
    /// leads the same way.
    fileprivate func declaringClass(for type: Record.Type) -> Record.Type {
        guard let base = type.rowClasses?.base, let owner = owner.type as? Record.Type,
            type.isSubclass(of: owner)
        else { return type }
        return base.isSubclass(of: owner) ? base : owner
    }

    /// Throws unless a type declares the relation, or inherits it, or the relation begins with the
    /// table.
    func checkOwner(_ end: RelationEnd) throws {
        if end == owner { return }
        switch owner {
        case .type(let type):
            if let owner = type as? Record.Type, let other = end.type as? Record.Type,
                other.isSubclass(of: owner)
            {
                return
            }
            if end == .table(type.databaseTableName) { return }
        case .table: if owner == .table(end.tableName) { return }
        }
        throw RelationError.wrongOwner(relation: name(), recordType: "\(end)")
    }

    /// Throws unless the nested relations belong to the types of their rows. This also checks
    /// relations that may find no rows.
    func checkNested() throws {
        for relation in nested {
            try relation.definition.checkOwner(targetEnd)
            try relation.definition.checkNested()
        }
    }
}

extension [any Relation] {
    /// Loads the relations, one after the other.
    func load(
        for records: [Record], areFetched: Bool, whole: SelectQuery? = nil, in db: Database
    ) throws {
        var seen: Set<ObjectIdentifier> = []
        for definition in lazy.map(\.definition) {
            guard seen.insert(ObjectIdentifier(definition.identity)).inserted else {
                throw RelationError.unsound(
                    relation: definition.name(),
                    reason:
                        "the request names it twice, and only the last load would remain: name it once, "
                        + "with everything to load along with it, or give one of the two another key with "
                        + "forKey(_:)")
            }
            try definition.checkNested()
            try RelationLoading(definition, in: db).load(
                for: records, areFetched: areFetched, whole: whole)
        }
    }
}

// MARK: - What calls it

extension Database {
    /// Loads relations for records: one statement for each relation, however many records there
    /// are.
    ///
    /// ```swift
    /// try db.load(teams, Team.players, Team.captain)
    /// for team in teams { for player in try team.players { … } }
    /// ```
    ///
    /// This replaces related objects that were loaded before. The records need not have been
    /// fetched together.
    ///
    /// - Parameters:
    ///   - records: The records, which may be of subclasses. If there are none, nothing happens.
    ///   - relations: The relations of their class. Naming one twice is an error.
    /// - Throws: a ``RelationError``, or the ``DatabaseError`` of a statement. Relations that were
    ///   loaded until then stay loaded.
    public func load(_ records: [some Record], _ relations: any Relation...) throws {
        try load(records, relations)
    }

    /// Loads relations for records: one statement for each relation, however many records there
    /// are.
    ///
    /// - Parameters:
    ///   - records: The records, which may be of subclasses. If there are none, nothing happens.
    ///   - relations: The relations of their class. Naming one twice is an error.
    /// - Throws: a ``RelationError``, or the ``DatabaseError`` of a statement. Relations that were
    ///   loaded until then stay loaded.
    public func load(_ records: [some Record], _ relations: [any Relation]) throws {
        checkAccess()
        if records.isEmpty { return }
        try readingOneState {
            try relations.load(for: records, areFetched: false, in: self)
        }
    }
}

extension RelationDefinition {
    /// Returns the region that a load of the relation reads.
    ///
    /// - Parameter type: The type that the relation is loaded for.
    func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        let path = try db.relations.path(of: self, for: type.map { .type($0) } ?? owner, on: db)
        // The values of keys do not matter for the tables and columns.
        let key = KeyIndex.List(
            condition: { $0.map { SQLExpression(.isNull($0, isNegated: true)) }.joined(operator: .and) },
            only: nil)
        let query = try RelationQuery(self, path, key, identity: [], for: Row.self, in: db)
        var region = try QueryInterfaceRequest<Row>(query.select).region(db)
        for relation in nested {
            try region.formUnion(relation.definition.region(of: targetEnd.type, in: db))
        }
        return region
    }
}
