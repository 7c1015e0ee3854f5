// What a record remembers of its row, and how it differs.

extension Record {
    /// Whether the record differs from what the database holds, as far as it is known.
    ///
    /// The record is encoded, and compared with what it remembers of its row. A record that was neither fetched nor
    /// saved has changes; so has one that was fetched without all of its columns.
    ///
    /// Setting this to false takes the present values for those of the database; setting it to true forgets what is
    /// known of it. It informs: `insert`, `update` and `save` write whatever it says. Where ``encode(to:)`` throws, it is
    /// true, and cannot be set to false.
    public final var hasDatabaseChanges: Bool {
        get {
            guard let row = RememberedRow.View(self) else { return true }
            @inline(__always)
            func differs() -> Bool {
                var encoding = ColumnEncoding(comparingWith: row.bytes, layout: row.layout)
                guard encoding.count > 0 else { return true }
                do {
                    try PersistenceContainer.fill(&encoding) { try _encodeColumns(to: &$0) }
                } catch {
                    // What was read is not there where columns are compared.
                    return encoding.wasRead ? hasChangesAfterAll : true
                }
                return encoding.isDoubtful ? hasChangesAfterAll : encoding.isDifferent
            }
            return row.whileInUse(differs)
        }
        set {
            let previous = previousSave(moment: note())
            if newValue {
                snapshot = .nothing(previous: previous)
            } else if let columns = try? encoded() {
                snapshot = columns.row(knowing: layoutKnowingKey(of: columns), previous: previous)
            }
        }
    }

    /// A layout that knows the primary key of the record's table, where the record or the running access can tell it.
    private func layoutKnowingKey(of columns: PackedColumns) -> RowLayout? {
        let known = snapshot?.layout
        if let known, !known.key.isEmpty { return known }
        let type = type(of: self)
        if let table = type.accessedTable {
            return columns.layout.with(known?.unreadColumns).remembered(by: type, in: table)
        }
        return known.map { $0.with($0.unreadColumns, key: $0.key(of: type)) }
    }

    /// Compares by encoding the whole record, where a single pass could not tell.
    final var hasChangesAfterAll: Bool {
        @inline(never) get { (try? snapshot.map(encoded().changes)?.isEmpty) != true }
    }

    /// The columns that differ from what the database holds, with what it holds: nil where that is not known.
    ///
    /// ```swift
    /// player.score = 1000
    /// try player.databaseChanges          // ["score": 0]
    /// ```
    ///
    /// The keys are spelled as the record encodes them.
    ///
    /// - Throws: what ``encode(to:)`` throws.
    public final var databaseChanges: [String: DatabaseValue?] {
        get throws {
            try databaseColumnChanges.mapValues(\.old)
        }
    }

    /// What the last save has changed: the columns, with what the database held before, or nil where that was not known.
    ///
    /// It is empty for a record that was not saved, or whose save was rolled back.
    public final var savedDatabaseChanges: [String: DatabaseValue?] {
        savedDatabaseColumnChanges.mapValues(\.old)
    }

    /// What the record remembered before its last save, and after it.
    final var lastSave: (before: PackedRow?, after: PackedRow)? { snapshot.flatMap(Self.lastSave) }

    /// What a record that remembers a row remembered before its last save, and after it.
    static func lastSave(of snapshot: PackedRow) -> (before: PackedRow?, after: PackedRow)? {
        switch snapshot.memory {
        case .forgotten: return nil
        case .nothing: return (nil, snapshot)
        case .row(let row): return (row, snapshot)
        case .save(let before, let after): return (before, after)
        case .merge(let before, let after): return after.map { (before, $0) }
        }
    }

    /// Returns the last save, if there was one, as the previous state of a row that the record comes to remember without
    /// having saved it.
    final func previousSave(moment: UInt64) -> PackedRow.PreviousState? {
        guard let (before, after) = lastSave else { return nil }
        return PackedRow.PreviousState(memory: .save(before: before, after: after), moment: moment)
    }

    // MARK: - Remembering

    /// What the database holds, as far as it is known, and what the last save has changed.
    final var snapshot: PackedRow? {
        @inline(__always) get { rememberedRow.row }
        @inline(__always) set { rememberedRow.row = newValue }
    }

    /// Remembers a row, if it was fetched.
    @inline(__always)
    final func remember(fetched row: Row) throws {
        if row.isLive {
            if !row.live.isPacked || row.live.wasFetched { try remember(row.live) }
        } else if row.layout.sql != nil {
            try remember(owned: row.owned)
        }
    }

