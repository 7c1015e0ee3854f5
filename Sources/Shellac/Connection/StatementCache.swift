/// The statements that a connection keeps prepared, by their SQL. The least recently used ones go first.
///
/// A statement is in use as long as anybody else holds it: then whoever asks for the same SQL gets a
/// statement of their own.
final class StatementCache {
    private struct Entry {
        var statement: Statement
        var lastUse: UInt64
    }

    private let capacity: Int
    @exclusivity(unchecked) private var entries: [String: Entry] = [:]
    @exclusivity(unchecked) private var clock: UInt64 = 0

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    /// The number of statements kept.
    var count: Int { entries.count }

    /// A kept statement that nobody uses.
    func statement(for sql: String) -> Statement? {
        clock &+= 1
        guard let index = entries.index(forKey: sql) else { return nil }
        entries.values[index].lastUse = clock
        guard isKnownUniquelyReferenced(&entries.values[index].statement) else { return nil }
        return entries.values[index].statement
    }

    /// Keeps a statement, unless another one is kept for its SQL.
    func insert(_ statement: Statement, for sql: String) {
        guard entries[sql] == nil else { return }
        if entries.count >= capacity { evict() }
        entries[sql] = Entry(statement: statement, lastUse: clock)
    }

    func removeAll() { entries.removeAll() }

    /// Lets go of a quarter of the statements: those that were not used for the longest time.
    private func evict() {
        let old = entries.sorted { $0.value.lastUse < $1.value.lastUse }.prefix(max(1, capacity / 4))
        for (sql, _) in old { entries[sql] = nil }
    }
}
