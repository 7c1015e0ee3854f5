// The row that a record remembers, and the record's differences from it.

extension Record {
    /// Whether the record differs from the database, as far as it is known.
    ///
    /// The record is encoded, and compared with the remembered row. A record that was neither
    /// fetched nor saved has changes. So has a record that was fetched without all of its columns.
    ///
    /// Setting this to false treats the present values as those of the database. Setting it to true
    /// forgets the remembered row. The property is only informative: `insert`, `update` and `save`
    /// write in any case. If ``encode(to:)`` throws, it is true, and cannot be set to false.
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
                    // In a comparison, the container cannot be read, so an error after reading
                    // proves nothing.
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

    /// Returns a layout with the primary key of the record's table, if the record or the running
    /// access has it.
    private func layoutKnowingKey(of columns: PackedColumns) -> RowLayout? {
        let known = snapshot?.layout
        if let known, !known.key.isEmpty { return known }
        let type = type(of: self)
        if let table = type.accessedTable {
            return columns.layout.with(known?.unreadColumns).remembered(by: type, in: table)
        }
        return known.map { $0.with($0.unreadColumns, key: $0.key(of: type)) }
    }

    /// Compares by encoding the whole record, when a single pass could not decide.
    final var hasChangesAfterAll: Bool {
        @inline(never) get { (try? snapshot.map(encoded().changes)?.isEmpty) != true }
    }

    /// The columns that differ from the database, with the values in the database. A value is nil
    /// if it is unknown.
    ///
    /// ```swift
    /// player.score = 1000
    /// try player.databaseChanges          // ["score": 0]
    /// ```
    ///
    /// The keys are spelled as the record encodes them.
    ///
    /// - Throws: any error that ``encode(to:)`` throws.
    public final var databaseChanges: [String: DatabaseValue?] {
        get throws {
            try databaseColumnChanges.mapValues(\.old)
        }
    }

    /// The columns that the last save has changed, with their old values in the database. A value
    /// is nil if it was unknown.
    ///
    /// It is empty for a record that was not saved, or whose save was rolled back.
    public final var savedDatabaseChanges: [String: DatabaseValue?] {
        savedDatabaseColumnChanges.mapValues(\.old)
    }

    /// The rows that the record remembered before and after its last save.
    final var lastSave: (before: PackedRow?, after: PackedRow)? { snapshot.flatMap(Self.lastSave) }

    /// Returns the rows that a record remembered before and after its last save, from the row that
    /// it remembers now.
    static func lastSave(of snapshot: PackedRow) -> (before: PackedRow?, after: PackedRow)? {
        switch snapshot.memory {
        case .forgotten: return nil
        case .nothing: return (nil, snapshot)
        case .row(let row): return (row, snapshot)
        case .save(let before, let after): return (before, after)
        case .merge(let before, let after): return after.map { (before, $0) }
        }
    }

    /// Returns the last save as a previous state, if there was one. It is for a row that the record
    /// will remember without having saved it.
    final func previousSave(moment: UInt64) -> PackedRow.PreviousState? {
        guard let (before, after) = lastSave else { return nil }
        return PackedRow.PreviousState(memory: .save(before: before, after: after), moment: moment)
    }

    // MARK: - Remembering

    /// The values in the database, as far as they are known, and the changes of the last save.
    final var snapshot: PackedRow? {
        @inline(__always) get { rememberedRow.row }
        @inline(__always) set { rememberedRow.row = newValue }
    }

    /// Remembers a row if it was fetched.
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

    /// Remembers the first row from which a record of the class is made, and each row that lacks
    /// columns of the table.
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

    /// Remembers a fetched row that owns its values. Such a row does not show the columns of the
    /// table. So the first record made from it shows whether they are all that it encodes.
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

    /// Notes the remembered row, and returns it as the previous state of the saved row, which the
    /// record remembers next.
    @inline(__always)
    final func takePreviousState(in db: Database) -> PackedRow.PreviousState {
        takePreviousState(moment: note(in: db))
    }

    /// Takes the remembered row as the previous state of the saved row, which the record remembers
    /// next.
    @inline(__always)
    final func takePreviousState(moment: UInt64) -> PackedRow.PreviousState {
        var older: PackedRow?
        return takePreviousState(moment: moment, older: &older)
    }

