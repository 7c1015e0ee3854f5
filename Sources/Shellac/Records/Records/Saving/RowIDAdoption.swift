/// How class records of a type take the row id that an insertion gave them.
enum RowIDAdoption {
    case unknown, columns, updateFromRow, didInsert
    /// They do not, and read no rows.
    case none
    /// One did not, and the log has said so: the others are asked again.
    case doubtful
}

/// What is left to do for a record after its insertion, which is rare: so it is an object, and to have none costs nothing.
final class PendingAdoption {
    enum Kind {
        /// An error is to be thrown.
        case rejection(RecordError)
        /// It is not known whether the record has taken its row id.
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
    /// Gives the record its row id, which the class lists among its columns.
    @inline(__always)
    final func give(
        _ rowID: Int64, in column: Int, _ writer: RecordWriter, isLate: Bool
    ) -> PendingAdoption? {
        do {
            if try isGiven(rowID, in: column, writer.columns, isLate: isLate) { return nil }
        } catch {
            return refusal(error)
        }
        // The class lists it no more.
        let plan = writer.plan
        plan.rowIDAdoption = .unknown
        return learnWhetherTaken(rowID, plan, nil)
    }

    /// Gives the record its row id, if the class lists it among its columns, and returns whether it does.
    @inline(__always)
    final func isGiven(
        _ rowID: Int64, in column: Int, _ columns: PackedColumns, isLate: Bool
    ) throws -> Bool {
        // What the record was given meanwhile is kept.
        if isLate, try !encodes(.null, in: columns.layout.names[column]) { return true }
        return try columns.useLayout { try give(rowID, to: column, of: $0) }
    }

    final func refusal(_ error: any Error) -> PendingAdoption {
        .rejection(.rowNotTaken(recordType: "\(type(of: self))", reason: "\(setter) threw \(error)"))
    }

    /// Names what gives the record its row id, for the sentence that tells what it threw.
    final var setter: String {
        if ClassCoding.of(type(of: self)) != nil { return "setting it" }
        return Overrides.listing(type(of: self)) ? "columns(_:)" : "updateFromRow"
    }

    /// Names what encodes the record and gives it values, for the sentence that tells what it threw.
    final var coder: String {
        if ClassCoding.of(type(of: self)) != nil { return "encoding or setting it" }
        return Overrides.listing(type(of: self)) ? "columns(_:)" : "encode or updateFromRow"
    }

    /// The class may not take its row id from `updateFromRow`: finds out whether the record has taken it.
    @inline(never)
    final func learnWhetherTaken(
        _ rowID: Int64, _ plan: RecordPlan, _ rejection: RecordError?
    ) -> PendingAdoption? {
        let isTaken = hasRowID(rowID, plan)
        if isTaken == true { plan.rowIDAdoption = .updateFromRow }
        if let rejection { return .rejection(rejection) }
        return isTaken == true ? nil : .unknownRowID(rowID, plan)
    }

    final func finish(_ pending: PendingAdoption) throws {
        switch pending.kind {
        case .rejection(let error): throw error
        case .unknownRowID(let rowID, let plan): learnRowIDAdoption(rowID, plan)
        }
    }

    /// Takes the row that was inserted. Returns the error to throw.
    final func take(_ row: Row) -> RecordError? {
        do {
            try updateFromRow(row)
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "\(setter) threw \(error)")
        }
    }

    /// Takes the row id alone. Returns the error to throw.
    final func take(_ rowID: Int64, _ plan: RecordPlan) -> RecordError? {
        guard let name = plan.rowIDColumn else { return nil }
        do {
            try take([GivenValue(name: name, old: .null, new: rowID.databaseValue)])
            return nil
        } catch {
            return .rowNotTaken(recordType: "\(type(of: self))", reason: "\(coder) threw \(error)")
        }
    }

    /// Whether the record has taken its row id. Nil where it cannot be asked.
    private func hasRowID(_ rowID: Int64, _ plan: RecordPlan) -> Bool? {
        guard let name = plan.rowIDColumn else { return false }
        return try? encodes(rowID.databaseValue, in: name, .integer)
    }

    /// The class does not take its row id from `updateFromRow`: remembers how it does, for all its records. One that cannot
    /// be asked, or that takes it sometimes, says nothing of the others.
    private func learnRowIDAdoption(_ rowID: Int64, _ plan: RecordPlan) {
        guard plan.rowIDAdoption == .unknown || plan.rowIDAdoption == .doubtful,
            let isTaken = hasRowID(rowID, plan)
        else { return }
        if isTaken {
            plan.rowIDAdoption = .didInsert
        } else {
            let hasWarned = plan.rowIDAdoption == .doubtful
            plan.rowIDAdoption = Overrides.reading(type(of: self)) ? .doubtful : .none
            if hasWarned { return }
            let column = plan.rowIDColumn ?? "rowid"
            ErrorLog.warn(
                "\(type(of: self)) was inserted, and has not taken its row id (\(column)). List the column in columns(_:), "
                    + "read it in updateFromRow(_:), or override didInsert(_:) and take inserted.rowID.")
        }
    }
}
