// The LRU cache of a connection's prepared statements, keyed by the bytes of their SQL.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The statements that a connection keeps prepared, by their SQL. The least recently used ones go first.
///
/// A statement is in use as long as anybody else holds it: then whoever asks for the same SQL gets a
/// statement of their own.
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

        /// Returns the statement, unless somebody uses it.
        @inline(__always)
        func statement(at time: UInt64) -> Statement? {
            lastUse = time
            return isKnownUniquelyReferenced(&statement) ? statement : nil
        }
    }

    private let capacity: Int
    @exclusivity(unchecked) private var entries: [SQLText: Entry] = [:]
    private var clock: UInt64 = 0

    /// The entries found last, each at a place that the raw bytes of its SQL tell: a line of code asks for the
    /// same literal again and again. An entry keeps its SQL alive, so that no other can take its address. They are among
    /// `entries`, and followed without counting.
    @exclusivity(unchecked) private var recent: [Unretained<Entry>?] = Array(repeating: nil, count: 16)

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// Whether a kept statement may hold a large text or blob: it is not kept longer than an access.
    var mayHoldLargeValues = false

    /// The number of statements kept.
    var count: Int { entries.count }

    /// Returns a kept statement that nobody uses.
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

    /// The kept statements that nobody uses.
    var idleStatements: [Statement] {
        entries.values.filter { isKnownUniquelyReferenced(&$0.statement) }.map(\.statement)
    }

    /// Keeps a statement, unless another one is kept for its SQL.
    func insert(_ statement: Statement, for sql: String) {
        let text = SQLText(sql)
        guard entries[text] == nil else { return }
        if entries.count >= capacity { evict() }
        entries[text] = Entry(sql: sql, statement: statement, lastUse: clock)
    }

    /// Frees the arguments of the statements that nobody uses.
    func releaseArguments() {
        for entry in entries.values where isKnownUniquelyReferenced(&entry.statement) {
            entry.statement.releaseArguments()
        }
    }

    func removeAll() {
        // An object that a statement holds, such as an argument, may use the connection when it is freed.
        let old = entries
        recent = Array(repeating: nil, count: recent.count)
        entries = [:]
        withExtendedLifetime(old) {}
    }

    /// Lets go of a quarter of the statements: those that were not used for the longest time.
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
        violations.expect(count <= capacity, "\(count) statements are kept in the room of \(capacity)")
        var seen: Set<ObjectIdentifier> = []
        for (text, entry) in entries {
            violations.expect(
                text == SQLText(entry.sql) && text == SQLText(entry.statement.sql),
                "the statement \(entry.statement.sql) is kept for the SQL \(text.sql)")
            violations.expect(entry.lastUse <= clock, "the statement \(text.sql) will be used yet")
            violations.expect(
                seen.insert(ObjectIdentifier(entry.statement)).inserted,
                "the statement \(entry.statement.sql) is kept twice")
            violations.expect(
                !isKnownUniquelyReferenced(&entry.statement) || !entry.statement.isInUse,
                "the statement \(text.sql) is running, and is to be handed out")
        }
        for entry in recent.compactMap(\.?.object) {
            violations.expect(
                entries[SQLText(entry.sql)] === entry,
                "the statement \(entry.sql) was found lately, and is not kept")
        }
        return violations
    }

    /// Keeps a statement for another SQL than its own, so that tests see what is said of it.
    func _corrupt(_ statement: Statement, for sql: String) {
        recent = Array(repeating: nil, count: recent.count)
        entries[SQLText(sql)] = Entry(sql: sql, statement: statement, lastUse: clock + 1)
    }
}
#endif

/// A keeper of statements elsewhere than in the cache: in a slot of the connection.
protocol StatementKeeper: AnyObject {
    /// Frees the arguments of the statements that nobody uses.
    func releaseArguments()

    /// The statements that nobody uses.
    var idleStatements: [Statement] { get }
}

extension Database {
    /// Frees the arguments of all kept statements that nobody uses.
    func releaseLargeArguments() {
        statementCache.mayHoldLargeValues = false
        statementCache.releaseArguments()
        for keeper in statementKeepers { keeper.releaseArguments() }
    }

    /// All kept statements that nobody uses.
    var idleStatements: [Statement] {
        statementCache.idleStatements + statementKeepers.flatMap(\.idleStatements)
    }

    private var statementKeepers: [any StatementKeeper] {
        Slots.numbers.compactMap { slots.object(at: $0) as? any StatementKeeper }
    }
}

/// An SQL text, compared by its bytes: texts that are equivalent for Unicode may mean different things.
private struct SQLText: Hashable {
    let sql: String

    init(_ sql: String) { self.sql = sql }

    static func == (a: Self, b: Self) -> Bool {
        // The raw bytes of a string are equal when a line of code asks for its literal again.
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
