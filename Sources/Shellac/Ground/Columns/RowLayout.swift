// The metadata that the rows of a statement share: column names, their lookup, affinities.

import Synchronization

/// What all rows of a statement have in common: the names of their columns, and the SQL.
///
/// Names match without regard to the case of ASCII letters, and the leftmost of duplicates wins.
@usableFromInline
final class RowLayout: Sendable {
    @usableFromInline let names: [String]

    /// The raw bytes of the names. Duplicates, and the place behind the last column, have bits that no name has.
    @usableFromInline nonisolated(unsafe) let bits: UnsafePointer<NameBits>  // never written

    /// The SQL of the statement, for errors. Nil for a row that no statement gave.
    let sql: String?

    /// What the columns of a record's own table do to the values that are stored in them. Nil where it is not known,
    /// as it is of a column that the table lacks.
    let affinities: [ColumnAffinity?]

    /// The columns of the primary key of a record's own table, which may not be among these. Empty where they are not
    /// known.
    let key: KeyColumns

    /// What a record holds in columns that it never read, for an upper layer: see `UnreadColumns`. It never changes.
    nonisolated(unsafe) let unread: AnyObject?

    /// The rows of other tables that came with the only row of the layout: see `AttachedRows`.
    nonisolated(unsafe) let attached: AnyObject?  // changed before the row is handed out alone

    /// The class of which all records that were made of such rows have read all that they encode. 0 until one is known.
    let completeType = Atomic<UInt>(0)

    /// A class of records and a number of up to three bits that says how its columns are told, for an upper layer: see
    /// `ColumnStyle`. 0 until a record was encoded as these columns.
    let columnStyle = Atomic<UInt>(0)

    /// What notes the names that are looked for in vain. Nil, but for a row that is made to see what is asked of it.
    let missed: MissedNames?

    /// What is learnt of the columns when it is first asked.
    private struct Learnt {
        /// The columns by name, for rows that are too wide for a search from left to right.
        var index: [CaseInsensitiveName: Int]?
        /// The columns of the primary keys of the tables of classes, which have made records of such rows.
        var keys: [UInt: KeyColumns] = [:]
        /// Whether the SQL names the tables of types.
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
            // A few names are compared faster than they are hashed.
            let isDuplicate =
                names.count <= Self.fewColumns
                ? names[..<column].contains { CaseInsensitiveName.matches($0, name) }
                : !seen.insert(CaseInsensitiveName(name)).inserted
            (bits + column).initialize(to: isDuplicate ? NameBits() : NameBits(name))
        }
        (bits + names.count).initialize(to: NameBits())
        self.bits = UnsafePointer(bits)
    }

    /// How many columns are searched from left to right.
    private static var fewColumns: Int { 12 }

    deinit { bits.deallocate() }

    /// The number of columns.
    let count: Int

    /// What a column does to values, where it is known.
    func affinity(ofColumn column: Int) -> ColumnAffinity? {
        affinities.indices.contains(column) ? affinities[column] : nil
    }

    /// The column that was found last: code that reads rows by name asks for the same ones in the same order, and often
    /// for each twice. It is only a guess.
    private let lastFound = Atomic<Int>(0)

    /// The leftmost column of this name.
    @usableFromInline
    func column(named name: String) -> Int? {
        // A name that is spelled as the column's is found by its raw bytes, unless it is long.
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

    /// Whether another layout has the same names to the last byte, in the same order.
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

    /// The columns of the primary key of a class's own table. Nil where they were not learnt.
    func learntKey(ofClass identifier: UInt) -> KeyColumns? { learnt.withLock { $0.keys[identifier] } }

    /// Whether the SQL names the table of a type. Where there is no SQL, nobody knows better.
    func namesTable(ofType identifier: UInt, _ table: () -> String) -> Bool {
        guard let sql else { return true }
        if let known = learnt.withLock({ $0.tables[identifier] }) { return known }
        // (The type of the user tells its table, and may look at such rows meanwhile.)
        let table = CaseInsensitiveName(table())
        let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
        let isNamed = words.contains { CaseInsensitiveName(String($0)) == table }
        learnt.withLock { $0.tables[identifier] = isNamed }
        return isNamed
    }

    /// Notes the columns of the primary key of a class's own table.
    func learnKey(_ key: KeyColumns, ofClass identifier: UInt) {
        learnt.withLock { $0.keys[identifier] = key }
    }
}
