// A cache of the statements that save records of a type, by the columns that the records encode.

/// The statements by their columns, sorted by name.
///
/// A record that encodes the same columns in another order uses the same statements.
struct StatementsByColumns {
    private struct Entry {
        let statements: RecordStatements
        var lastUse: UInt64 = 0
    }
    private var entries: [ExactNames: Entry] = [:]
    /// The number of sets of columns whose statements are kept. Records that encode a dictionary
    /// may each have other columns.
    private static var maximumCount: Int { 64 }
    /// The number of times that statements were looked up.
    private var lookUps: UInt64 = 0
    var count: Int { entries.count }

    /// Returns the statements of the given columns.
    ///
    /// - Parameter make: Makes them, if there are none.
    /// - Returns: Also the statements that were used least recently, if the cache was full. Records
    ///   that are being saved may still use them.
    mutating func find(
        _ names: [String], _ make: ([String]) -> RecordStatements
    ) -> (statements: RecordStatements, forgotten: RecordStatements?) {
        let key = ExactNames(names).sorted
        var (entry, forgotten) = (entries[key], nil as RecordStatements?)
        if entry == nil, entries.count >= Self.maximumCount,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            forgotten = oldest.value.statements
            entries[oldest.key] = nil
        }
        let statements = entry?.statements ?? make(names)
        lookUps += 1
        entry = Entry(statements: statements, lastUse: lookUps)
        entries[key] = entry
        return (statements, forgotten)
    }
}
