/// What is done with rows whose objects were in a list when it was loaded, and are there no more.
public enum RemovedRecords: Hashable, Sendable {
    /// They are left alone.
    case keep
    /// They refer to nothing any more: their foreign key becomes NULL.
    case nullify
    /// They are deleted.
    case delete
}

extension Record {
    /// Saves the record, and the related records that it was given or that were loaded for it.
    ///
    /// ```swift
    /// let team = Team()
    /// team.set(Team.players, to: [arthur, barbara])
    /// try team.save(db, with: Team.players)              // team.id, then arthur.teamID and barbara.teamID, are filled in
    ///
    /// team.set(Team.players, to: [barbara])
    /// try team.save(db, with: Team.players, removed: .delete)    // arthur's row is deleted
    /// ```
    ///
    /// The record that is referred to is saved first, and its key is filled in. Related records are written if they have
    /// changes; so are those of relations that are included: `with: Team.players.including(Player.weapons)`. One statement
    /// inserts all new records of a list, where it can do for them, as by ``PersistableRecord/insertAll(_:_:onConflict:)``.
    /// All of it happens in one transaction, or in one savepoint. Where anything throws, nothing is saved, and keys, lists, and what
    /// the records remember are as they were.
    ///
    /// Removed is what the list held when it was loaded, or last saved in this way, and holds no more. Rows that do not
    /// belong to the relation by now are left alone.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - relation: What is saved along with the record. What leads through other tables is not: save what leads there.
    ///   - others: More of it.
    ///   - removed: What is done with the rows of records that were removed from a list.
    /// - Throws: what ``MutablePersistableRecord/save(_:onConflict:)`` throws for any of the records, and
    ///   ``RelationError/notLoaded(relation:recordType:)`` where a relation of a row was neither loaded nor given. So it does
    ///   where records are to be removed from a list that was given, but never loaded: nobody knows what it held.
    public final func save(
        _ db: Database, with relation: any Relation, _ others: any Relation...,
        removed: RemovedRecords = .keep
    ) throws {
        db.checkAccess()
        try db.inSavepoint {
            try GraphSave(db: db, removed: removed).save(self, [relation] + others, for: nil)
            return .commit
        }
    }
}

/// Saves records along with those that are related to them.
struct GraphSave {
    let db: Database
    let removed: RemovedRecords

    /// Saves a record.
    ///
    /// - Parameter parent: The record that this one was reached from, or nil for the first one.
    func save(_ record: Record, _ relations: [any Relation], for parent: Record?) throws {
        let definitions = relations.map(\.definition)
        for definition in definitions { try definition.checkSaving(type(of: record)) }
        let isNew = try isNew(record, definitions)
        for definition in definitions where definition.steps[0].direction == .up {
            try saveReferred(record, definition, isNew, for: parent)
        }
        if parent == nil || record.hasDatabaseChanges { try record.save(db) }
        for definition in definitions where definition.steps[0].direction == .down {
            try saveReferring(record, definition, isNew)
        }
    }

    /// Whether a record has no row yet, and so has no related rows that it does not know of.
    private func isNew(_ record: Record, _ definitions: [RelationDefinition]) throws -> Bool {
        guard RememberedRow.View(record) == nil else { return false }
        // A record that remembers nothing may mean a row all the same. It matters where something is to be removed.
        let isInDoubt =
            removed != .keep
            && definitions.contains { definition in
                guard definition.steps[0].direction == .down else { return false }
                return record.related(by: definition.identity).map { $0.savedRecords == nil } ?? false
            }
        return try !(isInDoubt && record.exists(db))
    }

    /// Saves the record that one refers to, and fills its key in.
    private func saveReferred(
        _ record: Record, _ definition: RelationDefinition, _ isNew: Bool, for parent: Record?
    ) throws {
        let objects = record.related(by: definition.identity)
        let back = objects == nil ? try? record.owner(definition, "") : nil
        guard objects != nil || back != nil else {
            if isNew { return }
            throw definition.notLoaded(record)
        }
        // The way back leads to a record that is being saved, mostly.
        if case .some(.some(let back)) = back, back === parent { return }
        let referred = back ?? objects?.records.first
        let step = try path(definition, record).steps[0]
        func key() throws -> [DatabaseValue]? {
            try referred?.encodedKey(step.to.map(\.name), of: definition, in: db)
        }
        let keyBefore = try key() ?? step.from.map { _ in .null }
        if let referred, referred !== parent { try save(referred, definition.nested, for: record) }
        let isGiven = back == nil && objects?.savedRecords == nil
        // What was loaded is not put in the place of another key that the record was given since.
        if try !isGiven && !step.areEqual(record.encodedKey(step.from, of: definition, in: db), keyBefore) {
            return
        }
        let key = try key()
        if let referred, let key { try check(key, of: referred, definition) }
        if try key.map({ try !keepsLetters(record, step.from, step, $0, definition) }) ?? true {
            try record.fill(KeyFilling(step.from, key), of: definition, in: db)
        }
        if isGiven, let objects { noteSaved(record, objects, definition) }
    }

