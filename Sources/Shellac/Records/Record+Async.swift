extension Record {
    /// Saves the record in an asynchronous access, while the record stays with its owner: a view model, an actor.
    ///
    /// ```swift
    /// @MainActor final class Editor {
    ///     let player: Player
    ///
    ///     func commit() async throws {
    ///         try await player.save(in: dbQueue)
    ///     }
    /// }
    /// ```
    ///
    /// A copy is sent, made by ``copy()``, and saved as ``save(_:)`` does it, in a transaction of its own. So the callbacks
    /// that are given a `Database`, and overriding methods, are called with the copy, where the database is. Then, where the
    /// record is, it takes what came of that: its row id, its stamps, and what the callbacks have changed; and its `did`
    /// callbacks are called. (One that takes its row id in ``didInsert(_:)``, and neither lists it nor reads it in
    /// ``updateFromRow(_:)``, has that called with the copy, too.) What the copy holds beyond its columns is not taken.
    ///
    /// What its owner changes meanwhile is not saved, and not overwritten, and ``hasDatabaseChanges`` tells so. Where the
    /// record is saved several times at once, one save comes after the other. If it is saved by other methods meanwhile,
    /// it knows nothing of its row afterwards, and has changes. A row that it merges meanwhile counts.
    ///
    /// - Throws: what ``save(_:)`` throws, and ``RecordError/notCopied(recordType:reason:)`` when ``copy()`` throws, or gives
    ///   a record that has other values: nothing is saved then.
    nonisolated(nonsending) public final func save(in writer: some DatabaseWriter) async throws {
        let turn = SaveTurn()
        try await turn.begin(ObjectIdentifier(self))
        defer { turn.end(ObjectIdentifier(self)) }
        let sent = try encoded().row()
        rememberedRow.leaveChunk()
        let remembered = snapshot
        let (copy, untold) = try await writer.write(sending: copy(of: sent)) { db, copy in
            let untold = try copy.saveLeavingUntold(in: db)
            return (copy, untold)
        }
        if untold.isEmpty { return }
        let rejection = takeOutcome(of: copy, sent, remembered)
        for success in untold { callBack(success) }
        if let rejection { throw rejection }
    }

    /// Returns a copy of the record, which has encoded some values.
    private func copy(of sent: PackedRow) throws -> sending Self {
        func refusal(_ reason: String) -> RecordError {
            .notCopied(
                recordType: "\(type(of: self))",
                reason:
                    "\(reason). It is saved by a copy: have \(type(of: self)) list its columns in columns(_:), or read all "
                    + "that it encodes in updateFromRow(_:) or init(row:), or override copy()")
        }
        // It is sent, and takes no more than values from the record below.
        nonisolated(unsafe) let copy: Self
        do { copy = try self.copy() } catch { throw refusal("copy() threw \(error)") }
        // An overriding method may have made it without `super`.
        copy.becomeCopy(of: self)
        let copied = try copy.encoded()
        let lost = copied.columns(notIn: sent)
        // A column that is never encoded as the same value is not lost.
        let again = lost.isEmpty ? sent : try encoded().row()
        let names = lost.filter { name in
            guard let column = sent.layout.column(named: name), let other = again.layout.column(named: name)
            else { return true }
            return sent.databaseValue(at: column) == again.databaseValue(at: other)
        }
        if !names.isEmpty {
            throw refusal("its copy encodes other values in \(names.joined(separator: ", "))")
        }
        return copy
    }

    /// Whether the record has merged a row, and was not saved, since it remembered another one.
    private func hasMerged(_ row: PackedRow, since remembered: PackedRow?) -> Bool {
        guard case .merge(_, let saved) = row.memory else { return false }
        return saved === remembered.flatMap { Self.lastSave(of: $0)?.after }
    }

    /// Takes what came of the save of a copy, where it was not changed itself. Returns the error to throw.
    private func takeOutcome(of copy: Record, _ sent: PackedRow, _ remembered: PackedRow?) -> RecordError? {
        if snapshot === remembered {
            snapshot = copy.snapshot.map { $0.copy($0.layout, previous: takePreviousState(moment: 0)) }
        } else if let newer = snapshot, newer.count > 0, hasMerged(newer, since: remembered) {
            // It has taken a row meanwhile, of this save or of another state: the database is as that row says, or a newer row
            // is about to come.
            snapshot = newer.copy(newer.layout, previous: copy.previousSave(moment: 0))
        } else {
            snapshot = .nothing(previous: previousSave(moment: 0))
        }
        do {
            let saved = try copy.encoded()
            let given = saved.layout.names.enumerated().compactMap { column, name in
                let new = saved[column]
                let old = sent.layout.column(named: name).map(sent.databaseValue(at:))
                return old.flatMap { $0 == new ? nil : GivenValue(name: name, old: $0, new: new) }
            }
            if !given.isEmpty { try take(given) }
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "\(coder) threw \(error)")
        }
    }
}

extension PackedColumns {
    /// Returns the names of columns that a row has, and that are not the same here.
    fileprivate func columns(notIn row: PackedRow) -> [String] {
        row.layout.names.enumerated().compactMap { column, name in
            guard let own = layout.column(named: name) else { return name }
            return GivenValue.isEncoded(self[own], as: row.databaseValue(at: column), nil) ? nil : name
        }
    }
}

/// One of the saves of a record that wait for each other: it would be inserted twice, otherwise.
private final class SaveTurn: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>
    private struct Waiting {
        let turn: SaveTurn
        let continuation: Continuation
    }
    /// The records that are being saved, with those that wait. They are alive, and so nobody else has their address.
    private static let records = Lock<[ObjectIdentifier: [Waiting]]>([:])
    /// Whether the task was cancelled.
    private let isCancelled = Lock(false)

    /// Waits for the turn.
    nonisolated(nonsending) func begin(_ record: ObjectIdentifier) async throws {
        let isFree = Self.records.withLock { records in
            if records[record] != nil { return false }
            records[record] = []
            return true
        }
        if isFree { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = Self.records.withLock { records in
                    if isCancelled.withLock({ $0 }) { return .failure(CancellationError()) }
                    if records[record] == nil {
                        records[record] = []
                        return .success(())
                    }
                    records[record]?.append(Waiting(turn: self, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = Self.records.withLock { records in
                isCancelled.withLock { $0 = true }
                guard let place = records[record]?.firstIndex(where: { $0.turn === self }) else {
                    return nil as Continuation?
                }
                return records[record]?.remove(at: place).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Gives the turn to who waits longest.
    func end(_ record: ObjectIdentifier) {
        let next = Self.records.withLock { records in
            if records[record]?.isEmpty == false { return records[record]?.removeFirst().continuation }
            records[record] = nil
            return nil as Continuation?
        }
        next?.resume()
    }
}
