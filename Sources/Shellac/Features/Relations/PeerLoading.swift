/// The records that a relation is loaded for when the program names one of them.
public enum LoadScope: Hashable, Sendable {
    /// The named record and the records of the same fetch, some hundreds at a time.
    case siblings
    /// The named record alone.
    case single
}

extension Record {
    /// Loads a relation for the record, and prefetches it for the next records of the same fetch.
    ///
    /// ```swift
    /// for team in try Team.fetchAll(db) {
    ///     try team.load(Team.players, db)     // two statements for some hundreds of teams
    ///     for player in try team.players { … }
    /// }
    /// ```
    ///
    /// Records that were fetched together share the memory of their rows, so their keys are known.
    /// The rows prefetched for the other records are kept until the access ends or the database
    /// changes. The other records get them when they load the relation. If a row of another record
    /// cannot be read, the error is thrown only when that record loads the relation. A record that
    /// was saved since, or whose row takes more than some hundred bytes, is loaded alone.
    ///
    /// - Parameters:
    ///   - relation: The relation.
    ///   - db: A connection to the database.
    ///   - scope: Whether the relation is also prefetched for records of the same fetch.
    /// - Throws: a ``RelationError``, or the ``DatabaseError`` of a statement.
    public final func load(_ relation: some Relation, _ db: Database, _ scope: LoadScope = .siblings) throws {
        db.checkAccess()
        try db.readingOneState {
            try relation.definition.checkNested()
            let loading = try RelationLoading(relation.definition, in: db)
            guard scope == .siblings, let window = rememberedRow.window else {
                return try loading.load(for: [self], areFetched: false)
            }
            try loading.load(for: self, among: window)
        }
    }
}

/// A relation of the records from one window of a fetch.
struct PeerRelation: Hashable {
    let window: ObjectIdentifier
    let identity: ObjectIdentifier
    let type: ObjectIdentifier
    /// The refinements of the relation.
    let refinement: Refinement

    /// The identity of the relation's value. Equal forms have equal refinements.
    struct Form: Hashable {
        let window: ObjectIdentifier
        let form: ObjectIdentifier
        let type: ObjectIdentifier
    }

    struct Refinement: Hashable {
        var shape: [UInt8] = []
        var arguments: [DatabaseValue] = []
    }
}

/// The related objects of the records of a window.
final class LoadedPeers {
    /// The window and the definition are kept alive, so that no other objects get their addresses.
    private let window: FetchWindow
    private let definition: RelationDefinition
    private let version: ContentVersion
    private let generation: UInt64
    /// The numbers that reveal other connections' commits. A transaction that began since may see
    /// these commits.
    private let dataVersions: [Int64?]
    private let keys: KeyIndex
    /// The related objects of each key. Nil if there was no row, or if they were taken.
    private var found: [RelatedObjects?]
    /// The keys without objects to take: another record has them, or they could not be read.
    private var taken: Set<Int32>

    /// - Parameter unreadable: The keys with rows that could not be read. A record with such a key
    ///   loads alone, and then throws the error.
    init(
        _ window: FetchWindow, _ definition: RelationDefinition, _ keys: KeyIndex,
        _ found: [RelatedObjects?], unreadable: Set<Int32>, in db: Database
    ) throws {
        (self.window, self.definition, self.keys, self.found) = (window, definition, keys, found)
        taken = unreadable
        version = db.contentVersion
        generation = try db.schemaGeneration
        dataVersions = try db.dataVersions()
    }

    /// Returns the related objects of a key. The inner optional is nil if there was no row. The
    /// outer one is nil if another record has the objects, or they could not be read.
    ///
    /// Many records may refer to the same record, and share it. Records that refer to one belong to
    /// that one alone.
    func take(_ key: [DatabaseValue]) -> RelatedObjects?? {
        guard let number = keys.number(of: key), !taken.contains(number) else { return nil }
        guard definition.steps[0].direction == .down else { return found[Int(number)] }
        taken.insert(number)
        defer { found[Int(number)] = nil }
        return .some(found[Int(number)])
    }

    /// Returns whether the database is unchanged.
    func isGood(in db: Database) throws -> Bool {
        guard version.changes == db.contentVersion.changes, try generation == db.schemaGeneration else {
            return false
        }
        return try version.begins == db.contentVersion.begins || dataVersions == db.dataVersions()
    }
}

extension Database {
    /// Returns the numbers that change when another connection has committed to one of the
    /// databases.
    fileprivate func dataVersions() throws -> [Int64?] {
        try schema.databaseNames().filter { !CaseInsensitiveName.matches($0, "temp") }.map(dataVersion(of:))
    }
}

