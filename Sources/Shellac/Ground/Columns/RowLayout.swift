// The metadata that the rows of a statement share: column names, their lookup, affinities.

import Synchronization

/// The common metadata of a statement's rows: the names of their columns, and the SQL.
///
/// The case of ASCII letters in names does not matter. Of duplicates, the leftmost wins.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline let names: [String]

    /// The raw bytes of the names. Duplicates, and the place behind the last column, have bits that
    /// no name has.
    @usableFromInline nonisolated(unsafe) let bits: UnsafePointer<NameBits>  // never written

    /// The SQL of the statement, for errors. Nil for a row that does not come from a statement.
    let sql: String?

    /// The affinities of the columns of a record's own table. Nil if unknown, as for a column that
    /// the table lacks.
    let affinities: [ColumnAffinity?]

    /// The primary key of a record's own table. Its columns may not be among these columns. Empty
    /// if the key is unknown.
    let key: KeyColumns

    /// A record's values for columns that it never read, for an upper layer: see `UnreadColumns`.
    /// The object never changes.
    nonisolated(unsafe) let unread: AnyObject?

    /// The rows of other tables that were fetched with the only row of this layout: see
    /// `AttachedRows`.
    nonisolated(unsafe) let attached: AnyObject?  // only changed before the row is handed out

    /// A class whose records, when created from such rows, have read all the columns they encode. 0
    /// until one is known.
    let completeType = Atomic<UInt>(0)

    /// A class of records, with up to three bits for how it declares its columns, for an upper
    /// layer: see `ColumnStyle`. 0 until a record was encoded as these columns.
    let columnStyle = Atomic<UInt>(0)

    /// A collector of the names that are looked up in vain. Only set for a row that exists to
    /// detect which columns are read.
    let missed: MissedNames?

    /// Facts about the columns that are computed when first needed.
    private struct Learnt {
        /// The columns by name, for rows that are too wide for a linear search.
        var index: [CaseInsensitiveName: Int]?
        /// The primary keys of the tables of the classes that have created records from such rows.
        var keys: [UInt: KeyColumns] = [:]
        /// For each type, whether the SQL mentions its table.
        var tables: [UInt: Bool] = [:]
    }
    private let learnt = Lock(Learnt())

    @usableFromInline
    convenience init(names: [String], sql: String?) { self.init(names: names, sql: sql, affinities: []) }

    init(
        names: [String], sql: String?, affinities: [ColumnAffinity?], key: KeyColumns = .none,
        unread: AnyObject? = nil, missed: MissedNames? = nil, attached: AnyObject? = nil
    ) {
        self.names = names
        self.sql = sql
        self.affinities = affinities
        self.key = key
        self.unread = unread
        self.missed = missed
        self.attached = attached
        count = names.count
        let bits = UnsafeMutablePointer<NameBits>.allocate(capacity: names.count + 1)
        var seen: Set<CaseInsensitiveName> = []
        for (column, name) in names.enumerated() {
            // Comparing a few names is faster than hashing them.
            let isDuplicate =
                names.count <= Self.fewColumns
                ? names[..<column].contains { CaseInsensitiveName.matches($0, name) }
                : !seen.insert(CaseInsensitiveName(name)).inserted
            (bits + column).initialize(to: isDuplicate ? NameBits() : NameBits(name))
        }
        (bits + names.count).initialize(to: NameBits())
        self.bits = UnsafePointer(bits)
    }

    /// Creates the layout of one row, which rows of other tables were fetched with.
    init(_ other: RowLayout, attached: AnyObject) {
        (names, sql, count) = (other.names, other.sql, other.count)
        (affinities, key, unread, missed) = ([], .none, nil, nil)
        self.attached = attached
        let bits = UnsafeMutablePointer<NameBits>.allocate(capacity: count + 1)
        bits.initialize(from: other.bits, count: count + 1)
        self.bits = UnsafePointer(bits)
    }

    /// The maximum number of columns for a linear search.
    private static var fewColumns: Int { 12 }

    deinit { bits.deallocate() }

    /// The number of columns.
    let count: Int

    /// Returns the affinity of a column, if it is known.
    func affinity(ofColumn column: Int) -> ColumnAffinity? {
        affinities.indices.contains(column) ? affinities[column] : nil
    }

    /// The column that was found last. It is only a guess: code that reads rows by name requests
    /// the same names in the same order, and often each of them twice.
    private let lastFound = Atomic<Int>(0)

    /// Returns the leftmost column with the given name.
    @usableFromInline
    func column(named name: String) -> Int? {
        // A name that is spelled exactly as the column's is found by its raw bytes, unless it is
        // long.
        let wanted = NameBits(name)
        let guess = lastFound.load(ordering: .relaxed)
        if bits[guess] == wanted { return guess }
        if guess < count, bits[guess &+ 1] == wanted {
            lastFound.store(guess &+ 1, ordering: .relaxed)
            return guess &+ 1
        }
        if let column = firstColumn(wanted) {
            lastFound.store(column, ordering: .relaxed)
            return column
        }
        return search(name)
    }

    private func firstColumn(_ wanted: NameBits) -> Int? {
        for column in 0..<min(count, Self.fewColumns) where bits[column] == wanted { return column }
        return nil
    }

    @inline(never)
    private func search(_ name: String) -> Int? {
        let column = find(name)
        if column == nil, let missed { missed.note(name) }
        return column
    }

    /// Whether another layout has the same names in the same order, byte for byte.
    func hasExactNames(of other: RowLayout) -> Bool {
        self === other || ExactNames(names) == ExactNames(other.names)
    }

    private func find(_ name: String) -> Int? {
        if count <= Self.fewColumns { return names.firstIndex { CaseInsensitiveName.matches($0, name) } }
        return learnt.withLock { learnt in
            if learnt.index == nil {
                let columns = names.enumerated().map { (CaseInsensitiveName($1), $0) }
                learnt.index = Dictionary(columns, uniquingKeysWith: { leftmost, _ in leftmost })
            }
            return learnt.index?[CaseInsensitiveName(name)]
        }
    }

    /// Returns the primary key of a class's own table. Nil if it was not stored yet.
    func learntKey(ofClass identifier: UInt) -> KeyColumns? { learnt.withLock { $0.keys[identifier] } }

    /// Whether the SQL mentions the table of a type. True if the SQL is unknown.
    func namesTable(ofType identifier: UInt, _ table: () -> String) -> Bool {
        guard let sql else { return true }
        if let known = learnt.withLock({ $0.tables[identifier] }) { return known }
        // (The lock is not held here: the user's type returns its table, and may read such rows
        // meanwhile.)
        let table = CaseInsensitiveName(table())
        let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
        let isNamed = words.contains { CaseInsensitiveName(String($0)) == table }
        learnt.withLock { $0.tables[identifier] = isNamed }
        return isNamed
    }

    /// Stores the primary key of a class's own table.
    func learnKey(_ key: KeyColumns, ofClass identifier: UInt) {
        learnt.withLock { $0.keys[identifier] = key }
    }
}
