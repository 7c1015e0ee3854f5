/// Makes records of the rows of a statement, each of the class that its row tells.
///
/// ## The life of a row
///
/// Whoever fetches records of a class that has kinds comes here for each row: see `makeByCoding(of:)`. The column is compared
/// with the kind of the row before, and then with all others. What the row knows of the class's records is exchanged where the class is
/// another one: see ``ElementMemory``.
final class KindReader {
    /// The class that is asked for.
    private let asked: ClassKind
    /// The column of the row that tells the class. Nil where the row lacks it.
    private let column: Int?
    private var entries: [Entry] = []
    /// The entry of the last row.
    @exclusivity(unchecked) private var current: Entry?

    /// A class whose records are made.
    private final class Entry {
        let type: Record.Type
        let coding: Unretained<ClassCoding>?
        /// The kind, as a text, or as an integer.
        let text: [UInt8]?
        let integer: Int64?
        @exclusivity(unchecked) var memory = ElementMemory()

        init(_ type: Record.Type, _ kind: DatabaseValue) {
            self.type = type
            coding = ClassCoding.of(type)
            switch kind.storage {
            case .string(let kind): (text, integer) = (Array(kind.utf8), nil)
            case .int64(let kind): (text, integer) = (nil, kind)
            case .null, .double, .blob: (text, integer) = (nil, nil)
            }
        }

        @inline(__always)
        func isKind(_ value: borrowing SQLiteValue) -> Bool {
            switch value.view {
            case .text(let bytes): text?.hasSameBytes(as: bytes) ?? false
            case .integer(let number): number == integer
            case .null, .real, .blob: false
            }
        }
    }

    /// Returns what makes records of a class of a row. Nil where the rows of the class's table are of one class.
    ///
    /// - Throws: a ``DatabaseError`` where the class's kinds cannot be meant.
    static func of(_ type: Record.Type, reading row: LiveRow) throws -> KindReader? {
        let known = row.storage.pointee.kinds.map { unsafeDowncast($0, to: KindReader.self) }
        if let known, known.asked.type == type { return known }
        guard let kind = ClassKind.of(type) else { return nil }
        try FirstUse.check(type)
        known?.leave(row)
        let reader = KindReader(kind, row)
        row.storage.pointee.plainElement = nil
        row.storage.pointee.kinds = reader
        return reader
    }

    private init(_ asked: ClassKind, _ row: LiveRow) {
        self.asked = asked
        column = row.layout.column(named: asked.column)
    }

    // MARK: - Making records

    /// Makes a record of the row. Returns nil where the row does not tell its class.
    func make(_ row: LiveRow) throws -> Record? {
        guard let column else { return nil }
        let entry = try entry(of: row, column)
        begin(entry, row)
        // What codes the class says that its records are made of such rows by `init(row:)`: all of them are not.
        defer { row.storage.pointee.plainElement = nil }
        if let coding = entry.coding, let made = try coding.use({ try $0.make(entry.type, of: row) }) {
            return made
        }
        return try entry.type.init(row: Row(row))
    }

    @inline(__always)
    private func entry(of row: LiveRow, _ column: Int) throws -> Entry {
        if let current, current.isKind(row.value(at: column)) { return current }
        return try otherEntry(of: row, column)
    }

    @inline(never)
    private func otherEntry(of row: LiveRow, _ column: Int) throws -> Entry {
        for entry in entries where entry.isKind(row.value(at: column)) { return entry }
        let kind = row.value(at: column).view.databaseValue
        guard let type = asked.type(of: kind), type.isSubclass(of: asked.type) else {
            throw asked.error(kind, Row(row))
        }
        // All kinds that are unknown have one entry.
        let isListed = asked.listed.contains { $0.kind == kind }
        if !isListed, let entry = entries.first(where: { $0.text == nil && $0.integer == nil }) {
            return entry
        }
        let entry = Entry(type, isListed ? kind : .null)
        entries.append(entry)
        return entry
    }

    /// Has the row know what it knew of a class.
    @inline(__always)
    private func begin(_ entry: Entry, _ row: LiveRow) {
        if entry === current { return }
        current?.memory.exchange(with: row)
        entry.memory.exchange(with: row)
        current = entry
    }

    /// Forgets what the row knew of the classes.
    private func leave(_ row: LiveRow) {
        current?.memory.exchange(with: row)
        current = nil
    }

    /// Learns the table of each class from the connection: see `LiveRow.learnTable(of:)`.
    func learnTables(of row: LiveRow) throws {
        defer { leave(row) }
        var classes = asked.classes
        if asked.isBase, asked.unknown == .base {
            classes.append(DatabaseKinds.Listed(kind: .null, type: asked.type))
        }
        for listed in classes {
            let entry = Entry(listed.type, listed.kind)
            entries.append(entry)
            begin(entry, row)
            try row.learnTable(of: listed.type)
        }
    }
}

extension LiveRow {
    /// Learns the tables of a class and of its kinds from the connection, for records that are made of the row later, where nobody
    /// can ask it.
    func learnTables(of type: Record.Type) throws {
        if let reader = try KindReader.of(type, reading: self) { try reader.learnTables(of: self) }
        try learnTable(of: type)
    }
}
