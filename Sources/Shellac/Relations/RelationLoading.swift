/// Loads a relation for records: one statement finds the rows of all, and each record is given its own.
struct RelationLoading {
    let definition: RelationDefinition
    private let target: RelatedClass
    let db: Database

    init(_ definition: RelationDefinition, in db: Database) throws {
        guard let target = definition.target else {
            throw RelationError.unsound(
                relation: definition.name(),
                reason: "\(definition.targetType) is no class of records: only these are loaded into others")
        }
        (self.definition, self.target, self.db) = (definition, target, db)
    }

    /// Loads the relation, and those that are to be loaded along with it.
    ///
    /// - Parameters:
    ///   - owners: The records that it is loaded for.
    ///   - areFetched: Whether they were just fetched: then they have what they remember.
    func load(for owners: [Record], areFetched: Bool) throws {
        guard let first = owners.first else { return }
        let type = Swift.type(of: first)
        if owners.allSatisfy({ Swift.type(of: $0) == type }) {
            return try load(for: owners, of: type, areFetched)
        }
        // Classes of other tables may inherit a relation.
        var groups: [(type: Record.Type, records: [Record])] = []
        for owner in owners {
            let type = Swift.type(of: owner)
            if let index = groups.firstIndex(where: { $0.type == type }) {
                groups[index].records.append(owner)
            } else {
                groups.append((type, [owner]))
            }
        }
        for group in groups { try load(for: group.records, of: group.type, areFetched) }
    }

    private func load(for owners: [Record], of type: Record.Type, _ areFetched: Bool) throws {
        let path = try path(for: type)
        var keys = OwnerKeys(path.steps[0].to, capacity: owners.count)
        try keys.add(owners, path.steps[0].from, of: definition, areFetched, in: db)
        if owners.count == 1, !areFetched { db.noteLoad(of: definition, for: type) }
        let lists = try find(path, &keys)
        give(owners, keys, lists, path)
    }

    /// The columns that the relation goes by, for records of a class.
    func path(for type: Record.Type) throws -> RelationPath {
        try definition.checkOwner(type)
        return try db.relations.path(of: definition, for: type, on: db)
    }

    /// Returns the records of each key, with all that is to be loaded along with them.
    func find(_ path: RelationPath, _ keys: inout OwnerKeys) throws -> [[Record]] {
        var found = RelatedRows(isMany: definition.isMany)
        for list in keys.lists() { try fetch(list, path, &keys, &found) }
        try definition.nested.load(for: found.all, areFetched: true, in: db)
        return found.lists(count: keys.count)
    }

    // MARK: - Fetching

    private func fetch(
        _ list: OwnerKeys.List, _ path: RelationPath, _ keys: inout OwnerKeys, _ found: inout RelatedRows
    ) throws {
        let query = try RelationQuery(
            definition, path, list, identity: identity(path), for: target.type, in: db)
        let plan = query.plan
        try JoinedObjects.check(plan)
        let (statement, arguments) = try db.queries.prepare(
            PurposefulQuery(storage: QueryStorage(query.select), purpose: .rows), on: db)
        try statement.begin(arguments)
        defer { statement.abandon() }
        let row = statement.row
        var objects: JoinedObjects?
        var keyColumn = 0
        while try statement.step() {
            if objects == nil {
                keyColumn = query.keyColumn(of: row)
                objects = JoinedObjects(plan, of: row)
            }
            guard let number = list.only ?? keys.number(of: row, at: keyColumn), found.wantsRow(of: number)
            else { continue }
            let identity = (0..<query.identityCount).map {
                row.value(at: keyColumn + query.keyCount + $0).view.databaseValue
            }
            let joined = objects.unsafelyUnwrapped
            let own = joined.table.moveOn()
            try found.add(number, identity) {
                let record = try target.make(own)
                try joined.give(to: record)
                return record
            }
        }
        try objects?.load(in: db)
    }

    /// The columns that tell the rows of the target apart, where one may be found for several records.
    private func identity(_ path: RelationPath) throws -> [String] {
        if path.steps.count == 1 { return [] }
        return try definition.targetType.primaryKey(of: definition.targetType.tableSchema(on: db))
    }

    // MARK: - Giving

    /// Gives each record what was found for it.
    func give(_ owners: [Record], _ keys: OwnerKeys, _ lists: [[Record]], _ path: RelationPath) {
        func made(_ records: [Record]) -> RelatedObjects {
            definition.isMany
                ? target.many(definition.identity, records) : target.one(definition.identity, records.first)
        }
        let none = made([])
        var objects: [RelatedObjects?] = Array(repeating: nil, count: keys.count)
        let leadsBack = definition.steps.count == 1 && definition.steps[0].direction == .down
        for (owner, number) in zip(owners, keys.numbers) {
            guard number >= 0, !lists[Int(number)].isEmpty else {
                owner.relate(none)
                continue
            }
            if let known = objects[Int(number)] {
                owner.relate(known)
                continue
            }
            let records = lists[Int(number)]
            let related = made(records)
            objects[Int(number)] = related
            owner.relate(related)
            guard leadsBack else { continue }
            let back = RelatedOwner(owner, path.steps[0])
            for record in records { record.relate(back) }
        }
    }
}

