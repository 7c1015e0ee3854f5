// What came of an insertion, stored in the record: what it remembers, its row id, its stamps, and who is told. All roads
// that insert a record end here, alone or among others.

extension Record {
    /// What is left to do after an insertion.
    indirect enum Aftermath {
        /// An error is to be thrown.
        case rejection(RecordError)
        /// It is not known whether the record has taken its row id.
        case unknownRowID(Int64, RecordPlan)
    }

    /// Remembers what was inserted, and takes the row id.
    @inline(__always)
    final func store(
        _ persistence: Persistence, _ insertion: InsertionSuccess, in db: Database
    ) -> Aftermath? {
        let aftermath = storeRow(persistence, insertion, in: db)
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
        return aftermath
    }

    /// Remembers what was inserted or upserted. Tells, too, whether the record was given a row id.
    final func store(
        _ persistence: Persistence, _ insertion: InsertionSuccess, isUpsert: Bool, in db: Database
    ) -> (Aftermath?, givesRowID: Bool) {
        let givesRowID = persistence.givesRowID
        let aftermath = store(persistence, insertion, in: db)
        if isUpsert { takeUpserted(persistence, in: db) }
        return (aftermath, givesRowID)
    }

    /// Remembers what was inserted some time ago. What the record was given meanwhile is kept, and differs from its row.
    final func storeLate(
        _ persistence: Persistence, _ insertion: InsertionSuccess, in db: Database
    ) -> Aftermath? {
        // Nobody else than a callback of the user's is likely to have changed it.
        if persistence.withPlan({ !$0.overridesInsertionCallbacks })
            || (try? persistence.columns.isStillEncoded(by: { try _encodeColumns(to: &$0) })) == true
        {
            return store(persistence, insertion, in: db)
        }
        let aftermath = storeRow(persistence, insertion, isLate: true, in: db)
        if persistence.boundStamps != nil { takeStamps(of: persistence) }
        return aftermath
    }

    @inline(__always)
    private func storeRow(
        _ persistence: Persistence, _ insertion: InsertionSuccess, isLate: Bool = false, in db: Database
    ) -> Aftermath? {
        let columns = persistence.columns
        let rowIDColumn = persistence.withShape { $0.rowIDColumn }
        guard let column = rowIDColumn, columns.isNull(column) else {
            let moment = note(in: db)
            if !remember(persistence, since: moment, in: db, inserted: { columns.row(among: &$0) }) {
                snapshot = columns.row(past: takePast(moment: moment))
            }
            return nil
        }
        let rowID = insertion.rowID
        let moment = note(Journal.GivenRowID(value: rowID, column: column), in: db)
        let road = persistence.withPlan { $0.rowIDRoad }
        if road == .columns || road == .didInsert || road == .none,
            remember(
                persistence, since: moment, in: db,
                inserted: { columns.row(with: rowID, in: column, among: &$0) })
        {
            return road == .columns ? give(rowID, in: column, persistence, isLate: isLate) : nil
        }
        let row = columns.row(with: rowID, in: column, past: takePast(moment: moment))
        snapshot = row
        switch road {
        case .didInsert, .none: return nil
        case .columns: return give(rowID, in: column, persistence, isLate: isLate)
        case .updateFromRow:
            if isLate { return take(rowID, persistence.plan).map(Aftermath.rejection) }
            return persistence.withShape { $0.withRow(on: row, take) }.map(Aftermath.rejection)
        case .unknown, .doubtful:
            let plan = persistence.plan
            do {
                if plan.listsColumns, try isGiven(rowID, in: column, columns, isLate: isLate) {
                    plan.rowIDRoad = .columns
                    return nil
                }
            } catch {
                return refusal(error)
            }
            return learnWhetherTaken(rowID, plan, isLate ? take(rowID, plan) : take(Row(row)))
        }
    }