    /// Notes that a list is saved, or the one that is referred to.
    private func noteSaved(_ record: Record, _ objects: RelatedObjects, _ definition: RelationDefinition) {
        let note = SavedListNote(record, objects)
        _ = db.transactionLog.note(note, nil, rowID: nil, moment: 0, in: db)
        // A callback may have given the record others.
        let now = record.related(by: definition.identity) ?? objects
        record.relate(now.saved(as: objects.records))
    }

    /// Throws where a record has no key after it was saved: nothing can refer to it.
    private func check(_ key: [DatabaseValue], of record: Record, _ definition: RelationDefinition) throws {
        guard key.contains(where: \.isNull) else { return }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "the \(type(of: record)) has no key that another row could refer to: its insertion was ignored, "
                + "its key is NULL, or it is saved later, because both refer to each other. Save it first")
    }

    /// Saves the records that refer to one.
    private func saveReferring(_ record: Record, _ definition: RelationDefinition, _ isNew: Bool) throws {
        guard let objects = record.related(by: definition.identity) else {
            if isNew { return }
            throw definition.notLoaded(record)
        }
        if removed != .keep, objects.savedRecords == nil, !isNew { throw definition.notLoaded(record) }
        let step = try path(definition, record).steps[0]
        let key = try record.encodedKey(step.from, of: definition, in: db)
        try remove(objects, of: record, step, key, definition)
        let columns = step.to.map(\.name)
        if !objects.records.isEmpty { try check(key, of: record, definition) }
        var back = WaysBack(
            to: record, of: type(of: record), step, key, definition, count: objects.records.count, in: db)
        let filling = KeyFilling(columns, key)
        let nested = definition.nested
        // What is put into a list of rows that are not deleted is not deleted any more.
        let bringsBack = !definition.steps[0].query.own.leavesOut(.deleted)
        var waiting = WaitingInsertions(columns, count: objects.records.count, in: db)
        for related in objects.records {
            try checkMoving(related, step, to: key, definition)
            let isNew =
                try !keepsLetters(related, columns, step, key, definition)
                && related.fill(filling, of: definition, in: db)
            back.give(to: related)
            if isNew, nested.isEmpty, try waiting.take(related) { continue }
            try waiting.insert()
            try save(related, nested, for: record)
            // One that remembers nothing now has no row: its insertion was ignored.
            if bringsBack, !isNew, related.mayBeDeleted, RememberedRow.View(related) != nil {
                try related.restore(db)
            }
        }
        try waiting.insert()
        noteSaved(record, objects, definition)
    }

    private func path(_ definition: RelationDefinition, _ record: Record) throws -> RelationPath {
        try db.relations.path(of: definition, for: type(of: record), on: db)
    }

    // MARK: - Removed records

    /// Removes the rows whose records are no longer in a list.
    private func remove(
        _ objects: RelatedObjects, of owner: Record, _ step: RelationPath.Step, _ key: [DatabaseValue],
        _ definition: RelationDefinition
    ) throws {
        guard removed != .keep, let saved = objects.savedRecords else { return }
        let kept = Set(objects.records.map(ObjectIdentifier.init))
        let gone = saved.filter { !kept.contains(ObjectIdentifier($0)) }
        if gone.isEmpty { return }
        var nowhere = WaysBack(
            to: nil, of: type(of: owner), step, key, definition, count: gone.count, in: db)
        let columns = step.to.map(\.name)
        for record in try stillRelated(gone, besides: objects.records, step, key, definition) {
            if removed == .delete {
                try record.delete(db)
            } else {
                try checkNullifying(record, columns, definition)
                try record.fill(KeyFilling(columns, nil), of: definition, in: db)
                nowhere.give(to: record)
                try record.update(db, columns: Set(columns))
            }
        }
    }

    /// Throws where a foreign key is a part of the row's own key: without it, no row would be found.
    private func checkNullifying(
        _ record: Record, _ columns: [String], _ definition: RelationDefinition
    ) throws {
        guard let name = try db.plan(for: type(of: record)).object.keyColumn(among: columns) else { return }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "\(name) is a part of the primary key of \(type(of: record)), and cannot become NULL: write "
                + "removed: .delete, or .keep")
    }

    /// Throws where a row would be found no more, because its foreign key is a part of its own: another one would be
    /// inserted, and that one stay.
    private func checkMoving(
        _ record: Record, _ step: RelationPath.Step, to key: [DatabaseValue],
        _ definition: RelationDefinition
    ) throws {
        let columns = step.to.map(\.name)
        guard RememberedRow.View(record) != nil,
            let name = try db.plan(for: type(of: record)).object.keyColumn(among: columns),
            try !step.areEqual(record.encodedKey(columns, of: definition, in: db), key)
        else { return }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "\(name) is a part of the primary key of \(type(of: record)), whose row belongs to another record, and "
                + "cannot be moved: delete it, and save a copy of it")
    }

    /// Whether a row already refers to a key, and its foreign key is a part of its own primary key, which
    /// tells these letters from those of the key. With other letters, the save would insert another row.
    private func keepsLetters(
        _ record: Record, _ columns: [String], _ step: RelationPath.Step, _ key: [DatabaseValue],
        _ definition: RelationDefinition
    ) throws -> Bool {
        guard RememberedRow.View(record) != nil else { return false }
        let plan = try db.plan(for: type(of: record)).object
        guard plan.keyColumn(among: columns) != nil else { return false }
        let own = try record.encodedKey(columns, of: definition, in: db)
        guard step.areEqual(own, key) else { return false }
        return !zip(columns, zip(own, key)).allSatisfy { name, values in
            plan.table.comparison(ofColumn: name).isSameKey(values.1, as: values.0)
        }
    }

    /// Returns those of some records whose rows belong to the relation, and are not those of others. There is one at least.
    private func stillRelated(
        _ records: [Record], besides others: [Record], _ step: RelationPath.Step, _ key: [DatabaseValue],
        _ definition: RelationDefinition
    ) throws -> [Record] {
        let plan = try db.plan(for: type(of: records[0])).object
        _ = try plan.keyCondition()
        let columns = plan.key.map { RelationPath.Target($0, in: plan.table) }
        var keys = OwnerKeys(columns, capacity: records.count)
        for record in records { keys.add(try record.encodedKey(plan.key, of: definition, in: db)) }
        var known = keys
        for record in others { known.add(try record.encodedKey(plan.key, of: definition, in: db)) }
        let taken = Set(known.numbers.dropFirst(records.count))
        var owner = OwnerKeys(step.to, capacity: 1)
        owner.add(key)
        var related: Set<Int32> = []
        for list in keys.lists() {
            for ownerList in owner.lists() {
                var query = definition.query
                query.ordering = []
                query.supplement = query.included.joinsAlone
                query.selection = plan.key.map {
                    SQLSelection(.expression(SQLExpression(.column($0)), name: nil))
                }
                query.filter(
                    ownerList.condition(step.to.map { $0.compared(SQLExpression(.column($0.name))) }))
                query.filter(list.condition(plan.key.map { SQLExpression(.column($0)) }))
                let rows = try QueryInterfaceRequest<Row>(query).fetchCursor(db)
                while let row = try rows.next() {
                    if let number = list.only ?? keys.number(of: row.live, at: 0) { related.insert(number) }
                }
            }
        }
        return zip(records, keys.numbers).filter { related.contains($1) && !taken.contains($1) }.map(\.0)
    }
}

