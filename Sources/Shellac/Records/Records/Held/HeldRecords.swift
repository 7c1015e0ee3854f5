// ## The life of a save of records that stay with their owner
//
// 1. It waits for its turn: nothing else is on its way for the same records. See ``RecordTurn``.
// 2. The records are encoded, and copied: ``HeldRecords/copies()``.
// 3. The copies are sent to an access, and saved there, as any record is, with all callbacks that are given a `Database`.
// 4. Back where the records are, they take what came of it, but not in the place of what their owner changed meanwhile; and they are
//    called back.

/// What is done to records that stay with their owner.
enum HeldVerb: Sendable {
    case save, insert, updateChanges, delete, destroy, restore, reload
    /// Nil for all columns.
    case update(columns: Set<String>?)
    case updateIfUnchanged(UnchangedColumns)
    case updateChangesRetrying(Int)
}

/// What came of it, for the copy of one record.
struct HeldOutcome {
    fileprivate let copy: Record
    /// Whether anything was written, or deleted.
    fileprivate let isDone: Bool
    /// What the record is still to be told.
    fileprivate let untold: [UntoldSuccess]
}

/// Records that stay with their owner, while something is done to copies of them.
struct HeldRecords {
    private struct Held {
        let record: Record
        /// What it had encoded at the beginning: what is different later was changed by its owner.
        let sent: PackedRow
        /// What it remembered when its copy was made.
        var remembered: PackedRow?
    }
    private var held: [Held]
    private let verb: HeldVerb

    /// - Throws: what encoding a record throws.
    init(_ records: [Record], for verb: HeldVerb) throws {
        self.verb = verb
        held = try records.map { record in
            let sent = try record.encoded().row()
            return Held(record: record, sent: sent)
        }
    }

    /// Returns copies of the records.
    ///
    /// - Throws: ``RecordError/notCopied(recordType:reason:)`` where a copy has not all values.
    mutating func copies() throws -> sending [Record] {
        // They share nothing with the records.
        nonisolated(unsafe) var copies: [Record] = []
        for index in held.indices {
            let record = held[index].record
            record.rememberedRow.leaveChunk()
            held[index].remembered = record.snapshot
            let copy = try record.copy(of: record.encoded().row())
            if let attachment = record.attachment { copy.attachment = attachment.ofSavedCopy }
            copies.append(copy)
        }
        return copies
    }

    /// Whether the records remember what they remembered when their copies were made.
    var isUpToDate: Bool { held.allSatisfy { $0.record.snapshot === $0.remembered } }

    /// Does what is to be done, to the copies.
    static func perform(_ verb: HeldVerb, on copies: sending [Record], in db: Database) throws
        -> sending [HeldOutcome]
    {
        nonisolated(unsafe) let outcomes = try copies.map { copy in
            var isDone = true
            let untold = try copy.leavingUntold(in: db) {
                switch verb {
                case .save: try copy.save(db)
                case .insert: try copy.insert(db)
                case .update(nil): try copy.update(db)
                case .update(let columns?): try copy.update(db, columns: columns)
                case .updateIfUnchanged(let columns): isDone = try copy.update(db, ifUnchanged: columns)
                case .updateChangesRetrying(let times): isDone = try copy.updateChanges(db, retrying: times)
                case .updateChanges: isDone = try copy.updateChanges(db)
                case .delete: isDone = try copy.delete(db)
                case .destroy: isDone = try copy.destroy(db)
                case .restore: isDone = try copy.restore(db)
                case .reload: try copy.reload(db)
                }
            }
            return HeldOutcome(copy: copy, isDone: isDone, untold: untold)
        }
        return outcomes
    }

    /// Has the records take what came of it. Returns whether anything was written, or deleted, for each of them.
    ///
    /// - Throws: the first error of a record that does not take it. The others have taken it.
    func take(_ outcomes: [HeldOutcome]) throws -> [Bool] {
        var rejection: RecordError?
        for (held, outcome) in zip(held, outcomes) {
            do throws(RecordError) { try take(outcome, held) } catch { rejection = rejection ?? error }
        }
        for (held, outcome) in zip(held, outcomes) {
            for success in outcome.untold { held.record.callBack(success) }
        }
        if let rejection { throw rejection }
        return outcomes.map(\.isDone)
    }

    private func take(_ outcome: HeldOutcome, _ held: Held) throws(RecordError) {
        let record = held.record
        switch verb {
        case .delete where type(of: record).databaseSoftDelete == nil: record.takeDeletion()
        case .destroy: record.takeDeletion()
        case .reload: try record.takeReloaded(outcome.copy, held.sent)
        // The row that it was merged with may have left nothing to write.
        case .updateChangesRetrying, .delete, .restore:
            try record.takeSaved(outcome.copy, held.sent, held.remembered)
        // A conflict was resolved by ignoring the record, or nothing was to be written.
        case _ where outcome.untold.isEmpty: break
        default: try record.takeSaved(outcome.copy, held.sent, held.remembered)
        }
    }
}
