// Stores the outcome of a save in the record.
//
// It stores the remembered row, the row id, and the values that the save has filled in. Every save
// of a record ends here, alone or among others.

extension Record {
    // MARK: - Insertions

    /// Remembers the row that was inserted or upserted, and takes the values that the database
    /// generated.
    @inline(__always)
    final func takeInsertion(
        _ insertion: InsertionSuccess, _ save: inout Save, _ options: SaveOptions?,
        from writer: RecordWriter, in db: Database
    ) -> SaveOutcome {
        let givesRowID = writer.givesRowID
        let pending = takeInsertedRow(insertion, isFilled: save.filled != nil, from: writer, in: db)
        if let filled = save.filled { writer.give(filled, to: self) }
        if save.verb == .upsert { takeUpsertedRow(save, options?.upsert, from: writer) }
        return SaveOutcome(
            success: PersistenceSuccess(insertion: insertion), givesRowID: givesRowID, pending: pending)
    }

    /// Remembers a row that was inserted some time ago. Values that were set in the record
    /// meanwhile are kept, and differ from its row.
    final func takeLateInsertion(
        _ insertion: InsertionSuccess, _ filled: FilledColumns?, from writer: RecordWriter, in db: Database
    ) -> PendingAdoption? {
        // Usually, only a callback of the user can have changed it.
        let isChanged =
            writer.withPlan { $0.traits.overridesInsertionCallbacks }
            && (try? writer.columns.isStillEncoded(by: { try _encodeColumns(to: &$0) })) != true
        let pending = takeInsertedRow(
            insertion, isLate: isChanged, isFilled: filled != nil, from: writer, in: db)
        if let filled { writer.give(filled, to: self) }
        return pending
    }

    @inline(__always)
    private func takeInsertedRow(
        _ insertion: InsertionSuccess, isLate: Bool = false, isFilled: Bool, from writer: RecordWriter,
        in db: Database
    ) -> PendingAdoption? {
        let columns = writer.columns
        let rowIDColumn = writer.withStatements { $0.rowIDColumn }
        guard let column = rowIDColumn, columns.isNull(column) else {
            let moment = note(in: db)
            if !remember(since: moment, isFilled, in: db, inserted: { columns.row(among: &$0) }) {
                snapshot = columns.row(previous: takePreviousState(moment: moment))
            }
            return nil
        }
        let rowID = insertion.rowID
        let moment = note(Journal.GivenRowID(value: rowID, column: column), in: db)
        let adoption = writer.withPlan { $0.learned.rowIDAdoption }
        if adoption == .columns || adoption == .didInsert || adoption == .none,
            remember(
                since: moment, isFilled, in: db,
                inserted: { columns.row(with: rowID, in: column, among: &$0) })
        {
            return adoption == .columns ? give(rowID, in: column, writer, isLate: isLate) : nil
        }
        let row = columns.row(with: rowID, in: column, previous: takePreviousState(moment: moment))
        snapshot = row
        switch adoption {
        case .didInsert, .none: return nil
        case .columns: return give(rowID, in: column, writer, isLate: isLate)
        case .updateFromRow:
            if isLate { return take(rowID, writer.plan).map(PendingAdoption.rejection) }
            return writer.withStatements { $0.withRow(on: row, take) }.map(PendingAdoption.rejection)
        case .unknown, .doubtful:
            let plan = writer.plan
            do {
                if plan.traits.listsColumns, try isGiven(rowID, in: column, columns, isLate: isLate) {
                    plan.learned.rowIDAdoption = .columns
                    return nil
                }
            } catch {
                return refusal(error)
            }
            return learnWhetherTaken(rowID, plan, isLate ? take(rowID, plan) : take(Row(row)))
        }
    }

    /// Remembers an inserted row, in a chunk with the rows inserted since the same moment. Returns
    /// false if the row needs memory of its own.
    @inline(__always)
    private func remember(
        since moment: UInt64, _ isFilled: Bool, in db: Database,
        inserted row: (inout SnapshotPool) -> ChunkedRow?
    ) -> Bool {
        // A row that would leave the chunk immediately, or has a previous state, is better off
        // alone.
        guard moment != 0, rememberedRow.isNothing, !isFilled else { return false }
        return db.withRecords { records in
            records.insertedRows.begin(moment: moment)
            guard let row = row(&records.insertedRows) else { return false }
            rememberedRow.remember(row)
            return true
        }
    }

    // MARK: - Updates and deletions

