/// The columns of a class that are coded, and neither listed nor stored by the older pair of
/// methods.
///
/// This layer only provides for such columns: a layer above has the subclass that codes them. Each
/// pass over a record of any class looks it up, so the lookup takes few instructions.
class ClassCoding: @unchecked Sendable {  // the state of its subclass has a lock
    /// Returns the coding of a class's columns. Nil if the class lists all of them.
    @inline(__always)
    static func of(_ type: Record.Type) -> Unretained<ClassCoding>? {
        let known = ClassTable.find(ObjectIdentifier(type))
        guard known != ClassTable.unknown else { return learn(type) }
        return UnsafeRawPointer(bitPattern: known).map(Unretained.init(context:))
    }

    @inline(never)
    private static func learn(_ type: Record.Type) -> Unretained<ClassCoding>? {
        let source = (Record.self as Any.Type) as? any ClassCodingSource.Type
        // It is never freed, like its class.
        let coding = source?.classCoding(of: type).map(Unmanaged.passRetained)
        let word = coding.map { UInt(bitPattern: $0.toOpaque()) } ?? 0
        let kept = ClassTable.add(ObjectIdentifier(type), word)
        return UnsafeRawPointer(bitPattern: kept).map(Unretained.init(context:))
    }

    // MARK: - Passes over a record

    /// Encodes all columns of a record, including the listed ones.
    func encode(_ record: Record, in container: inout PersistenceContainer) throws {}

    /// Reads the coded columns of a row.
    func read(_ row: Row, into record: Record) throws {}

    /// Sets a record's value of one coded column. Returns whether the record decodes that column.
    func take(_ name: String, of row: Row, into record: Record) throws -> Bool { false }

    /// Returns the coded columns.
    func columns(of record: Record) throws -> [ListedColumn] { [] }

    // MARK: - Making records

    /// Makes a fetched record. Returns nil if `init(row:)` has to make it.
    func make(_ type: Record.Type, of row: LiveRow) throws -> Record? { nil }

    /// Makes a record from a row if `init(row:)` has no way to set its properties. Returns nil if
    /// it has.
    func makeByHand(_ type: Record.Type, of row: Row) throws -> Record? { nil }

    // MARK: - Checks

    /// Checks on first use of the class whether properties would be lost.
    func check(_ type: Record.Type) throws {}

    /// Checks that the observers of a record would be notified when it takes a row.
    ///
    /// - Throws: a ``DatabaseError`` if no observer would be notified.
    func checkRefreshing() throws {}
}

/// A source that finds out whether columns of a class are coded. ``Record`` conforms to it in the
/// layer that codes them.
protocol ClassCodingSource {
    static func classCoding(of type: Record.Type) -> ClassCoding?
}

/// A row's recorder of missed names, which finds out what `init(row:)` does with the row.
class RecordProbe: MissedNames, @unchecked Sendable {  // one thread uses it
    /// Performs the reading that `init(row:)` of ``Record`` does.
    func read(_ row: Row, into record: Record) throws {}
}

extension Row {
    /// The probe of an initializer, if the row exists for one.
    var probe: RecordProbe? { isLive ? nil : layout.missed as? RecordProbe }
}

// MARK: - Making records

extension Record {
    /// Makes a fetched record with the coding of its class. Returns nil if `init(row:)` has to make
    /// it.
    @usableFromInline @inline(never)
    static func makeByCoding(of row: LiveRow) throws -> Self? {
        if let reader = try row.classReader(of: self),
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

    /// Makes a record from a row, of the class that the row names, if it names one.
    static func make(of row: Row) throws -> Self {
        if let type = try rowClasses?.type(of: row) {
            return try unsafeDowncast(type.makeItself(of: row), to: self)
        }
        return try makeItself(of: row)
    }

    /// Makes a record of exactly this class.
    private static func makeItself(of row: Row) throws -> Self {
        if let made = try ClassCoding.of(self)?.use({ try $0.makeByHand(self, of: row) }) {
            return unsafeDowncast(made, to: self)
        }
        return try self.init(row: row)
    }
}

extension FetchableRecord {
    /// Makes a record from a row. This also works for a class whose `init(row:)` has no way to set
    /// its properties.
    static func made(of row: Row) throws -> Self {
        guard let type = self as? Record.Type else { return try Self(row: row) }
        return try type.make(of: row) as? Self ?? Self(row: row)
    }
}
