// The way back to a record, for records that are saved along with it.
//
// A record that is saved along with the one that it refers to leads back to it, as if it had been
// loaded for it. The way back replaces loaded objects of another row. All of it follows the
// transaction, as keys do.

extension GraphSave {
    /// The way back to a record, for the records that are saved along with it.
    struct WaysBack {
        private let back: RelatedOwner
        private let step: RelationPath.Step
        private let key: [DatabaseValue]
        private let definition: RelationDefinition
        private let db: Database
        private let count: Int
        private var note: WayBackNote?

        /// - Parameters:
        ///   - record: The record that the others lead back to, or nil if they no longer refer to
        ///     one.
        ///   - type: The record's class.
        ///   - step: The step from the record to the others.
        ///   - key: The key by which the others refer to the record.
        ///   - count: The most records that may get the way back.
        init(
            to record: Record?, of type: Record.Type, _ step: RelationPath.Step, _ key: [DatabaseValue],
            _ definition: RelationDefinition, count: Int, in db: Database
        ) {
            back = RelatedOwner(record, of: type, step)
            (self.step, self.key, self.definition) = (step, key, definition)
            (self.count, self.db) = (count, db)
        }

        /// Gives a record the way back.
        mutating func give(to record: Record) {
            if record.related == nil {
                record.related = back
                return noted.add(record, [])
            }
            guard let replaced = record.replaced(by: back, isTrue: isReferredTo) else { return }
            record.drop(replaced)
            record.attach(back)
            noted.add(record, replaced)
        }

        /// The note by which a rollback removes the ways back.
        private var noted: WayBackNote {
            mutating get {
                if let note { return note }
                let note = WayBackNote(back, count)
                _ = db.transactionLog.note(note, nil, rowID: nil, moment: 0, in: db)
                self.note = note
                return note
            }
        }

        /// Returns whether an object is of the referenced row, even if another object of that row
        /// is saved.
        private func isReferredTo(_ object: Record?) -> Bool {
            guard let object, !back.isNowhere else { return object == nil && back.isNowhere }
            let other = try? object.encodedKey(back.ownerColumns, of: definition, in: db)
            return other.map { step.areEqual($0, key) } ?? false
        }
    }
}

/// The note of a way back. If a save is rolled back, it removes the way back and restores the
/// objects replaced by it.
private final class WayBackNote: Journaled {
    private let back: RelatedOwner
    @exclusivity(unchecked) private var given: [(record: Record, replaced: [RelatedObjects])] = []

    init(_ back: RelatedOwner, _ count: Int) {
        self.back = back
        given.reserveCapacity(count)
    }

    func add(_ record: Record, _ replaced: [RelatedObjects]) { given.append((record, replaced)) }

    var original: AnyObject { self }

    func inPlace(of copy: AnyObject) -> (any Journaled)? { nil }

    func restore(_ note: Journal.Note) {}

    func revert(_ note: Journal.Note, on database: Database) {
        for (record, replaced) in given.reversed() { record.takeAway(back, replaced) }
    }

    func matches(_ database: Database) -> Bool? { nil }

    func forget() {}
}

extension Record {
    /// Returns the objects that a way back must replace. These are other ways by the same key, and
    /// objects loaded by that key that are no longer right. Nil if the record already has the way
    /// back, and nothing to replace.
    fileprivate final func replaced(
        by back: RelatedOwner, isTrue: (Record?) -> Bool
    ) -> [RelatedObjects]? {
        var replaced: [RelatedObjects] = []
        var isThere = false
        var objects = related
        while let candidate = objects {
            if let identity = candidate.identity {
                if back.isReached(by: identity), !isTrue(candidate.records.first) {
                    replaced.append(candidate)
                }
            } else if candidate.isReplaced(by: back) {
                if back.isSame(as: candidate) { isThere = true } else { replaced.append(candidate) }
            }
            objects = candidate.next
        }
        return isThere && replaced.isEmpty ? nil : replaced
    }

    /// Removes some of the loaded objects.
    fileprivate final func drop(_ links: [RelatedObjects]) {
        if !links.isEmpty { related = related?.without(links) }
    }

    /// Removes a way back, and restores the objects replaced by it, unless others were loaded
    /// since.
    fileprivate final func takeAway(_ back: RelatedOwner, _ replaced: [RelatedObjects]) {
        var isThere = false
        var known: [RelatedObjects] = []
        var objects = related
        while let candidate = objects {
            if back.isSame(as: candidate) { isThere = true } else { known.append(candidate) }
            objects = candidate.next
        }
        if isThere { related = related?.without { back.isSame(as: $0) } }
        for link in replaced.reversed() where !known.contains(where: { $0.isReplaced(by: link) }) {
            attach(link)
        }
    }
}

extension RelatedObjects {
    /// Returns the chain without some of its links.
    fileprivate func without(_ links: [RelatedObjects]) -> RelatedObjects? {
        without { link in links.contains { $0 === link } }
    }

    fileprivate func without(_ isDropped: (RelatedObjects) -> Bool) -> RelatedObjects? {
        let rest = next?.without(isDropped)
        if isDropped(self) { return rest }
        return rest === next ? self : copy(before: rest)
    }
}