    @inline(__always)
    private func remember(_ row: LiveRow) throws {
        guard let layout = row.layoutRemembered(by: type(of: self)) else { return try rememberFirst(row) }
        if let packed = row.packed(),
            let shared = row.storage.pointee.elements.pointee.chunks.add(packed, layout)
        {
            rememberedRow.remember(shared)
        } else {
            snapshot = layout.use { PackedRow.make(row, layout: $0) }
        }
    }

    /// Remembers the first row that a record of the class is made of, and each that lacks columns of the table.
    @inline(never)
    private func rememberFirst(_ row: LiveRow) throws {
        let type = type(of: self)
        let (layout, isPartial) = try row.makeLayoutRemembered(by: type)
        if let packed = row.packed(),
            let shared = row.storage.pointee.elements.pointee.chunks.add(packed, Unretained(layout))
        {
            rememberedRow.remember(shared)
        } else {
            snapshot = PackedRow.make(row, layout: layout)
        }
        let storage = row.storage
        guard isPartial, storage.pointee.elements.pointee.elementType != ObjectIdentifier(type) else {
            return
        }
        if let partial = noteUnread(sharing: storage.pointee.elements.pointee.partialLayout) {
            storage.pointee.elements.pointee.partialLayout = partial
        }
    }

    /// Remembers a fetched row that owns its values. Nothing tells the columns of the table: the first record that is made
    /// of such a row says whether they are all that it encodes.
    private func remember(owned row: PackedRow) throws {
        snapshot = row
        let type = type(of: self)
        let identifier = UInt(bitPattern: ObjectIdentifier(type))
        if row.layout.completeType.load(ordering: .relaxed) == identifier { return }
        try FirstUse.check(type)
        row.layout.learnKey(of: type)
        if noteUnread(sharing: nil) == nil {
            row.layout.completeType.store(identifier, ordering: .relaxed)
        }
    }

    /// Notes what the record remembers, and makes it the previous state of what was saved, which it is to remember
    /// now.
    @inline(__always)
    final func takePreviousState(in db: Database) -> PackedRow.PreviousState {
        takePreviousState(moment: note(in: db))
    }

    /// Takes what the record remembers, as the previous state of what was saved, which it is to remember now.
    @inline(__always)
    final func takePreviousState(moment: UInt64) -> PackedRow.PreviousState {
        var older: PackedRow?
        return takePreviousState(moment: moment, older: &older)
    }

    /// Makes what the record remembers the previous state of what was saved, and hands out what it remembered before that:
    /// only the last save is told of.
    @inline(__always)
    final func takePreviousState(moment: UInt64, older: inout PackedRow?) -> PackedRow.PreviousState {
        guard let snapshot = rememberedRow.take() else {
            return PackedRow.PreviousState(memory: .nothing, moment: moment)
        }
        older = snapshot.takePreviousRow()
        return PackedRow.PreviousState(memory: snapshot.count > 0 ? .row(snapshot) : .nothing, moment: moment)
    }

    /// Notes what the record remembers, so that a rollback can give it back. Returns the moment of the note.
    @inline(__always) @discardableResult
    final func note(_ rowID: Journal.GivenRowID? = nil, in db: Database) -> UInt64 {
        rememberedRow.leaveChunk()
        let row = rememberedRow.packed
        return db.withTransactionLog { log in
            log.note(
                self, row?.object, rowID: rowID, moment: row?.use { $0.moment } ?? 0, in: db)
        }
    }

    /// Notes what the record remembers on all connections that the running thread has the access to.
    final func note() -> UInt64 { Database.accessed.reduce(0) { max($0, note(in: $1)) } }
}

extension PackedColumns {
    /// A row of all columns, with what is known of the columns of another layout.
    fileprivate func row(knowing known: RowLayout?, previous: consuming PackedRow.PreviousState?) -> PackedRow
    {
        let affinities = layout.names.map { name in
            known.flatMap { known in known.column(named: name).flatMap(known.affinity(ofColumn:)) }
        }
        let layout = RowLayout(
            names: layout.names, sql: nil, affinities: affinities,
            key: known?.key ?? .none,
            unread: known?.unreadColumns.flatMap {
                $0.without(ColumnMask(0..<count).subtracting($0.untouched(in: self)), of: self)
            })
        return PackedRow.make(layout, copying: bytes, previous: previous)
    }
}

extension PackedRow {
    private static let noColumns = RowLayout(names: [], sql: nil)

