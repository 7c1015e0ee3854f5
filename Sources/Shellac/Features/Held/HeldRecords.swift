// ## The life of a save of records that stay with their owner
//
// 1. The save waits for its turn, until no other operation on the same records is under way. See
//   ``RecordTurn``.
// 2. The records are encoded, and copied: ``HeldRecords/copies()``.
// 3. The copies are sent to an access and saved there, like any record. All callbacks that get a
//   `Database` run.
// 4. Back with their owner, the records take the outcome, except for values that the owner changed
//   meanwhile. Then their callbacks run.

/// An operation on records that stay with their owner.
enum HeldVerb: Sendable {
    case save, insert, updateChanges, delete, destroy, restore, reload
    /// The columns are nil for all of them.
    case update(columns: Set<String>?)
    /// An operation of an upper layer, which returns whether a row was written. It may have changed
    /// the record even if no row was.
    case other(mayChangeRecord: Bool, @Sendable (Record, Database) throws -> Bool)
}

/// The outcome of an operation for the copy of one record.
struct HeldOutcome {
    fileprivate let copy: Record
    /// Whether a row was written or deleted.
    fileprivate let isDone: Bool
    /// The successes that the record's callbacks have not received yet.
    fileprivate let pending: [PendingCallback]
}

/// Records that stay with their owner during an operation on copies of them.
struct HeldRecords {
    private struct Held {
        let record: Record
        /// The values that it had encoded at the beginning. Values that differ later were changed
        /// by its owner.
        let sent: PackedRow
        /// The row that it remembered when its copy was made.
        var remembered: PackedRow?
    }
    private var held: [Held]
    private let verb: HeldVerb

    /// - Throws: any error that encoding a record throws.
    init(_ records: [Record], for verb: HeldVerb) throws {
        self.verb = verb
        held = try records.map { record in
            let sent = try record.encoded().row()
            return Held(record: record, sent: sent)
        }
    }

    /// Returns copies of the records.
    ///
    /// - Throws: ``RecordError/notCopied(recordType:reason:)`` if a copy lacks values.
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

    /// Whether the records still remember the rows that they remembered when their copies were
    /// made.
    var isUpToDate: Bool { held.allSatisfy { $0.record.snapshot === $0.remembered } }

    /// Performs the operation on the copies.
    static func perform(_ verb: HeldVerb, on copies: sending [Record], in db: Database) throws
        -> sending [HeldOutcome]
    {
        nonisolated(unsafe) let outcomes = try copies.map { copy in
            var isDone = true
            let pending = try copy.deferringCallbacks(in: db) {
                switch verb {
                case .save: try copy.save(db)
                case .insert: try copy.insert(db)
                case .update(nil): try copy.update(db)
                case .update(let columns?): try copy.update(db, columns: columns)
                case .other(_, let operation): isDone = try operation(copy, db)
                case .updateChanges: isDone = try copy.updateChanges(db)
                case .delete: isDone = try copy.delete(db)
                case .destroy: isDone = try copy.persist(PersistenceOperation(.destroy), in: db)
                case .restore: isDone = try copy.restoreRow(in: db)
                case .reload: try copy.reload(db)
                }
            }
            return HeldOutcome(copy: copy, isDone: isDone, pending: pending)
        }
        return outcomes
    }

    /// Applies the outcomes to the records. Returns for each record whether a row was written or
    /// deleted.
    ///
    /// - Throws: the first error of a record that cannot take its outcome. The others have taken
    ///   theirs.
    func take(_ outcomes: [HeldOutcome]) throws -> [Bool] {
        var rejection: RecordError?
        for (held, outcome) in zip(held, outcomes) {
            do throws(RecordError) { try take(outcome, held) } catch { rejection = rejection ?? error }
        }
        for (held, outcome) in zip(held, outcomes) {
            for success in outcome.pending { held.record.runDidCallbacks(success) }
        }
        if let rejection { throw rejection }
        return outcomes.map(\.isDone)
    }

    private func take(_ outcome: HeldOutcome, _ held: Held) throws(RecordError) {
        let record = held.record
        switch verb {
        case .delete where type(of: record).deletionColumn == nil: record.takeDeletion()
        case .destroy: record.takeDeletion()
        case .reload: try record.takeReloaded(outcome.copy, held.sent)
        case .other(mayChangeRecord: true, _), .delete, .restore:
            try record.takeSaved(outcome.copy, held.sent, held.remembered)
        // A conflict was resolved by ignoring the record, or there was nothing to write.
        case _ where outcome.pending.isEmpty: break
        default: try record.takeSaved(outcome.copy, held.sent, held.remembered)
        }
    }
}