    /// Remembers a row that was inserted, among those that were inserted since the same moment. Returns false where it is
    /// to stand alone.
    @inline(__always)
    private func remember(
        _ persistence: Persistence, since moment: UInt64, in db: Database,
        inserted row: (inout SnapshotPool) -> ChunkedRow?
    ) -> Bool {
        // A row that will have to leave the chunk at once, or has a past, is better off alone.
        guard moment != 0, rememberedRow.isNothing, persistence.boundStamps == nil else { return false }
        return db.withRecords { records in
            records.insertedRows.begin(moment: moment)
            guard let row = row(&records.insertedRows) else { return false }
            rememberedRow.remember(row)
            return true
        }
    }

    // MARK: - The row id

    /// Gives the record its row id, which the class lists among its columns.
    @inline(__always)
    private func give(
        _ rowID: Int64, in column: Int, _ persistence: Persistence, isLate: Bool
    ) -> Aftermath? {
        do {
            if try isGiven(rowID, in: column, persistence.columns, isLate: isLate) { return nil }
        } catch {
            return refusal(error)
        }
        // The class lists it no more.
        let plan = persistence.plan
        plan.rowIDRoad = .unknown
        return learnWhetherTaken(rowID, plan, nil)
    }

    /// Gives the record its row id, if the class lists it among its columns, and returns whether it does.
    @inline(__always)
    private func isGiven(
        _ rowID: Int64, in column: Int, _ columns: PackedColumns, isLate: Bool
    ) throws -> Bool {
        // What the record was given meanwhile is kept.
        if isLate, try !encodes(.null, in: columns.layout.names[column]) { return true }
        return try columns.useLayout { try give(rowID, to: column, of: $0) }
    }

    private func refusal(_ error: any Error) -> Aftermath {
        let setter = CodedClass.of(type(of: self)) == nil ? "columns(_:)" : "setting it"
        return .rejection(.rowNotTaken(recordType: "\(type(of: self))", reason: "\(setter) threw \(error)"))
    }

    /// The class may not take its row id from `updateFromRow`: finds out whether the record has taken it.
    @inline(never)
    private func learnWhetherTaken(
        _ rowID: Int64, _ plan: RecordPlan, _ rejection: RecordError?
    ) -> Aftermath? {
        let isTaken = hasRowID(rowID, plan)
        if isTaken == true { plan.rowIDRoad = .updateFromRow }
        if let rejection { return .rejection(rejection) }
        return isTaken == true ? nil : .unknownRowID(rowID, plan)
    }

    final func finish(_ aftermath: Aftermath) throws {
        switch aftermath {
        case .rejection(let error): throw error
        case .unknownRowID(let rowID, let plan): learnRowIDRoad(rowID, plan)
        }
    }