extension RelationLoading {
    /// Loads the relation for a record, from the objects kept for its window. If there are none
    /// yet, finds them first.
    fileprivate func load(for record: Record, among window: FetchWindow) throws {
        let relations = db.relations
        let path = try path(for: type(of: record))
        // If each key needs a statement of its own, there is nothing to gain from the keys of
        // others.
        guard path.steps[0].to.allSatisfy(\.comparison.isComparable) else {
            return try load(for: [record], areFetched: false)
        }
        let type = ObjectIdentifier(type(of: record))
        let form = PeerRelation.Form(
            window: ObjectIdentifier(window), form: ObjectIdentifier(definition.form), type: type)
        func key() throws -> PeerRelation {
            try PeerRelation(
                window: ObjectIdentifier(window), identity: ObjectIdentifier(definition.identity), type: type,
                refinement: definition.refinement(on: db))
        }
        let names = path.steps[0].from
        let own = try record.encodedKey(names, of: definition, in: db)
        if let peers = try relations.loadedPeers(of: form, key), try peers.isGood(in: db) {
            return try give(own, to: record, from: peers, path)
        }
        var keys = KeyIndex(path.steps[0].to, capacity: FetchWindow.rowCount)
        keys.add(own)
        window.eachRow { bytes, layout in
            let places = names.compactMap(layout.column(named:))
            if places.count == names.count { keys.add(bytes, places) }
        }
        let peers = try findPeers(window, path, &keys)
        try relations.keep(peers, for: form, key())
        db.isKeptForAccess = true
        try give(own, to: record, from: peers, path)
    }

    /// Finds the related objects of a window's records. Unreadable rows are no error here, because
    /// they may belong to another record.
    private func findPeers(
        _ window: FetchWindow, _ path: RelationPath, _ keys: inout KeyIndex
    ) throws -> LoadedPeers {
        var unreadable: Set<Int32> = []
        var found: [RelatedObjects?]
        do {
            found = try find(path, &keys, for: []) { number, error in
                if db.isInterrupt(error) { throw error }
                unreadable.insert(number)
            }
        } catch {
            if db.isInterrupt(error) { throw error }
            // The failed statement, or the nested relation's unreadable row, may belong to any of
            // the keys.
            (found, unreadable) = (Array(repeating: nil, count: keys.count), Set(0..<Int32(keys.count)))
        }
        return try LoadedPeers(window, definition, keys, found, unreadable: unreadable, in: db)
    }

    /// Gives a record its related objects. It loads alone if another object of its row has these,
    /// or they could not be read.
    private func give(
        _ key: [DatabaseValue], to record: Record, from peers: LoadedPeers, _ path: RelationPath
    ) throws {
        if !take(key, for: record, from: peers, path) { try load(for: [record], areFetched: false) }
    }

    /// Gives a record its related objects. Returns false if there are none to give.
    private func take(
        _ key: [DatabaseValue], for record: Record, from peers: LoadedPeers, _ path: RelationPath
    ) -> Bool {
        if key.contains(where: \.isNull) {
            record.attach(nothing)
            return true
        }
        guard let found = peers.take(key) else { return false }
        record.attach(found ?? nothing)
        if leadsBack, let found { found.attachInverse(RelatedOwner(record, path.steps[0])) }
        return true
    }
}

extension RelationDefinition {
    /// Returns the refinements of the relation, in a form that can be compared.
    fileprivate func refinement(on db: Database) throws -> PeerRelation.Refinement {
        var refinement = PeerRelation.Refinement()
        try note(in: &refinement, on: db)
        return refinement
    }

    private func note(in refinement: inout PeerRelation.Refinement, on db: Database) throws {
        var writer = ShapeWriter(over: [], db)
        var query = query
        for index in query.ordering.indices {
            guard let term = query.ordering[index].stepTerm else { continue }
            query.ordering[index] = term.ordering
            refinement.arguments += [index.databaseValue, term.step.databaseValue]
        }
        try query.write(to: &writer)
        refinement.shape += writer.bytes
        refinement.arguments += writer.arguments
        refinement.arguments.append((limit ?? -1).databaseValue)
        for relation in nested {
            let definition = relation.definition
            refinement.arguments.append(Int(bitPattern: ObjectIdentifier(definition.identity)).databaseValue)
            try definition.note(in: &refinement, on: db)
        }
        refinement.arguments.append(nested.count.databaseValue)
    }
}

extension LoadScope {
    @available(*, unavailable, renamed: "siblings")
    public static var peers: LoadScope { .siblings }

    @available(*, unavailable, renamed: "single")
    public static var alone: LoadScope { .single }
}