/// The rows that were found, as records, each with the number of the key that it was found by.
private struct RelatedRows {
    /// Whether a key wants all of its rows, and not the first alone.
    private let isMany: Bool
    private var records: [Record] = []
    private var numbers: [Int32] = []
    /// The records of rows that may be found several times.
    private var byIdentity: [[DatabaseValue]: Record] = [:]
    private var distinct: [Record] = []
    /// The keys that have their row.
    private var taken: Set<Int32> = []

    init(isMany: Bool) { self.isMany = isMany }

    /// All records, each once.
    var all: [Record] { distinct.isEmpty ? records : distinct }

    /// Whether another row is wanted for a key.
    func wantsRow(of number: Int32) -> Bool { isMany || !taken.contains(number) }

    /// Adds a row. One that was found before is the same object.
    mutating func add(
        _ number: Int32, _ identity: [DatabaseValue], _ make: () throws -> Record
    ) rethrows {
        let record: Record
        // A primary key that is NULL tells no rows apart.
        let isKnowable = !identity.isEmpty && !identity.contains(where: \.isNull)
        if isKnowable, let known = byIdentity[identity] {
            record = known
        } else {
            record = try make()
            if !identity.isEmpty { distinct.append(record) }
            if isKnowable { byIdentity[identity] = record }
        }
        records.append(record)
        numbers.append(number)
        if !isMany { taken.insert(number) }
    }

    /// The records of each key, in the order in which they were found.
    func lists(count: Int) -> [[Record]] {
        var counts = Array(repeating: 0, count: count)
        for number in numbers { counts[Int(number)] += 1 }
        var lists: [[Record]] = counts.map { count in
            var list: [Record] = []
            list.reserveCapacity(count)
            return list
        }
        for (record, number) in zip(records, numbers) { lists[Int(number)].append(record) }
        return lists
    }
}

extension RelationDefinition {
    /// Throws unless a type is the one that declares the relation, or inherits from it.
    func checkOwner(_ type: any TableRecord.Type) throws {
        if ObjectIdentifier(type) == ObjectIdentifier(owner) { return }
        if let type = type as? Record.Type, let owner = owner as? Record.Type, type.isSubclass(of: owner) {
            return
        }
        throw RelationError.wrongOwner(relation: name(), recordType: "\(type)")
    }

    /// Throws unless all that is to be loaded along belongs to the rows, of which there may be none.
    func checkNested() throws {
        for relation in nested {
            try relation.definition.checkOwner(targetType)
            try relation.definition.checkNested()
        }
    }
}

extension [any Relation] {
    /// Loads the relations, one after the other.
    func load(for records: [Record], areFetched: Bool, in db: Database) throws {
        var seen: Set<ObjectIdentifier> = []
        for definition in lazy.map(\.definition) {
            guard seen.insert(ObjectIdentifier(definition.identity)).inserted else {
                throw RelationError.unsound(
                    relation: definition.name(),
                    reason:
                        "it is named twice, and only what was loaded last would stay: name it once, with all that is "
                        + "to be loaded along with it, or give one of both a key of its own by forKey(_:)")
            }
            try definition.checkNested()
            try RelationLoading(definition, in: db).load(for: records, areFetched: areFetched)
        }
    }
}

// MARK: - What calls it

extension Database {
    /// Loads relations for records: one statement for each relation, however many records there are.
    ///
    /// ```swift
    /// try db.load(teams, Team.players, Team.captain)
    /// for team in teams { for player in try team.players { … } }
    /// ```
    ///
    /// What was loaded before is replaced. The records need not have been fetched together.
    ///
    /// - Throws: a ``RelationError``, or the ``DatabaseError`` of a statement. What was loaded until then stays.
    public func load(_ records: [some Record], _ relations: any Relation...) throws {
        try load(records, relations)
    }

    /// Loads relations for records: one statement for each relation, however many records there are.
    public func load(_ records: [some Record], _ relations: [any Relation]) throws {
        checkAccess()
        if records.isEmpty { return }
        try readingOneState {
            try relations.load(for: records, areFetched: false, in: self)
        }
    }
}

extension RelationDefinition {
    /// What is read to load the relation.
    ///
    /// - Parameter type: The type whose relation it is.
    func region(of type: (any TableRecord.Type)?, in db: Database) throws -> DatabaseRegion {
        let path = try db.relations.path(of: self, for: type ?? owner, on: db)
        // The values of keys do not matter for the tables and columns.
        let key = OwnerKeys.List(
            condition: { $0.map { SQLExpression(.isNull($0, isNegated: true)) }.joined(operator: .and) },
            only: nil)
        let query = try RelationQuery(self, path, key, identity: [], for: Row.self, in: db)
        var region = try QueryInterfaceRequest<Row>(query.select).region(db)
        for relation in nested {
            try region.formUnion(relation.definition.region(of: targetType, in: db))
        }
        return region
    }
}
