/// The columns of a class that are coded, and neither listed nor given by the older pair of methods.
///
/// Records know that there may be such columns, and no more: a layer above has the subclass that codes them. It is asked in
/// each pass over a record of any class, and so it is found by a few instructions.
class ClassCoding: @unchecked Sendable {  // what a subclass learns has a lock
    /// Returns what codes columns of a class. Nil where all are listed.
    @inline(__always)
    static func of(_ type: Record.Type) -> Unretained<ClassCoding>? {
        let known = ClassTable.find(ObjectIdentifier(type))
        guard known != ClassTable.unknown else { return learn(type) }
        return UnsafeRawPointer(bitPattern: known).map(Unretained.init(context:))
    }

    @inline(never)
    private static func learn(_ type: Record.Type) -> Unretained<ClassCoding>? {
        let source = (Record.self as Any.Type) as? any ClassCodingSource.Type
        // It lives for ever, as its class does.
        let coding = source?.classCoding(of: type).map(Unmanaged.passRetained)
        let word = coding.map { UInt(bitPattern: $0.toOpaque()) } ?? 0
        let kept = ClassTable.add(ObjectIdentifier(type), word)
        return UnsafeRawPointer(bitPattern: kept).map(Unretained.init(context:))
    }

    // MARK: - Passes over a record

    /// Encodes all columns of a record, those that it lists among them.
    func encode(_ record: Record, in container: inout PersistenceContainer) throws {}

    /// Reads the coded columns of a row.
    func read(_ row: Row, into record: Record) throws {}

    /// Gives a record the value of one coded column. Returns whether it decodes that column.
    func take(_ name: String, of row: Row, into record: Record) throws -> Bool { false }

    /// Returns the coded columns.
    func columns(of record: Record) throws -> [ListedColumn] { [] }

    // MARK: - Making records

    /// Makes a fetched record. Returns nil where `init(row:)` is to make it.
    func make(_ type: Record.Type, of row: LiveRow) throws -> Record? { nil }

    /// Makes a record of a row where `init(row:)` has nothing to set it by. Returns nil where it has.
    func makeByHand(_ type: Record.Type, of row: Row) throws -> Record? { nil }

    // MARK: - Checks

    /// Looks whether properties would be lost, when the class is first used.
    func check(_ type: Record.Type) throws {}

    /// Checks that those who observe a record would be told when it takes a row.
    ///
    /// - Throws: a ``DatabaseError`` where nobody would be told that a record takes a row.
    func checkRefreshing() throws {}
}

/// A source that finds out whether columns of a class are coded. ``Record`` conforms to it in the layer that codes
/// them.
protocol ClassCodingSource {
    static func classCoding(of type: Record.Type) -> ClassCoding?
}

/// A row that is given to `init(row:)` to find out what it does.
class RecordProbe: MissedNames, @unchecked Sendable {  // one thread makes one record by it
    /// Does what `init(row:)` of ``Record`` does.
    func read(_ row: Row, into record: Record) throws {}
}

extension Row {
    /// The probe of an initializer, where the row is there for that.
    var probe: RecordProbe? { isLive ? nil : layout.missed as? RecordProbe }
}

// MARK: - Making records

extension Record {
    /// Makes a fetched record by what codes its class. Returns nil where `init(row:)` is to make it.
    @usableFromInline @inline(never)
    static func makeByCoding(of row: LiveRow) throws -> Self? {
        if let reader = try KindReader.of(self, reading: row),
            let made = try reader.use({ try $0.make(row) })
        {
            return unsafeDowncast(made, to: self)
        }
        guard let coding = ClassCoding.of(self) else {
            row.storage.pointee.plainElement = ObjectIdentifier(self)
            return nil
        }
        guard let made = try coding.use({ try $0.make(self, of: row) }) else { return nil }
        return unsafeDowncast(made, to: self)
    }

    /// Makes a record of a row: of the class that the row tells, where it does.
    static func make(of row: Row) throws -> Self {
        if let kind = ClassKind.of(self), let value = kind.value(in: row) {
            guard let type = kind.type(of: value), type.isSubclass(of: self) else {
                throw kind.error(value, row)
            }
            return try unsafeDowncast(type.makeItself(of: row), to: self)
        }
        return try makeItself(of: row)
    }

    /// Makes a record of this very class.
    private static func makeItself(of row: Row) throws -> Self {
        if let made = try ClassCoding.of(self)?.use({ try $0.makeByHand(self, of: row) }) {
            return unsafeDowncast(made, to: self)
        }
        return try self.init(row: row)
    }
}

extension FetchableRecord {
    /// Makes a record of a row: of a class, too, whose `init(row:)` has nothing to set it by.
    static func made(of row: Row) throws -> Self {
        guard let type = self as? Record.Type else { return try Self(row: row) }
        return try type.make(of: row) as? Self ?? Self(row: row)
    }
}
