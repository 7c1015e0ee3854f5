/// The state that a connection keeps for records: the plans of their types, and their writers.
final class RecordKeeper {
    @exclusivity(unchecked) private var plans: [ObjectIdentifier: RecordPlan] = [:]
    private var lastType: ObjectIdentifier?
    @exclusivity(unchecked) private var lastPlan: Unretained<RecordPlan>?
    /// Plans that a schema change has replaced, and statements that were evicted, while records
    /// were saved with them.
    @exclusivity(unchecked) private var retired: [AnyObject] = []
    /// The writers that save records. While the first saves a record, the second fills in columns,
    /// or saves another record for a callback. Further writers are temporary.
    private let writer: RecordWriter
    private let nestedWriter: RecordWriter
    private var furtherWriters: [RecordWriter] = []
    private var saveCount = 0
    /// The memory for the remembered rows of inserted records.
    @exclusivity(unchecked) var insertedRows = SnapshotPool()
    /// The struct whose callbacks are watched.
    var watch: CallbackWatch?
    /// The options of the next save of a class record, and the successes not yet reported to it:
    /// see OverridableSave.swift.
    @exclusivity(unchecked) var request = SaveRequest()

    #if DEBUG
    /// The classes that the connection has met, by their tables: see ``BypassAdvisor``.
    private var classes: [CaseInsensitiveName: [Record.Type]] = [:]

    /// Remembers a class whose callbacks SQL should not bypass.
    func register(_ type: Record.Type, _ table: String, _ database: Database) {
        let table = CaseInsensitiveName(table)
        guard classes[table]?.contains(where: { $0 == type }) != true else { return }
        classes[table, default: []].append(type)
        database.advice.replace { [classes] statement in BypassAdvisor.look(at: statement, classes) }
    }
    #endif

    init(_ database: Database) {
        writer = RecordWriter(database)
        nestedWriter = RecordWriter(database)
    }

    /// Returns the plan of a type. While records are saved, it lives until the last save has ended.
    /// Otherwise it lives until a user's callback changes the schema.
    @inline(__always)
    func plan(for type: any TableRecord.Type, on database: Database) throws -> Unretained<RecordPlan> {
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
    ) throws -> Unretained<RecordPlan> {
        let identifier = ObjectIdentifier(type)
        let plan: RecordPlan
        if let found = plans[identifier], found.schemaGeneration == generation {
            plan = found
        } else {
            plan = try RecordPlan(type, generation, on: database)
            #if DEBUG
            if let type = type as? Record.Type { register(type, plan.tableName, database) }
            #endif
            if let old = plans[identifier] {
                plan.learn(from: old)
                retire([old])
            }
            plans[identifier] = plan
        }
        let reference = Unretained(plan)
        (lastType, lastPlan) = (identifier, reference)
        return reference
    }

    /// Keeps objects that are no longer needed until the saves that may still use them have ended.
    func retire(_ objects: [AnyObject]) { retired += objects }

    /// Runs a function with an unused writer.
    @inline(__always)
    func withWriter<Result>(
        on database: Database, _ body: (RecordWriter) throws -> Result
    ) rethrows -> Result {
        let reference = beginSave(on: database)
        defer { endSave(reference) }
        return try reference.use(body)
    }

    @inline(__always)
    private func beginSave(on database: Database) -> Unretained<RecordWriter> {
        saveCount &+= 1
        switch saveCount {
        case 1: return Unretained(writer)
        case 2: return Unretained(nestedWriter)
        default:
            furtherWriters.append(RecordWriter(database))
            return Unretained(furtherWriters[furtherWriters.count - 1])
        }
    }

    @inline(__always)
    private func endSave(_ reference: Unretained<RecordWriter>) {
        if saveCount > 2 { furtherWriters.removeLast() } else { reference.use { $0.columns.shrink() } }
        saveCount &-= 1
        if saveCount == 0, !retired.isEmpty { retired = [] }
    }

    /// Returns the last plan of a type, without checking the schema, which may take SQL.
    func knownPlan(for type: any TableRecord.Type) -> RecordPlan? { plans[ObjectIdentifier(type)] }
}