    /// What a record remembers that knows nothing of its row: nil, or a row without columns that has a previous
    /// state.
    static func nothing(previous: consuming PreviousState?) -> PackedRow? {
        guard let previous = consume previous else { return nil }
        return make(noColumns, byteCount: 0, previous: previous) { _ in }
    }
}

// MARK: - Layouts

extension LiveRow {
    /// The layout of what records of a type remember of these rows, which their storage keeps alive. It knows the affinities
    /// of their table's columns.
    fileprivate func layoutRemembered(by type: Record.Type) -> Unretained<RowLayout>? {
        if let known = storage.pointee.elements.pointee.recordLayoutReference,
            storage.pointee.elements.pointee.recordType == ObjectIdentifier(type)
        {
            return known
        }
        return nil
    }

    /// Makes the layout, and tells whether it lacks columns of the type's table. If so, each row comes here.
    fileprivate func makeLayoutRemembered(by type: Record.Type) throws -> (layout: RowLayout, isPartial: Bool)
    {
        let identifier = ObjectIdentifier(type)
        if storage.pointee.elements.pointee.partialRecordType == identifier,
            let known = storage.pointee.elements.pointee.recordLayout
        {
            return (known, true)
        }
        try FirstUse.check(type)
        var (remembered, isPartial, isKnown) = (layout, false, false)
        if let database = storage.pointee.connection as? Database {
            do {
                if let table = try type.table(in: database) {
                    remembered = layout.remembered(by: type, in: table)
                    isPartial = table.columns.contains { layout.column(named: $0.name) == nil }
                }
                isKnown = true
            } catch {
                // The next row asks again.
            }
        }
        storage.pointee.elements.pointee.recordType = isKnown && !isPartial ? identifier : nil
        storage.pointee.elements.pointee.partialRecordType = isPartial ? identifier : nil
        storage.pointee.lacksColumns = storage.pointee.elements.pointee.lacksColumns
        storage.pointee.elements.pointee.partialLayout = nil
        storage.pointee.elements.pointee.recordLayout = remembered
        return (remembered, isPartial)
    }
}

extension LiveRow {
    /// Learns the table of a class from the connection.
    func learnTable(of type: Record.Type) throws { _ = try makeLayoutRemembered(by: type) }
}

extension Record {
    /// What is known of the table. Nil where there is none.
    class func table(in database: Database) throws -> TableSchema? {
        try database.schema.table(databaseTableName)
    }

    /// What an access of the running thread knows of the table.
    fileprivate class var accessedTable: TableSchema? {
        for database in Database.accessed {
            if let table = try? table(in: database) { return table }
        }
        return nil
    }
}

extension RowLayout {
    /// A layout that knows the primary key of a type's table, and the affinities of its columns.
    fileprivate func remembered(by type: Record.Type, in table: TableSchema) -> RowLayout {
        RowLayout(
            names: names, sql: sql, affinities: names.map(table.affinity(ofColumn:)),
            key: key(of: type, in: table), unread: unread)
    }

    /// The columns of the primary key of a type's table, as they are named here.
    private func key(of type: Record.Type, in table: TableSchema) -> KeyColumns {
        let key = type.primaryKey(of: table)
        let places = table.places(ofKey: key, in: names)
        return table.key(places.count == max(key.count, 1) ? places.map { names[$0] } : key)
    }

    /// Learns the primary key of a type's table for records that remember such rows, where it is not known, and an access
    /// of the running thread can tell it.
    func learnKey(of type: Record.Type) {
        let identifier = UInt(bitPattern: ObjectIdentifier(type))
        guard key.isEmpty, learntKey(ofClass: identifier) == nil, let table = type.accessedTable else {
            return
        }
        learnKey(key(of: type, in: table), ofClass: identifier)
    }

    /// The columns of the primary key of a type's table. Empty where they were not learnt.
    func key(of type: Record.Type) -> KeyColumns {
        key.isEmpty ? learntKey(ofClass: UInt(bitPattern: ObjectIdentifier(type))) ?? .none : key
    }
}

extension Row {
    /// What records of a type remember of a fetched row that owns its values.
    func remembered(
        by type: Record.Type, in database: Database, previous: consuming PackedRow.PreviousState? = nil
    ) throws -> PackedRow {
        let remembered = try type.table(in: database).map { self.layout.remembered(by: type, in: $0) }
        return owned.copy(remembered ?? layout, previous: previous)
    }
}
