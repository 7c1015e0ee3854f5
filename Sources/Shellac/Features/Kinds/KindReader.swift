/// Makes records from the rows of a statement, each of the class that its row names.
///
/// ## The life of a row
///
/// A fetch of records of a class with kinds comes here for each row: see `makeByCoding(of:)`. The
/// reader reads the column once. It compares the value first with the kind of the previous row, and
/// then with all others. If the class changes, the reader switches the row to the memory of that
/// class: see ``ElementMemory``.
final class KindReader: ClassReader {
    private let kind: ClassKind
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

    init(_ kind: ClassKind, _ row: LiveRow) {
        self.kind = kind
        column = row.layout.column(named: kind.column)
        let hasRest = kind.isBase && kind.unknown == .base
        entries = .allocate(capacity: kind.classes.count + (hasRest ? 1 : 0))
        for (index, one) in kind.classes.enumerated() {
            entries.initializeElement(at: index, to: Entry(one.type, one.kind))
        }
        rest = hasRest ? entries.baseAddress.map { $0 + kind.classes.count } : nil
        rest?.initialize(to: Entry(kind.type, .null))
        super.init(kind.type)
    }

    deinit {
        entries.deinitialize()
        entries.deallocate()
    }

    // MARK: - Making records

    override func make(_ row: LiveRow) throws -> Record? {
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
        let value = row.value(at: column).view
        if case .null = value, let rest { return rest }
        if let current, current.pointee.isKind(value) { return current }
        for index in entries.indices where entries[index].isKind(value) {
            return entries.baseAddress.unsafelyUnwrapped + index
        }
        if let rest { return rest }
        throw kind.error(value.databaseValue, Row(row))
    }

    /// Switches the row to its memory for a class.
    @inline(__always)
    private func begin(_ entry: UnsafeMutablePointer<Entry>, _ row: LiveRow) {
        if entry == current { return }
        row.storage.pointee.begin(entry.pointee.memory)
        current = entry
    }

    override func invalidate() {
        for index in entries.indices { entries[index].memory.pointee.invalidate() }
    }

    override func learnTables(of row: LiveRow) throws {
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
