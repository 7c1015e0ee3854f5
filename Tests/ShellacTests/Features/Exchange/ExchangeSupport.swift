import TestSupport

@testable import Shellac

/// A database in memory with a table `t`, made by some SQL.
func exchangeQueue(_ sql: String) throws -> DatabaseQueue {
    let queue = try DatabaseQueue()
    try queue.write { db in try db.execute(sql: sql) }
    return queue
}

extension Database {
    /// Returns the text that an export of a table writes.
    func exported(_ table: String, as format: ExchangeFormat = .csv) throws -> String {
        var bytes: [UInt8] = []
        try exportRows(of: table, to: .chunks { bytes += $0 }, as: format)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The rows of a query as SQL literals, with bars between values.
    func literals(_ sql: String) throws -> [String] {
        try Row.fetchAll(self, sql: sql).map { row in
            row.databaseValues.map(\.debugDescription).joined(separator: "|")
        }
    }
}

/// The description of the error that a function throws, or nil.
func thrown(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
}
