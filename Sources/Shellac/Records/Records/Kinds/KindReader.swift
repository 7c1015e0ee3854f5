/// Makes records from the rows of a statement, each of the class that its row names.
///
/// ## The life of a row
///
/// A fetch of records of a class with kinds comes here for each row: see `makeByCoding(of:)`. The
/// reader reads the column once. It compares the value first with the kind of the previous row, and
/// then with all others. If the class changes, the reader switches the row to the memory of that
/// class: see ``ElementMemory``.
final class KindReader: ElementMaker {
    /// The class that the fetch asks for.
    private let asked: ClassKind
    /// The column of the row that holds the kind. Nil if the row lacks it.
    private let column: Int?
    /// The classes of the records: the kinds, followed by the class for unknown kinds, if there is
    /// one.
    private let entries: UnsafeMutableBufferPointer<Entry>
    /// The entry of unknown kinds, and that of the last row.
    private let rest: UnsafeMutablePointer<Entry>?
    @exclusivity(unchecked) private var current: UnsafeMutablePointer<Entry>?

    /// A class whose records are made.
    private struct Entry: ~Copyable {
        let type: Record.Type
        let coding: Unretained<ClassCoding>?
        /// The kind, as a text or as an integer.
        private let text: UnsafeBufferPointer<UInt8>?
        private let integer: Int64?
        /// Whether `init(row:)` makes records of the class although it is coded.
        var isPlain = false
        /// The row's memory for the class.
        let memory: UnsafeMutablePointer<ElementMemory>

        init(_ type: Record.Type, _ kind: DatabaseValue) {
            self.type = type
            coding = ClassCoding.of(type)
            memory = .allocate(capacity: 1)
            memory.initialize(to: ElementMemory())
            switch kind.storage {
            case .string(let kind):
                let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: kind.utf8.count)
                _ = copy.initialize(from: kind.utf8)
                (text, integer) = (UnsafeBufferPointer(copy), nil)
            case .int64(let kind): (text, integer) = (nil, kind)
            case .null, .double, .blob: (text, integer) = (nil, nil)
            }
        }

        deinit {
            text?.deallocate()
            memory.deinitialize(count: 1)
            memory.deallocate()
        }

        @inline(__always)
        func isKind(_ value: ValueView) -> Bool {
            switch value {
            case .text(let bytes): text?.hasSameBytes(as: bytes) ?? false
            case .integer(let number): number == integer
            case .null, .real, .blob: false
            }
        }
    }

    /// Returns the reader that makes records of a class from a row. Nil if the class's table has
    /// records of one class.
    ///
    /// - Throws: a ``DatabaseError`` if the class's kinds are invalid.
    @inline(__always)
    static func of(_ type: Record.Type, reading row: LiveRow) throws -> Unretained<KindReader>? {
        if let known = row.storage.pointee.makerReference {
            let reader = Unretained<KindReader>(context: known.context)
            if reader.use({ $0.asked.type == type }) { return reader }
        }
        return try make(type, reading: row)
    }

    @inline(never)
    private static func make(_ type: Record.Type, reading row: LiveRow) throws -> Unretained<KindReader>? {
        guard let kind = ClassKind.of(type) else { return nil }
        try FirstUse.check(type)
        let reader = KindReader(kind, row)
        row.storage.pointee.plainElement = nil
        row.storage.pointee.maker = reader
        return Unretained(reader)
    }

    private init(_ asked: ClassKind, _ row: LiveRow) {
        self.asked = asked
        column = row.layout.column(named: asked.column)
        let hasRest = asked.isBase && asked.unknown == .base
        entries = .allocate(capacity: asked.classes.count + (hasRest ? 1 : 0))
        for (index, one) in asked.classes.enumerated() {
            entries.initializeElement(at: index, to: Entry(one.type, one.kind))
        }
        rest = hasRest ? entries.baseAddress.map { $0 + asked.classes.count } : nil
        rest?.initialize(to: Entry(asked.type, .null))
    }

    deinit {
        entries.deinitialize()
        entries.deallocate()
    }

    // MARK: - Making records

    /// Makes a record from the row. Returns nil if the row lacks the column of the kind.
    @inline(__always)
    func make(_ row: LiveRow) throws -> Record? {
        guard let column else { return nil }
        let entry = try entry(of: row, column)
        begin(entry, row)
        if let coding = entry.pointee.coding, !entry.pointee.isPlain,
            let made = try make(entry, row, by: coding)
        {
            return made
        }
        return try entry.pointee.type.init(row: Row(row))
    }

    private func make(
        _ entry: UnsafeMutablePointer<Entry>, _ row: LiveRow, by coding: Unretained<ClassCoding>
    ) throws -> Record? {
        let made = try coding.use { try $0.make(entry.pointee.type, of: row) }
        // The coding sets `plainElement` if `init(row:)` makes the records of such rows. But this
        // holds only for this class, not for the others.
        if row.storage.pointee.plainElement != nil {
            row.storage.pointee.plainElement = nil
            entry.pointee.isPlain = true
        }
        return made
    }

    @inline(__always)
    private func entry(of row: LiveRow, _ column: Int) throws -> UnsafeMutablePointer<Entry> {
        let kind = row.value(at: column).view
        if case .null = kind, let rest { return rest }
        if let current, current.pointee.isKind(kind) { return current }
        for index in entries.indices where entries[index].isKind(kind) {
            return entries.baseAddress.unsafelyUnwrapped + index
        }
        if let rest { return rest }
        throw asked.error(kind.databaseValue, Row(row))
    }

    /// Switches the row to its memory for a class.
    @inline(__always)
    private func begin(_ entry: UnsafeMutablePointer<Entry>, _ row: LiveRow) {
        if entry == current { return }
        row.storage.pointee.begin(entry.pointee.memory)
        current = entry
    }

    override func moveOut() {
        for index in entries.indices { entries[index].memory.pointee.moveOut() }
    }

    /// Learns the table of each class from the connection: see `LiveRow.learnTable(of:)`.
    func learnTables(of row: LiveRow) throws {
        defer {
            row.storage.pointee.begin(row.storage.pointee.ownElements)
            current = nil
        }
        for index in entries.indices {
            begin(entries.baseAddress.unsafelyUnwrapped + index, row)
            try row.learnTable(of: entries[index].type)
        }
    }
}

extension LiveRow {
    /// Learns the tables of a class and of its kinds from the connection. Records may be made from
    /// the row later, when the connection cannot be asked.
    func learnTables(of type: Record.Type) throws {
        if let reader = try KindReader.of(type, reading: self) {
            try reader.use { try $0.learnTables(of: self) }
        }
        try learnTable(of: type)
    }
}
