/// The treatment of rows whose objects were in a list when it was loaded, and no longer are.
public enum RemovedRecords: Hashable, Sendable {
    /// The rows stay as they are.
    case keep
    /// Their foreign key becomes NULL, so that they refer to nothing any more.
    case nullify
    /// The rows are deleted.
    case delete
}

extension Record {
    /// Saves the record, and the related records that were set or loaded for it.
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
    /// The save runs in one transaction, or in one savepoint. If anything throws, nothing is saved.
    /// Keys, lists, and the values that the records remember are as they were.
    ///
    /// The record that another one refers to is saved first, and its key is filled in. Related
    /// records are written if they have changes. So are those of included relations:
    /// `with: Team.players.including(Player.weapons)`. One statement inserts all new records of a
    /// list if their insertion allows it, as with
    /// ``PersistableRecord/insertAll(_:_:onConflict:)``.
    ///
    /// A record counts as removed if the list held it when it was loaded, or last saved in this
    /// way, and no longer does. Its row stays as it is if it no longer belongs to the relation.
    ///
    /// - Parameters:
    ///   - db: A connection to the database.
    ///   - relation: A relation whose records are saved along with this one. It must not lead
    ///     through other tables: save the relation to these instead.
    ///   - others: Further such relations.
    ///   - removed: The treatment of the rows of records that were removed from a list.
    /// - Throws: the errors of ``MutablePersistableRecord/save(_:onConflict:)`` for any of the
    ///   records. Throws ``RelationError/notLoaded(relation:recordType:)`` if a relation of a row
    ///   was neither loaded nor set. It throws the same if it should remove records from a list
    ///   that was set, but never loaded, since its former records are unknown.
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

/// A save of records along with those that are related to them.
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

    /// Whether a record has no row yet. It then has no related rows besides its objects.
    private func isNew(_ record: Record, _ definitions: [RelationDefinition]) throws -> Bool {
        guard RememberedRow.View(record) == nil else { return false }
        // A record that remembers no row may have one all the same. This matters only if the save
        // removes records from a list.
        let isInDoubt =
            removed != .keep
            && definitions.contains { definition in
                guard definition.steps[0].direction == .down else { return false }
                return record.related(by: definition.identity).map { $0.savedRecords == nil } ?? false
            }
        return try !(isInDoubt && record.exists(db))
    }

    /// Saves the record that the given one refers to, and fills in its key.
    private func saveReferred(
        _ record: Record, _ definition: RelationDefinition, _ isNew: Bool, for parent: Record?
    ) throws {
        let objects = record.related(by: definition.identity)
        let back = objects == nil ? try? record.owner(definition, "") : nil
        guard objects != nil || back != nil else {
            if isNew { return }
            throw definition.notLoaded(record)
        }
        // The way back mostly leads to a record that is already being saved.
        if case .some(.some(let back)) = back, back === parent { return }
        let referred = back ?? objects?.records.first
        let step = try path(definition, record).steps[0]
        func key() throws -> [DatabaseValue]? {
            try referred?.encodedKey(step.to.map(\.name), of: definition, in: db)
        }
        let keyBefore = try key() ?? step.from.map { _ in .null }
        if let referred, referred !== parent { try save(referred, definition.nested, for: record) }
        let isGiven = back == nil && objects?.savedRecords == nil
        // If the record's foreign key was changed since the object was loaded, the key of the
        // object does not replace it.
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

    /// Notes that a list, or the object that the record refers to, is saved.
    private func noteSaved(_ record: Record, _ objects: RelatedObjects, _ definition: RelationDefinition) {
        let note = SavedListNote(record, objects)
        _ = db.transactionLog.note(note, nil, rowID: nil, moment: 0, in: db)
        // A callback may have set other objects.
        let now = record.related(by: definition.identity) ?? objects
        record.attach(now.saved(as: objects.records))
    }

    /// Throws if a record has no key after it was saved, since nothing can refer to it.
    private func check(_ key: [DatabaseValue], of record: Record, _ definition: RelationDefinition) throws {
        guard key.contains(where: \.isNull) else { return }
        throw RelationError.unsound(
            relation: definition.name(),
            reason:
                "the \(type(of: record)) has no key that another row could refer to: its insertion was ignored, "
                + "its key is NULL, or it is saved later, because both refer to each other. Save it first")
    }

    /// Saves the records that refer to the given one.
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
        // A record in a list of rows that are not deleted is restored if its row is deleted.
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
            // A record that remembers no row now has none, because its insertion was ignored.
            if bringsBack, !isNew, RememberedRow.View(related) != nil {
                try related.restoreDeletedRow(in: db)
            }
        }
        try waiting.insert()
        noteSaved(record, objects, definition)
    }

    private func path(_ definition: RelationDefinition, _ record: Record) throws -> RelationPath {
        try db.relations.path(of: definition, for: .type(type(of: record)), on: db)
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

    /// Throws if a foreign key is a part of the row's primary key: without it, the update would
    /// find no row.
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

    /// Throws if a foreign key that changes is a part of the row's primary key. The save would not
    /// find the row: it would insert another one, and the old one would stay.
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

    /// Whether a record must keep the letters of its foreign key, because with other letters the
    /// save would insert another row.
    ///
    /// That is so if the row already refers to the key, and its foreign key is a part of its
    /// primary key. The primary key distinguishes the letters of both.
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

    /// Returns the records whose rows belong to the relation, except if one of the others has the
    /// same row. There must be one record at least.
    private func stillRelated(
        _ records: [Record], besides others: [Record], _ step: RelationPath.Step, _ key: [DatabaseValue],
        _ definition: RelationDefinition
    ) throws -> [Record] {
        let plan = try db.plan(for: type(of: records[0])).object
        _ = try plan.keyCondition()
        let columns = plan.key.map { RelationPath.Target($0, in: plan.table) }
        var keys = KeyIndex(columns, capacity: records.count)
        for record in records { keys.add(try record.encodedKey(plan.key, of: definition, in: db)) }
        var known = keys
        for record in others { known.add(try record.encodedKey(plan.key, of: definition, in: db)) }
        let taken = Set(known.numbers.dropFirst(records.count))
        var owner = KeyIndex(step.to, capacity: 1)
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
    /// Throws if the rows of the relation cannot be saved along with a record.
    fileprivate func checkSaving(_ type: Record.Type) throws {
        try checkOwner(.type(type))
        guard steps.count == 1, target != nil else {
            throw RelationError.unsound(
                relation: name(),
                reason: target == nil
                    ? "\(targetEnd) is not a record class: save its values themselves"
                    : "it leads through other rows, which determine what is related: save the relation to "
                        + "these rows")
        }
    }

    fileprivate func notLoaded(_ record: Record) -> RelationError {
        .notLoaded(relation: name(), recordType: "\(type(of: record))")
    }
}

/// A note that restores a record's last saved list if a save is rolled back.
private final class SavedListNote: Journaled {
    private let record: Record
    private let objects: RelatedObjects

    init(_ record: Record, _ objects: RelatedObjects) { (self.record, self.objects) = (record, objects) }

    var original: AnyObject { record }

    func inPlace(of copy: AnyObject) -> (any Journaled)? { nil }

    func restore(_ note: Journal.Note) {}

    func revert(_ note: Journal.Note, on database: Database) {
        guard let identity = objects.identity, let now = record.related(by: identity) else { return }
        record.attach(now.saved(as: objects.savedRecords))
    }

    func matches(_ database: Database) -> Bool? { nil }

    func forget() {}
}