extension RelationDefinition {
    /// Throws unless the rows of the relation can be saved along with a record.
    fileprivate func checkSaving(_ type: Record.Type) throws {
        try checkOwner(type)
        guard steps.count == 1, target != nil else {
            throw RelationError.unsound(
                relation: name(),
                reason: target == nil
                    ? "\(targetType) is no class of records: save its values themselves"
                    : "it leads through other rows, which say what is related: save the relation to these")
        }
    }

    fileprivate func notLoaded(_ record: Record) -> RelationError {
        .notLoaded(relation: name(), recordType: "\(type(of: record))")
    }
}

/// Gives a record back what a list held when it was last saved, where a save is rolled back.
private final class SavedListNote: Journaled {
    private let record: Record
    private let objects: RelatedObjects

    init(_ record: Record, _ objects: RelatedObjects) { (self.record, self.objects) = (record, objects) }

    var original: AnyObject { record }

    func inPlace(of copy: AnyObject) -> (any Journaled)? { nil }

    func giveBack(_ note: Journal.Note) {}

    func takeAwayValues(_ note: Journal.Note, on database: Database) {
        guard let identity = objects.identity, let now = record.related(by: identity) else { return }
        record.relate(now.saved(as: objects.savedRecords))
    }

    func isTrue(on database: Database) -> Bool? { nil }

    func forget() {}
}
