/// What a connection keeps for records: the plans of their types, and memory to encode into.
final class RecordConnection {
    @exclusivity(unchecked) private var plans: [ObjectIdentifier: RecordPlan] = [:]
    @exclusivity(unchecked) private var lastType: ObjectIdentifier?
    @exclusivity(unchecked) private var lastPlan: RecordPlan?
    /// Memory that no record is encoded into. Others come and go when a function called by SQLite saves a record
    /// while another one's statement runs.
    @exclusivity(unchecked) private var idle: PackedColumns?
    /// What was asked of the next save of a class record.
    @exclusivity(unchecked) private var request: (record: ObjectIdentifier, options: PersistenceOptions)?

    /// The plan of a type.
    @inline(__always)
    func plan(for type: any TableRecord.Type, on database: Database) throws -> RecordPlan {
        let generation = try database.schemaGeneration
        let identifier = ObjectIdentifier(type)
        if identifier == lastType, let lastPlan, lastPlan.schemaGeneration == generation { return lastPlan }
        return try findPlan(for: type, generation, on: database)
    }

    @inline(never)
    private func findPlan(
        for type: any TableRecord.Type, _ generation: UInt64, on database: Database
    ) throws -> RecordPlan {
        let identifier = ObjectIdentifier(type)
        let plan: RecordPlan
        if let found = plans[identifier], found.schemaGeneration == generation {
            plan = found
        } else {
            plan = try RecordPlan(type, generation, on: database)
            // What was learnt of the type still holds.
            if let old = plans[identifier] {
                plan.rowIDRoad = old.rowIDRoad
                plan.stamps?.hasWarned = old.stamps?.hasWarned ?? false
            }
            plans[identifier] = plan
        }
        (lastType, lastPlan) = (identifier, plan)
        return plan
    }

    /// Runs a function with memory to encode into.
    @inline(__always)
    func withPackedColumns<Result>(_ body: (PackedColumns) throws -> Result) rethrows -> Result {
        let columns = idle.take() ?? PackedColumns()
        defer {
            columns.shrink()
            idle = columns
        }
        return try body(columns)
    }

    // MARK: - Requests to class records
    //
    // A class record is inserted, updated and deleted by its overridable methods alone, which take no options. So these
    // are left here, for the method of the base class to find. Another record that is saved on the way does not.

    /// Runs a function that saves a record, with options.
    @inline(__always)
    func with<Result>(
        _ options: PersistenceOptions, for record: Record, _ save: () throws -> Result
    ) rethrows -> Result {
        let outer = request
        request = (ObjectIdentifier(record), options)
        defer { request = outer }
        return try save()
    }

    /// Takes what was asked of the save of a record.
    @inline(__always)
    func takeOptions(for record: Record) -> PersistenceOptions {
        guard let asked = request, asked.record == ObjectIdentifier(record) else {
            return PersistenceOptions()
        }
        request = nil
        return asked.options
    }
}

extension Database {
    /// What this connection keeps for records.
    @inline(__always)
    var records: RecordConnection {
        if let recordConnection { return unsafeDowncast(recordConnection, to: RecordConnection.self) }
        let records = RecordConnection()
        recordConnection = records
        return records
    }
}
