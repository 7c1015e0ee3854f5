/// What a connection keeps for records: the plans of their types, and what saves them.
final class RecordConnection {
    @exclusivity(unchecked) private var plans: [ObjectIdentifier: RecordPlan] = [:]
    @exclusivity(unchecked) private var lastType: ObjectIdentifier?
    @exclusivity(unchecked) private var lastPlan: Unmanaged<RecordPlan>?
    /// Plans that a change of the schema has replaced, and statements that made room for others, while records were
    /// saved by them.
    @exclusivity(unchecked) private var retired: [AnyObject] = []
    /// What saves records. While one is saved, its stamps are bound by a second one, and so is another record that a
    /// callback saves. Others come and go.
    private let persistence: Persistence
    private let nestedPersistence: Persistence
    @exclusivity(unchecked) private var saveCount = 0
    /// The memory for what inserted records remember.
    @exclusivity(unchecked) var insertedRows = SnapshotPool()
    /// The record whose `did` callbacks are left to somebody else, and what it was not told.
    private var untold: (record: ObjectIdentifier, successes: [PersistenceSuccess])?
    /// What was asked of the next save of a class record.
    @exclusivity(unchecked) private var request: (record: ObjectIdentifier, options: PersistenceOptions?)?

    #if DEBUG
    /// The classes that the connection has met, by their tables: see ``BypassAdvisor``.
    private var classes: [CaseInsensitiveName: [Record.Type]] = [:]

    /// Remembers a class, whose callbacks SQL should not bypass.
    func meet(_ type: Record.Type, _ table: String, _ database: Database) {
        let table = CaseInsensitiveName(table)
        guard classes[table]?.contains(where: { $0 == type }) != true else { return }
        classes[table, default: []].append(type)
        database.advice.replace { [classes] statement in BypassAdvisor.look(at: statement, classes) }
    }
    #endif

    init(_ database: Database) {
        persistence = Persistence(database)
        nestedPersistence = Persistence(database)
    }

    /// The plan of a type.
    func plan(for type: any TableRecord.Type, on database: Database) throws -> RecordPlan {
        try withPlan(for: type, on: database) { $0 }
    }

    /// Runs a function with the plan of a type. Inside of ``withPersistence(on:_:)``, the plan is there until the last
    /// save has ended; elsewhere, until a callback of the user's changes the schema.
    @inline(__always)
    func withPlan<Result>(
        for type: any TableRecord.Type, on database: Database, _ body: (RecordPlan) throws -> Result
    ) throws -> Result {
        // One call of the function, here and below: it stands in the code as often as it is called, with all that is
        // around it.
        try knownPlan(for: type, on: database).use(body)
    }

    @inline(__always)
    private func knownPlan(
        for type: any TableRecord.Type, on database: Database
    ) throws -> Unmanaged<RecordPlan> {
        let generation = try database.schemaGeneration
        #if DEBUG
        try database.queries.checkTableName(of: type)
        #endif
        if ObjectIdentifier(type) == lastType, let lastPlan,
            lastPlan.use({ $0.schemaGeneration == generation })
        {
            return lastPlan
        }
        return try findPlan(for: type, generation, on: database)
    }

    @inline(never)
    private func findPlan(
        for type: any TableRecord.Type, _ generation: UInt64, on database: Database
    ) throws -> Unmanaged<RecordPlan> {
        let identifier = ObjectIdentifier(type)
        let plan: RecordPlan
        if let found = plans[identifier], found.schemaGeneration == generation {
            plan = found
        } else {
            plan = try RecordPlan(type, generation, on: database)
            #if DEBUG
            if let type = type as? Record.Type { meet(type, plan.tableName, database) }
            #endif
            if let old = plans[identifier] {
                // What was learnt of the type still holds.
                plan.rowIDRoad = old.rowIDRoad
                plan.hasDefaultCallbacks = old.hasDefaultCallbacks
                plan.hasEncodedKey = old.hasEncodedKey
                plan.hasWarnedOfRowID = old.hasWarnedOfRowID
                plan.stamps?.hasWarned = old.stamps?.hasWarned ?? false
                retire([old])
            }
            plans[identifier] = plan
        }
        let reference = Unmanaged.passUnretained(plan)
        (lastType, lastPlan) = (identifier, reference)
        return reference
    }

    /// Keeps what is no longer wanted until the saves have ended that may still use it.
    func retire(_ objects: [AnyObject]) { retired += objects }

    /// Runs a function with what saves a record.
    @inline(__always)
    func withPersistence<Result>(
        on database: Database, _ body: (Persistence) throws -> Result
    ) rethrows -> Result {
        let reference = beginSave(on: database)
        defer { endSave(reference) }
        return try reference.use(body)
    }

    @inline(__always)
    private func beginSave(on database: Database) -> Unmanaged<Persistence> {
        saveCount &+= 1
        switch saveCount {
        case 1: return .passUnretained(persistence)
        case 2: return .passUnretained(nestedPersistence)
        default: return .passRetained(Persistence(database))
        }
    }

    @inline(__always)
    private func endSave(_ reference: Unmanaged<Persistence>) {
        if saveCount > 2 { reference.release() } else { reference.use { $0.columns.shrink() } }
        saveCount &-= 1
        if saveCount == 0, !retired.isEmpty { retired = [] }
    }

    // MARK: - Requests to class records
    //
    // A class record is inserted, updated and deleted by its overridable methods alone, which take no options. So these
    // are left here, for the method of the base class to find. Another record that is saved on the way does not.

    /// Runs a function that saves a record, with options.
    @inline(__always)
    func with<Result>(
        _ options: PersistenceOptions?, for record: Record, _ save: () throws -> Result
    ) rethrows -> Result {
        let outer = request
        request = (ObjectIdentifier(record), options)
        defer { request = outer }
        return try save()
    }

    /// Runs a function that saves a record, without calling its `did` callbacks. Returns what these would have been told.
    func leavingUntold(_ record: Record, _ save: () throws -> Void) rethrows -> [PersistenceSuccess] {
        let outer = exchange(&untold, with: (ObjectIdentifier(record), []))
        defer { untold = outer }
        try save()
        return untold?.successes ?? []
    }

    /// Whether a record's `did` callbacks are left to somebody else, who will hear of a success.
    func leaves(_ success: PersistenceSuccess, untoldTo record: Record) -> Bool {
        guard untold?.record == ObjectIdentifier(record) else { return false }
        untold?.successes.append(success)
        return true
    }

    /// The last plan of a type, without a look at the schema, which may take SQL.
    func knownPlan(for type: any TableRecord.Type) -> RecordPlan? { plans[ObjectIdentifier(type)] }

    /// Takes what was asked of the save of a record.
    @inline(__always)
    func takeOptions(for record: Record) -> PersistenceOptions? {
        guard let asked = request, asked.record == ObjectIdentifier(record) else {
            return nil
        }
        request = nil
        return asked.options
    }
}

extension Slot<RecordConnection> {
    static var records: Self { Slot(6, until: .closing) }
}

extension Database {
    /// What this connection keeps for records.
    @inline(__always)
    var records: RecordConnection { withRecords { $0 } }

    /// Runs a function with what this connection keeps for records.
    @inline(__always)
    func withRecords<Result>(_ body: (RecordConnection) throws -> Result) rethrows -> Result {
        try (object(in: .records) ?? makeRecords()).use(body)
    }

    @inline(never)
    private func makeRecords() -> Unmanaged<RecordConnection> {
        let records = RecordConnection(self)
        fill(.records, with: records)
        return .passUnretained(records)
    }
}