    /// Remembers the columns that were updated.
    final func takeUpdate(_ save: borrowing Save, from writer: RecordWriter, in db: Database) {
        let columns = writer.columns
        // A column that no update writes is not known to hold the record's value.
        if save.writesAllColumns, writer.withStatements({ $0.written.leftAlone.isEmpty }) {
            var older: PackedRow?
            let previous = takePreviousState(moment: note(in: db), older: &older)
            snapshot = columns.row(previous: previous, replacing: &older)
        } else {
            rememberSome(of: writer, save.columns, in: db)
        }
        if let filled = save.filled { writer.give(filled, to: self) }
    }

    /// Remembers some of the columns, with the remembered values of the others. If the record
    /// identifies another row now, it remembers nothing of the others. The primary key has found
    /// the row, so it is known, unless the row may hold other letters.
    @inline(never)
    private func rememberSome(of writer: RecordWriter, _ mask: ColumnMask, in db: Database) {
        let columns = writer.columns
        let old = snapshot
        let hasOtherKey = old.map { writer.hasOtherKey(than: $0) } ?? true
        var written = mask
        if hasOtherKey { written.formUnion(writer.exactKey) }
        var unread = old?.layout.unreadColumns?.without(written, of: columns)
        // The record's other values are still to be written, because the program set them. This
        // does not hold for columns that a rule has left out.
        if hasOtherKey, let old {
            for rule in writer.plan.rules {
                let leftOut = rule.columnsLeftOut(of: written, writer, knowing: old)
                unread = UnreadColumns.joining(leftOut, of: columns, with: unread)
            }
        }
        snapshot = columns.row(
            saving: written, in: hasOtherKey ? nil : old, unread: unread, previous: takePreviousState(in: db))
    }

    /// Forgets the row that was deleted.
    final func forgetDeletedRow(in db: Database) {
        snapshot = .nothing(previous: previousSave(moment: note(in: db)))
    }

    // MARK: - A conflicting row

    /// Remembers the new values of a row that conflicted in an upsert. The record takes the row's
    /// key, because the row is found by it from now on. If the upsert specified assignments, the
    /// record also takes their outcome: otherwise its next save would undo it.
    private func takeUpsertedRow(
        _ save: borrowing Save, _ clause: UpsertClause?, from writer: RecordWriter
    ) {
        let db = writer.database
        guard let upserted = save.upserted else { return }
        let untouched = save.untouched
        let (columns, statements) = (writer.columns, writer.statements)
        let names = columns.layout.names
        snapshot = snapshot?.with(upserted.map { (names[$0.column], $0.value) })
        // Of the columns that the record did not set, it remembers only those that were filled in,
        // or whose stored value it has itself. The stored bytes behind a repaired text are unknown.
        if !untouched.isEmpty {
            let filled = save.filled?.columns.filter { $0.stored != nil }.map(\.column) ?? []
            let known = upserted.filter { column, value in
                filled.contains(column)
                    || !columns.column(column).mayBeRepaired
                        && ColumnAffinity.isStored(
                            columns[column], as: value, in: columns.layout.affinity(ofColumn: column))
            }
            let unread = untouched.subtracting(ColumnMask(known.map(\.column)))
            if !unread.isEmpty { snapshot = snapshot?.forgetting(unread, of: columns) }
        }
        let given = upserted.compactMap { column, value -> GivenValue? in
            let isKey = statements.key.columns.contains(column)
            guard isKey ? !columns.isNull(column) : clause != nil && !untouched.contains(column)
            else { return nil }
            let affinity = columns.layout.affinity(ofColumn: column)
            if ColumnAffinity.isStored(columns[column], as: value, in: affinity) { return nil }
            return GivenValue(
                name: names[column], old: columns[column], new: value, affinity: isKey ? nil : affinity)
        }
        if given.isEmpty { return }
        noteGiven(GivenValues(given), in: db)
        do {
            try take(given)
            // Changes that the owner has made meanwhile are kept.
            let refused = try given.filter { value in
                try !encodes(value.new, in: value.name, value.affinity)
                    && encodes(value.old, in: value.name, value.affinity)
            }
            if !refused.isEmpty {
                warnOfUpsert(refused, "list it in columns(_:), or read it in updateFromRow(_:)")
            }
        } catch {
            warnOfUpsert(given, "\(error)")
        }
    }

    private func warnOfUpsert(_ refused: [GivenValue], _ why: String) {
        ErrorLog.warn(
            "\(type(of: self)) was upserted, but did not take the stored values of \(refused.map(\.name).joined(separator: ", ")): \(why)"
        )
    }
}

extension RecordWriter {
    /// Whether the database generates the row id of the record.
    fileprivate var givesRowID: Bool { withStatements { $0.rowIDColumn.map(columns.isNull) ?? false } }
}
