/// The way in which class records of a type take the row id of an insertion.
enum RowIDAdoption {
    case unknown, columns, updateFromRow, didInsert
    /// They do not take it, and read no rows.
    case none
    /// One record did not take it, and the log has reported it. The check is repeated for the
    /// others.
    case doubtful
}

/// The work that remains for a record after its insertion. It is rare, so it is an object: nil
/// costs nothing.
final class PendingAdoption {
    enum Kind {
        /// The insertion throws an error.
        case rejection(RecordError)
        /// It is unknown whether the record has taken its row id.
        case unknownRowID(Int64, RecordPlan)
    }
    let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    static func rejection(_ error: RecordError) -> PendingAdoption { PendingAdoption(.rejection(error)) }

    static func unknownRowID(_ rowID: Int64, _ plan: RecordPlan) -> PendingAdoption {
        PendingAdoption(.unknownRowID(rowID, plan))
    }
}

extension Record {
    /// Sets the row id of a record whose class lists it among its columns.
    @inline(__always)
    final func give(
        _ rowID: Int64, in column: Int, _ writer: RecordWriter, isLate: Bool
    ) -> PendingAdoption? {
        do {
            if try isGiven(rowID, in: column, writer.columns, isLate: isLate) { return nil }
        } catch {
            return refusal(error)
        }
        // The class no longer lists it.
        let plan = writer.plan
        plan.learned.rowIDAdoption = .unknown
        return learnWhetherTaken(rowID, plan, nil)
    }

    /// Sets the record's row id, if the class lists it among its columns, and returns whether it
    /// does.
    @inline(__always)
    final func isGiven(
        _ rowID: Int64, in column: Int, _ columns: PackedColumns, isLate: Bool
    ) throws -> Bool {
        // A value that was set in the record meanwhile is kept.
        if isLate, try !encodes(.null, in: columns.layout.names[column]) { return true }
        return try columns.useLayout { try give(rowID, to: column, of: $0) }
    }

    final func refusal(_ error: any Error) -> PendingAdoption {
        .rejection(.rowNotTaken(recordType: "\(type(of: self))", reason: "\(setter) threw \(error)"))
    }

    /// The name of the code that sets the record's row id, for the message about an error that it
    /// threw.
    final var setter: String {
        if ClassCoding.of(type(of: self)) != nil { return "setting it" }
        return Overrides.listing(type(of: self)) ? "columns(_:)" : "updateFromRow"
    }

    /// The name of the code that encodes the record and sets its values, for the message about an
    /// error that it threw.
    final var coder: String {
        if ClassCoding.of(type(of: self)) != nil { return "encoding or setting it" }
        return Overrides.listing(type(of: self)) ? "columns(_:)" : "encode or updateFromRow"
    }

    /// Finds out whether the record has taken its row id. Its class may not take it in
    /// `updateFromRow`.
    @inline(never)
    final func learnWhetherTaken(
        _ rowID: Int64, _ plan: RecordPlan, _ rejection: RecordError?
    ) -> PendingAdoption? {
        let isTaken = hasRowID(rowID, plan)
        if isTaken == true { plan.learned.rowIDAdoption = .updateFromRow }
        if let rejection { return .rejection(rejection) }
        return isTaken == true ? nil : .unknownRowID(rowID, plan)
    }

    final func finish(_ pending: PendingAdoption) throws {
        switch pending.kind {
        case .rejection(let error): throw error
        case .unknownRowID(let rowID, let plan): learnRowIDAdoption(rowID, plan)
        }
    }

    /// Takes the inserted row. Returns the error to throw.
    final func take(_ row: Row) -> RecordError? {
        do {
            try updateFromRow(row)
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "\(setter) threw \(error)")
        }
    }

    /// Takes only the row id. Returns the error to throw.
    final func take(_ rowID: Int64, _ plan: RecordPlan) -> RecordError? {
        guard let name = plan.rowIDColumn else { return nil }
        do {
            try take([GivenValue(name: name, old: .null, new: rowID.databaseValue)])
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "\(coder) threw \(error)")
        }
    }

    /// Whether the record has taken its row id. Nil if this cannot be found out.
    private func hasRowID(_ rowID: Int64, _ plan: RecordPlan) -> Bool? {
        guard let name = plan.rowIDColumn else { return false }
        return try? encodes(rowID.databaseValue, in: name, .integer)
    }

    /// Finds out how a class takes its row id if not in `updateFromRow`, and remembers it for all
    /// its records. A record that cannot be checked, or that takes it only sometimes, proves
    /// nothing about the others.
    private func learnRowIDAdoption(_ rowID: Int64, _ plan: RecordPlan) {
        guard plan.learned.rowIDAdoption == .unknown || plan.learned.rowIDAdoption == .doubtful,
            let isTaken = hasRowID(rowID, plan)
        else { return }
        if isTaken {
            plan.learned.rowIDAdoption = .didInsert
        } else {
            let hasWarned = plan.learned.rowIDAdoption == .doubtful
            plan.learned.rowIDAdoption = Overrides.reading(type(of: self)) ? .doubtful : .none
            if hasWarned { return }
            let column = plan.rowIDColumn ?? "rowid"
            ErrorLog.warn(
                "\(type(of: self)) was inserted, but did not take its row id (\(column)). List the column in columns(_:), "
                    + "read it in updateFromRow(_:), or override didInsert(_:) and use inserted.rowID.")
        }
    }
}