    /// Takes the remembered row as the previous state of the saved row. Passes out the row
    /// remembered before that, because only the last save is reported.
    @inline(__always)
    final func takePreviousState(moment: UInt64, older: inout PackedRow?) -> PackedRow.PreviousState {
        guard let snapshot = rememberedRow.take() else {
            return PackedRow.PreviousState(memory: .nothing, moment: moment)
        }
        older = snapshot.takePreviousRow()
        return PackedRow.PreviousState(memory: snapshot.count > 0 ? .row(snapshot) : .nothing, moment: moment)
    }

    /// Notes the remembered row, so that a rollback can restore it. Returns the moment of the note.
    @inline(__always) @discardableResult
    final func note(_ rowID: Journal.GivenRowID? = nil, in db: Database) -> UInt64 {
        rememberedRow.leaveChunk()
        let row = rememberedRow.packed
        return db.withTransactionLog { log in
            log.note(
                self, row?.object, rowID: rowID, moment: row?.use { $0.moment } ?? 0, in: db)
        }
    }

    /// Notes the remembered row on all connections that the running thread has access to.
    final func note() -> UInt64 { Database.accessed.reduce(0) { max($0, note(in: $1)) } }
}

extension PackedColumns {
    /// Makes a row of all columns, with the facts about the columns of another layout.
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

    /// Returns the state of a record that remembers no row: nil, or a row without columns that has
    /// a previous state.
    static func nothing(previous: consuming PreviousState?) -> PackedRow? {
        guard let previous = consume previous else { return nil }
        return make(noColumns, byteCount: 0, previous: previous) { _ in }
    }
}

// MARK: - Layouts

extension LiveRow {
    /// Returns the layout of the rows that records of a type remember. The rows' storage keeps it
    /// alive. It has the affinities of the table's columns.
    fileprivate func layoutRemembered(by type: Record.Type) -> Unretained<RowLayout>? {
        if let known = storage.pointee.elements.pointee.recordLayoutReference,
            storage.pointee.elements.pointee.recordType == ObjectIdentifier(type)
        {
            return known
        }
        return nil
    }

    /// Makes the layout, and returns whether it lacks columns of the type's table. If it does, this
    /// is called for each row.
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
                // The next row tries again.
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
    /// Returns the schema of the table. Nil if there is no table.
    class func table(in database: Database) throws -> TableSchema? {
        try database.schema.table(databaseTableName)
    }

    /// The schema of the table, from an access of the running thread.
    fileprivate class var accessedTable: TableSchema? {
        for database in Database.accessed {
            if let table = try? table(in: database) { return table }
        }
        return nil
    }
}

extension RowLayout {
    /// Returns a layout with the primary key of a type's table, and the affinities of its columns.
    fileprivate func remembered(by type: Record.Type, in table: TableSchema) -> RowLayout {
        RowLayout(
            names: names, sql: sql, affinities: names.map(table.affinity(ofColumn:)),
            key: key(of: type, in: table), unread: unread)
    }

    /// Returns the columns of the primary key of a type's table, by their names here.
    private func key(of type: Record.Type, in table: TableSchema) -> KeyColumns {
        let key = type.primaryKey(of: table)
        let places = table.places(ofKey: key, in: names)
        return table.key(places.count == max(key.count, 1) ? places.map { names[$0] } : key)
    }

    /// Learns the primary key of a type's table for records that remember such rows. It does so if
    /// the key is unknown, and an access of the running thread has it.
    func learnKey(of type: Record.Type) {
        let identifier = UInt(bitPattern: ObjectIdentifier(type))
        guard key.isEmpty, learntKey(ofClass: identifier) == nil, let table = type.accessedTable else {
            return
        }
        learnKey(key(of: type, in: table), ofClass: identifier)
    }

    /// Returns the columns of the primary key of a type's table. Empty if they were not learned.
    func key(of type: Record.Type) -> KeyColumns {
        key.isEmpty ? learntKey(ofClass: UInt(bitPattern: ObjectIdentifier(type))) ?? .none : key
    }
}

extension Row {
    /// Returns the row that records of a type remember of a fetched row that owns its values.
    func remembered(
        by type: Record.Type, in database: Database, previous: consuming PackedRow.PreviousState? = nil
    ) throws -> PackedRow {
        let remembered = try type.table(in: database).map { self.layout.remembered(by: type, in: $0) }
        return owned.copy(remembered ?? layout, previous: previous)
    }
}
