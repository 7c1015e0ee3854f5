/// A counter of events that may change what a connection reads, for caches to compare.
struct ContentVersion: Equatable {
    /// The number of statements that wrote, or rolled back.
    private(set) var changes: UInt64 = 0
    /// The number of statements that opened transactions. Each may make other connections' commits
    /// visible.
    private(set) var begins: UInt64 = 0

    /// Counts a statement that writes, or that opens or ends a transaction or a savepoint.
    mutating func note(_ effects: StatementEffects, isReadonly: Bool) {
        switch effects.transaction {
        case .begin, .savepoint: begins &+= 1
        case .rollback, .rollbackTo: changes &+= 1
        case .commit, .release: break
        case nil: if !isReadonly { changes &+= 1 }
        }
    }
}

extension Database {
    /// Returns a number that changes when another connection has committed: see "PRAGMA
    /// data_version". It does not change inside of a transaction, or of a statement that writes.
    func dataVersion() throws -> Int64? {
        try dataVersion(of: "main")
    }

    /// Returns this number for one database.
    func dataVersion(of name: String) throws -> Int64? {
        try asking {
            try cachedStatement(sql: "PRAGMA \(name.quotedDatabaseIdentifier).data_version").readInteger()
        }
    }
}

extension Database {
    /// Whether another connection of the same group writes. This connection then reads for a pool
    /// or a snapshot.
    var readsBesideWriter: Bool { activity != nil }

    /// Returns the number of a database's schema, which grows with each committed change: see
    /// "PRAGMA schema_version".
    func schemaVersion(of name: String) throws -> Int64 {
        try asking {
            try cachedStatement(sql: "PRAGMA \(name.quotedDatabaseIdentifier).schema_version").readInteger()
                ?? 0
        }
    }
}
