/// Makes records of the rows of a statement, each of the class that its row tells.
///
/// ## The life of a row
///
/// Whoever fetches records of a class that has kinds comes here for each row: see `makeByCoding(of:)`. The column is read
/// once, and compared with the kind of the row before, and then with all others. Where the class is another one, the row is
/// pointed to what it knows of that class: see ``ElementMemory``.
final class KindReader: ElementMaker {
    /// The class that is asked for.
    private let asked: ClassKind
    /// The column of the row that tells the class. Nil where the row lacks it.
    private let column: Int?
    /// What the rows are made records of: the kinds, and behind them the class of all that is unknown, where there is one.
    private let entries: UnsafeMutableBufferPointer<Entry>
    /// The entry of unknown kinds, and that of the last row.
    private let rest: UnsafeMutablePointer<Entry>?
    @exclusivity(unchecked) private var current: UnsafeMutablePointer<Entry>?

    /// A class whose records are made.
    private struct Entry: ~Copyable {
        let type: Record.Type
        let coding: Unretained<ClassCoding>?
        /// The kind, as a text, or as an integer.
        private let text: UnsafeBufferPointer<UInt8>?
        private let integer: Int64?
        /// Whether the class is made by `init(row:)`, though it is coded.
        var isPlain = false
        /// What the row knows of the class.
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

    /// Returns what makes records of a class of a row. Nil where the rows of the class's table are of one class.
    ///
    /// - Throws: a ``DatabaseError`` where the class's kinds cannot be meant.
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

    /// Makes a record of the row. Returns nil where the row does not tell its class.
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
        // What codes the class says so where its records are made of such rows by `init(row:)`. All are not.
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

    /// Has the row know what it knows of a class.
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
    /// Learns the tables of a class and of its kinds from the connection, for records that are made of the row later, where nobody
    /// can ask it.
    func learnTables(of type: Record.Type) throws {
        if let reader = try KindReader.of(type, reading: self) {
            try reader.use { try $0.learnTables(of: self) }
        }
        try learnTable(of: type)
    }
}
