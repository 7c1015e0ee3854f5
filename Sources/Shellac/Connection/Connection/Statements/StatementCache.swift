// The LRU cache of a connection's prepared statements, keyed by the bytes of their SQL.

import CSQLite

/// The cache of a connection's prepared statements, keyed by SQL. The least recently used ones are
/// removed first.
///
/// A statement is in use as long as anything else refers to it. A second request for the same SQL
/// then gets a new statement.
final class StatementCache {
    private final class Entry {
        let sql: String
        @exclusivity(unchecked) var statement: Statement
        var lastUse: UInt64

        init(sql: String, statement: Statement, lastUse: UInt64) {
            self.sql = sql
            self.statement = statement
            self.lastUse = lastUse
        }

        /// Returns the statement, unless it is in use.
        @inline(__always)
        func statement(at time: UInt64) -> Statement? {
            lastUse = time
            return isKnownUniquelyReferenced(&statement) ? statement : nil
        }
    }

    private let capacity: Int
    @exclusivity(unchecked) private var entries: [SQLText: Entry] = [:]
    private var clock: UInt64 = 0

    /// The entries found last, indexed by the raw bytes of their SQL: a line of code requests the
    /// same literal repeatedly. An entry keeps its SQL alive, so no other string can take its
    /// address. These entries are also in `entries`, and are not reference-counted here.
    @exclusivity(unchecked) private var recent: [Unretained<Entry>?] = Array(repeating: nil, count: 16)

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// Whether a cached statement may hold a large text or blob, which is only kept until the end
    /// of the access.
    var mayHoldLargeValues = false

    /// The number of cached statements.
    var count: Int { entries.count }

    /// Returns a cached statement that is not in use.
    func statement(for sql: String) -> Statement? {
        clock &+= 1
        let bits = NameBits(sql)
        let place = Int(truncatingIfNeeded: (bits.first ^ bits.second ^ bits.second >> 8) >> 4 & 15)
        if let found = recent[place], found.use({ NameBits($0.sql) == bits }) {
            return found.use { $0.statement(at: clock) }
        }
        guard let entry = entries[SQLText(sql)] else { return nil }
        if NameBits(entry.sql) == bits { recent[place] = Unretained(entry) }
        return entry.statement(at: clock)
    }

    /// The cached statements that are not in use.
    var idleStatements: [Statement] {
        entries.values.filter { isKnownUniquelyReferenced(&$0.statement) }.map(\.statement)
    }

    /// Caches a statement, unless another one is cached for its SQL.
    func insert(_ statement: Statement, for sql: String) {
        let text = SQLText(sql)
        guard entries[text] == nil else { return }
        if entries.count >= capacity { evict() }
        entries[text] = Entry(sql: sql, statement: statement, lastUse: clock)
    }

    /// Frees the arguments of the statements that are not in use.
    func releaseArguments() {
        for entry in entries.values where isKnownUniquelyReferenced(&entry.statement) {
            entry.statement.releaseArguments()
        }
    }

    func removeAll() {
        // Objects that a statement holds, such as arguments, may use the connection when they are
        // freed.
        let old = entries
        recent = Array(repeating: nil, count: recent.count)
        entries = [:]
        withExtendedLifetime(old) {}
    }

    /// Removes a quarter of the statements: those that were not used for the longest time.
    private func evict() {
        let old = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(max(1, capacity / 4))
        recent = Array(repeating: nil, count: recent.count)
        for (sql, _) in old { entries[sql] = nil }
        withExtendedLifetime(old) {}
    }
}

#if DEBUG
extension StatementCache: CheckedInvariants {
    var _violations: [String] {
        var violations: [String] = []
        violations.expect(count <= capacity, "\(count) statements are kept in a cache of \(capacity)")
        var seen: Set<ObjectIdentifier> = []
        for (text, entry) in entries {
            violations.expect(
                text == SQLText(entry.sql) && text == SQLText(entry.statement.sql),
                "the statement \(entry.statement.sql) is kept for the SQL \(text.sql)")
            violations.expect(
                entry.lastUse <= clock, "the last use of the statement \(text.sql) is in the future")
            violations.expect(
                seen.insert(ObjectIdentifier(entry.statement)).inserted,
                "the statement \(entry.statement.sql) is kept twice")
            violations.expect(
                !isKnownUniquelyReferenced(&entry.statement) || !entry.statement.isInUse,
                "the statement \(text.sql) is running, and would be handed out")
        }
        for entry in recent.compactMap(\.?.object) {
            violations.expect(
                entries[SQLText(entry.sql)] === entry,
                "the statement \(entry.sql) was found lately, but is not kept")
        }
        return violations
    }

    /// Caches a statement for another SQL than its own, to test the reported violations.
    func _corrupt(_ statement: Statement, for sql: String) {
        recent = Array(repeating: nil, count: recent.count)
        entries[SQLText(sql)] = Entry(sql: sql, statement: statement, lastUse: clock + 1)
    }
}
#endif

/// An owner of cached statements outside of this cache, in a slot of the connection.
protocol StatementKeeper: AnyObject {
    /// Frees the arguments of the statements that are not in use.
    func releaseArguments()

    /// The statements that are not in use.
    var idleStatements: [Statement] { get }
}

extension Database {
    /// Frees the arguments of all cached statements that are not in use.
    func releaseLargeArguments() {
        statementCache.mayHoldLargeValues = false
        statementCache.releaseArguments()
        for keeper in statementKeepers { keeper.releaseArguments() }
    }

    /// All cached statements that are not in use.
    var idleStatements: [Statement] {
        statementCache.idleStatements + statementKeepers.flatMap(\.idleStatements)
    }

    private var statementKeepers: [any StatementKeeper] {
        Slots.numbers.compactMap { slots.object(at: $0) as? any StatementKeeper }
    }
}

/// An SQL text, compared by its bytes: texts that are equivalent in Unicode may have different
/// meanings.
private struct SQLText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (a: Self, b: Self) -> Bool {
        // When a line of code requests its literal again, the raw bytes of the string are equal.
        if NameBits(a.sql) == NameBits(b.sql) { return true }
        guard a.sql.utf8.count == b.sql.utf8.count else { return false }
        let isEqual = a.sql.utf8.withContiguousStorageIfAvailable { a in
            b.sql.utf8.withContiguousStorageIfAvailable { b in
                guard let first = a.baseAddress, let second = b.baseAddress else { return true }
                return memcmp(first, second, a.count) == 0
            }
        }
        return isEqual.flatMap { $0 } ?? a.sql.utf8.elementsEqual(b.sql.utf8)
    }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = sql.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { for byte in sql.utf8 { hasher.combine(byte) } }
    }
}
