/// For which records a relation is loaded, where one of them is named.
public enum LoadScope: Hashable, Sendable {
    /// For those, too, that came from the same fetch: some hundreds at a time.
    case peers
    /// For that one.
    case alone
}

extension Record {
    /// Loads a relation for the record, and finds what the next records of the same fetch will ask for.
    ///
    /// ```swift
    /// for team in try Team.fetchAll(db) {
    ///     try team.load(Team.players, db)     // two statements for some hundreds of teams
    ///     for player in try team.players { … }
    /// }
    /// ```
    ///
    /// Records that were fetched together share what they remember of their rows, and so their keys are known. What is found
    /// for the others is kept until the access ends, or the database changes; they are given it when they ask. What cannot be
    /// read of the others is an error when these ask, and none before. A record that was saved since, or whose row takes more
    /// than some hundred bytes, stands alone.
    ///
    /// - Parameters:
    ///   - relation: The relation.
    ///   - db: A connection to the database.
    ///   - scope: Whether records of the same fetch are thought of.
    /// - Throws: a ``RelationError``, or the ``DatabaseError`` of a statement.
    public final func load(_ relation: some Relation, _ db: Database, _ scope: LoadScope = .peers) throws {
        db.checkAccess()
        try db.readingOneState {
            try relation.definition.checkNested()
            let loading = try RelationLoading(relation.definition, in: db)
            guard scope == .peers, let window = rememberedRow.window else {
                return try loading.load(for: [self], areFetched: false)
            }
            try loading.load(for: self, among: window)
        }
    }
}

/// A relation of the records that came from one window of a fetch.
struct PeerRelation: Hashable {
    let window: ObjectIdentifier
    let identity: ObjectIdentifier
    let type: ObjectIdentifier
    /// What the relation was refined by.
    let refinement: Refinement

    /// The value that names the relation: where it is the same one, so is what it was refined by.
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

/// What was found for the records of a window.
final class LoadedPeers {
    /// They are kept, so that no other one has their addresses.
    private let window: FetchWindow
    private let definition: RelationDefinition
    private let version: ContentVersion
    private let generation: UInt64
    /// The numbers that tell of other connections' commits, which a transaction that was begun since may see.
    private let dataVersions: [Int64?]
    private let keys: OwnerKeys
    /// What was found for each key. Nil where there was no row, or where it was taken.
    private var found: [RelatedObjects?]
    /// The keys of which nothing is given: somebody has it, or it could not be read.
    private var taken: Set<Int32>

    /// - Parameter unreadable: The keys of which something could not be read. Who has one loads alone, and hears why.
    init(
        _ window: FetchWindow, _ definition: RelationDefinition, _ keys: OwnerKeys,
        _ found: [RelatedObjects?], unreadable: Set<Int32>, in db: Database
    ) throws {
        (self.window, self.definition, self.keys, self.found) = (window, definition, keys, found)
        taken = unreadable
        version = db.contentVersion
        generation = try db.schemaGeneration
        dataVersions = try db.dataVersions()
    }

    /// Returns what was found for a key: nil inside where there was no row, and outside where somebody else has it, or
    /// nobody can have it.
    ///
    /// Many records may refer to one: they share it. Those that refer to a record belong to it alone.
    func take(_ key: [DatabaseValue]) -> RelatedObjects?? {
        guard let number = keys.number(of: key), !taken.contains(number) else { return nil }
        guard definition.steps[0].direction == .down else { return found[Int(number)] }
        taken.insert(number)
        defer { found[Int(number)] = nil }
        return .some(found[Int(number)])
    }

    /// Whether the database is as it was.
    func isGood(in db: Database) throws -> Bool {
        guard version.changes == db.contentVersion.changes, try generation == db.schemaGeneration else {
            return false
        }
        return try version.begins == db.contentVersion.begins || dataVersions == db.dataVersions()
    }
}

extension Database {
    /// Returns the numbers that change when another connection has committed, to any of the databases.
    fileprivate func dataVersions() throws -> [Int64?] {
        try schema.databaseNames().filter { !CaseInsensitiveName.matches($0, "temp") }.map(dataVersion(of:))
    }
}

extension RelationLoading {
    /// Loads the relation for a record, by what was found for others of its window, or will be.
    fileprivate func load(for record: Record, among window: FetchWindow) throws {
        let relations = db.relations
        let path = try path(for: type(of: record))
        // Where each key takes a statement of its own, nothing is won by looking for those of others.
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
        var keys = OwnerKeys(path.steps[0].to, capacity: FetchWindow.rowCount)
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

    /// Finds what the records of a window will ask for. What cannot be read is no error here: it may be another one's.
    private func findPeers(
        _ window: FetchWindow, _ path: RelationPath, _ keys: inout OwnerKeys
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
            // It is not known whose statement it is that has failed, or whose rows those were that are loaded along.
            (found, unreadable) = (Array(repeating: nil, count: keys.count), Set(0..<Int32(keys.count)))
        }
        return try LoadedPeers(window, definition, keys, found, unreadable: unreadable, in: db)
    }

    /// Gives a record what was found for it. It loads alone where another object of its row has that, or it could not be read.
    private func give(
        _ key: [DatabaseValue], to record: Record, from peers: LoadedPeers, _ path: RelationPath
    ) throws {
        if !take(key, for: record, from: peers, path) { try load(for: [record], areFetched: false) }
    }

    /// Gives a record what was found for it. Returns false where there is nothing to give.
    private func take(
        _ key: [DatabaseValue], for record: Record, from peers: LoadedPeers, _ path: RelationPath
    ) -> Bool {
        if key.contains(where: \.isNull) {
            record.relate(nothing)
            return true
        }
        guard let found = peers.take(key) else { return false }
        record.relate(found ?? nothing)
        if leadsBack, let found { found.lead(RelatedOwner(record, path.steps[0])) }
        return true
    }
}

extension RelationDefinition {
    /// What the relation was refined by, to be compared.
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
