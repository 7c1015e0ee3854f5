public import Shellac

/// An error that a test throws, and expects again.
public struct Boom: Error, Hashable, Sendable {
    public let number: Int
    public init(_ number: Int = 0) { self.number = number }
}

extension Database {
    /// Whether the connection still does what it should after a failure: it reads, it writes, it
    /// has no transaction open, and the file is sound.
    public func isUsable() throws -> Bool {
        guard !isInsideTransaction else { return false }
        try execute(sql: "CREATE TEMP TABLE usable (a); INSERT INTO usable VALUES (1)")
        let count = try Int.fetchOne(makeStatement(sql: "SELECT COUNT(*) FROM usable"))
        try execute(sql: "DROP TABLE usable")
        return try count == 1
            && String.fetchOne(makeStatement(sql: "PRAGMA integrity_check")) == "ok"
    }

    /// The numbers in the first column of a query.
    public func integers(_ sql: String) throws -> [Int?] { try Int?.fetchAll(makeStatement(sql: sql)) }
}
