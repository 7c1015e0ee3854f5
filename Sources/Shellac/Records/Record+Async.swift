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
    /// The record is encoded where it is, and its values alone are sent. It is updated, or inserted where there is no
    /// row, in a transaction of its own. Then, where the record is, it takes its row id, and its `did`
    /// callbacks are called. What its owner changes meanwhile is not saved, and ``hasDatabaseChanges`` tells so.
    ///
    /// A class that overrides a method which saves records, or which is called with a `Database` around that, stops the
    /// program here: such a method needs the record where the database is. Use `write(sending:_:)`.
    ///
    /// - Throws: what ``save(_:)`` throws.
    nonisolated(nonsending) public final func save(in writer: some DatabaseWriter) async throws {
        let type = type(of: self)
        guard let overrides = Overrides.whatSaves(type) else {
            Misuse.trap(
                "this Swift runtime does not tell whether \(type) overrides a method that saves: "
                    + "use write(sending:_:) instead of save(in:).")
        }
        if overrides {
            Misuse.trap(
                "\(type) overrides a method that saves, or one of its callbacks, which need the record inside of the "
                    + "access: save it with write(sending:_:), and not with save(in:).")
        }
        let sent = SentColumns(row: try encoded().row())
        let saved = try await writer.write { db in
            try Persistence.with(
                type, on: db, encoding: { sent.encode(to: &$0) }, perform: { try $0.save(type) })
        }
        guard let saved else { return }
        snapshot = saved.row.copy(saved.row.layout, past: takePast(moment: 0))
        var rejection: RecordError?
        if let rowID = saved.newRowID, rowID.road != .didInsert, rowID.road != .none {
            rejection = take(Row(saved.row))
        }
        if let insertion = saved.insertion { didInsert(insertion) } else { didUpdate(saved.success) }
        didSave(saved.success)
        if let rejection { throw rejection }
    }
}

/// Values on their way to the connection.
private struct SentColumns: @unchecked Sendable {  // the row is never changed
    let row: PackedRow

    func encode(to container: inout PersistenceContainer) {
        PackedTag.eachColumn(row.bytes, count: row.count) { column, tag, payload in
            container.store(Packed(tag: tag, payload: payload), in: row.layout.names[column])
        }
    }

    /// A value that stands elsewhere.
    private struct Packed: DatabaseValueConvertible {
        let tag: UInt8
        let payload: UnsafeRawPointer

        var databaseValue: DatabaseValue { PackedTag.databaseValue(tag, payload) }
        static func fromDatabaseValue(_ value: DatabaseValue) -> Self? { nil }

        func store(in sink: borrowing DatabaseValueSink) { sink.store(tag, payload) }
    }
}

/// What came of values that were sent.
private struct SavedColumns: @unchecked Sendable {  // the row is never changed
    let row: PackedRow
    let insertion: InsertionSuccess?
    let newRowID: (value: Int64, road: RecordPlan.RowIDRoad)?

    var success: PersistenceSuccess { PersistenceSuccess(insertion: insertion) }
}

extension Persistence {
    /// Updates or inserts what was encoded. Returns nil when a conflict was resolved by ignoring it.
    fileprivate func save(_ type: Record.Type) throws -> SavedColumns? {
        let policy = type.persistenceConflictPolicy
        if hasKey {
            do {
                let isWritten = try update(shape.allColumns, policy.conflictResolutionForUpdate, nil)
                return isWritten ? SavedColumns(row: columns.row(), insertion: nil, newRowID: nil) : nil
            } catch RecordError.recordNotFound {
                // It is to be inserted.
            }
        }
        guard let insertion = try insert(policy.conflictResolutionForInsert, nil) else { return nil }
        guard let column = shape.rowIDColumn, columns.isNull(column) else {
            return SavedColumns(row: columns.row(), insertion: insertion, newRowID: nil)
        }
        return SavedColumns(
            row: columns.row(with: insertion.rowID, in: column), insertion: insertion,
            newRowID: (insertion.rowID, plan.rowIDRoad))
    }
}