extension Slot<RecordKeeper> {
    static var records: Self { Slot(6, until: .closing) }
}

extension Database {
    /// The state that this connection keeps for records.
    var records: RecordKeeper { withRecords { $0 } }

    /// Runs a function with the state that this connection keeps for records.
    @inline(__always)
    func withRecords<Result>(_ body: (RecordKeeper) throws -> Result) rethrows -> Result {
        try (object(in: .records) ?? makeRecords()).use(body)
    }

    @inline(never)
    private func makeRecords() -> Unretained<RecordKeeper> {
        let records = RecordKeeper(self)
        fill(.records, with: records)
        return Unretained(records)
    }
}

extension Database {
    /// Returns the plan of a type: see ``RecordKeeper/plan(for:on:)``.
    @inline(__always)
    func plan(for type: any TableRecord.Type) throws -> Unretained<RecordPlan> {
        try withRecords { try $0.plan(for: type, on: self) }
    }

    /// Runs a function with an unused writer.
    func withWriter<Result>(_ body: (RecordWriter) throws -> Result) rethrows -> Result {
        try withRecords { try $0.withWriter(on: self, body) }
    }

    /// Runs a function with a writer that holds the record's encoded columns.
    @inline(__always)
    func withWriter<Result>(
        _ plan: Unretained<RecordPlan>, encoding encode: PackedColumns.Encode,
        perform body: (RecordWriter) throws -> Result
    ) throws -> Result {
        try withRecords { records in
            try records.withWriter(on: self) { writer in
                writer.use(plan, try plan.use { try $0.pack(writer.columns, encode) })
                return try body(writer)
            }
        }
    }

    /// Runs a function with a writer that holds the record's encoded columns.
    @inline(__always)
    func withWriter<Saved: MutablePersistableRecord, Result>(
        _ plan: Unretained<RecordPlan>, for record: Saved, _ body: (RecordWriter) throws -> Result
    ) throws -> Result {
        #if DEBUG
        if let record = record as? Record { record.adviseOfProperties(in: plan.use { $0.table }) }
        #endif
        return try withWriter(plan, encoding: { try record._encodeColumns(to: &$0) }, perform: body)
    }

    /// Runs a function with a writer that holds the record's encoded columns.
    @inline(__always)
    func withWriter<Saved: MutablePersistableRecord, Result>(
        for record: Saved, _ body: (RecordWriter) throws -> Result
    ) throws -> Result {
        try withWriter(plan(for: record.recordType), for: record, body)
    }

    /// Runs a function with the record's encoded columns, unless they equal the remembered row. It
    /// reads that row as late as possible, because it takes time to load from memory.
    @inline(__always)
    func withChanges(
        of record: Record, from row: @autoclosure () -> RememberedRow.View?,
        _ body: (RecordWriter, _ row: RememberedRow.View?) throws -> Bool
    ) throws -> Bool {
        let plan = try plan(for: type(of: record))
        return try withRecords { records in
            try records.withWriter(on: self) { writer in
                let row = row()
                let statements = try plan.use {
                    try $0.packChanged(writer.columns, from: row) { try record._encodeColumns(to: &$0) }
                }
                guard let statements else { return false }
                writer.use(plan, statements)
                return try body(writer, row)
            }
        }
    }

    /// Runs a function with the record's encoded columns. Reuses the earlier encoding if it is
    /// still the same.
    func withWriter<Saved: MutablePersistableRecord, Result>(
        for record: Saved, reusing encoded: RecordWriter?,
        _ body: (RecordWriter, _ changed: ColumnMask) throws -> Result
    ) throws -> Result {
        guard let encoded else { return try withWriter(for: record) { try body($0, ColumnMask()) } }
        if try encoded.columns.isStillEncoded(by: { try record._encodeColumns(to: &$0) }) {
            return try body(encoded, ColumnMask())
        }
        return try withWriter(for: record) { try body($0, $0.columns.changes(from: encoded.columns.row())) }
    }
}