    /// Takes the row that was inserted. Returns the error to throw.
    private func take(_ row: Row) -> RecordError? {
        do {
            try updateFromRow(row)
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "updateFromRow threw \(error)")
        }
    }

    /// Takes the row id alone. Returns the error to throw.
    private func take(_ rowID: Int64, _ plan: RecordPlan) -> RecordError? {
        guard let name = plan.rowIDColumn else { return nil }
        do {
            try take([GivenValue(name: name, old: .null, new: rowID.databaseValue)])
            return nil
        } catch {
            return .rowNotTaken(
                recordType: "\(type(of: self))", reason: "encode or updateFromRow threw \(error)")
        }
    }

    /// Whether the record has taken its row id. Nil where it cannot be asked.
    private func hasRowID(_ rowID: Int64, _ plan: RecordPlan) -> Bool? {
        guard let name = plan.rowIDColumn else { return false }
        return try? encodes(rowID.databaseValue, in: name, .integer)
    }

    /// The class does not take its row id from `updateFromRow`: remembers how it does, for all its records. One that cannot
    /// be asked, or that takes it sometimes, says nothing of the others.
    private func learnRowIDRoad(_ rowID: Int64, _ plan: RecordPlan) {
        guard plan.rowIDRoad == .unknown || plan.rowIDRoad == .doubtful,
            let isTaken = hasRowID(rowID, plan)
        else { return }
        if isTaken {
            plan.rowIDRoad = .didInsert
        } else {
            let hasWarned = plan.rowIDRoad == .doubtful
            plan.rowIDRoad = Overrides.reading(type(of: self)) ? .doubtful : .none
            if hasWarned { return }
            let column = plan.rowIDColumn ?? "rowid"
            ErrorLog.warn(
                "\(type(of: self)) was inserted, and has not taken its row id (\(column)). List the column in columns(_:), "
                    + "read it in updateFromRow(_:), or override didInsert(_:) and take inserted.rowID.")
        }
    }

    // MARK: - A row that was in the way

    /// Remembers what a row has become that was in the way of an upsert: it may differ from what the record has. The record
    /// takes its key, by which the row is found from now on.
    final func takeUpserted(_ persistence: Persistence, in db: Database) {
        guard let upserted = persistence.upserted else { return }
        persistence.upserted = nil
        let (columns, shape) = (persistence.columns, persistence.shape)
        let names = columns.layout.names
        snapshot = snapshot?.with(upserted.map { (names[$0.column], $0.value) })
        // Of what the record never read, it knows what it has itself, and the stamps that it was given.
        if !persistence.untouched.isEmpty {
            let stamped = persistence.boundStamps?.stamps.filter { $0.stored != nil }.map(\.column) ?? []
            let known = upserted.filter { column, value in
                stamped.contains(column)
                    || ColumnAffinity.isStored(
                        columns[column], as: value, in: columns.layout.affinity(ofColumn: column))
            }
            let unread = persistence.untouched.subtracting(ColumnMask(known.map(\.column)))
            if !unread.isEmpty { snapshot = snapshot?.forgetting(unread, of: columns) }
        }
        let key = upserted.filter { column, value in
            shape.keyColumns.contains(column) && !columns.isNull(column)
                && !ColumnAffinity.isStored(
                    columns[column], as: value, in: columns.layout.affinity(ofColumn: column))
        }
        if key.isEmpty { return }
        let given = key.map { GivenValue(name: names[$0.column], old: columns[$0.column], new: $0.value) }
        noteGiven(given, in: db)
        do {
            try take(given)
            for value in given where try !encodes(value.new, in: value.name) { throw NotTaken() }
        } catch {
            let why =
                error is NotTaken ? "list it in columns(_:), or read it in updateFromRow(_:)" : "\(error)"
            ErrorLog.warn(
                "\(type(of: self)) was upserted, met a row of another key, and has not taken it: \(why)")
        }
    }

    private struct NotTaken: Error {}

    // MARK: - Callbacks

    /// Calls the `did` callbacks of an insertion or update on the long road, or leaves them to whoever calls them.
    ///
    /// - Parameters:
    ///   - success: Nil where a conflict was resolved by ignoring the record.
    ///   - givesRowID: Whether the record was given a row id.
    final func tell(
        _ success: PersistenceSuccess?, _ options: PersistenceOptions?, givesRowID: Bool = false,
        in db: Database
    ) {
        if let options, options.isPartOfSave {
            options.outcome = success.map { ($0, givesRowID) }
            options.isIgnored = success == nil
            return
        }
        guard let success else { return }
        if db.records.leaves(success, untoldTo: self) {
            // Some classes take their row id there: what comes next in the access may need it.
            let road = db.records.knownPlan(for: type(of: self))?.rowIDRoad
            if givesRowID, road != .updateFromRow, let insertion = success.insertion { didInsert(insertion) }
            return
        }
        tell(success)
    }

    /// Calls the `did` callbacks.
    final func tell(_ success: PersistenceSuccess) {
        if let insertion = success.insertion { didInsert(insertion) } else { didUpdate(success) }
        didSave(success)
    }
}

extension Persistence {
    /// Whether the database gives the record its row id.
    fileprivate var givesRowID: Bool { withShape { $0.rowIDColumn.map(columns.isNull) ?? false } }
}
