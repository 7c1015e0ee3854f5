/// The amount of work that the workloads do. All counts follow from the number of rows.
struct Scale: Sendable {
    /// The rows of each table: 200,000.
    let rows: Int
    /// Rows written in one run: 50,000.
    var insertions: Int { max(1, rows / 4) }
    /// Queries made in one run: 100,000.
    var queries: Int { max(1, rows / 2) }
    /// Transactions that write, made in one run: 1,000.
    var transactions: Int { max(1, rows / 200) }
    /// Records that are asked again and again whether they have changes: 1,000.
    var hotRecords: Int { min(rows, 1000) }
    /// Empty accesses made in one run: 1,000,000.
    var accesses: Int { rows * 5 }

    /// The ids of players for queries by key: few enough that SQLite has their pages at hand.
    func hotID(_ query: Int) -> Int64 { Int64(1 + (query &* 7919) % min(rows, 1000)) }
}
