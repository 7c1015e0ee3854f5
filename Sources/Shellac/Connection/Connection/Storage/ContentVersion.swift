/// Counts what may change what a connection reads: whoever keeps what was read compares it.
struct ContentVersion: Equatable {
    /// The statements that wrote, or rolled back.
    private(set) var changes: UInt64 = 0
    /// The statements that opened transactions, from which on other connections' commits may be seen.
    private(set) var begins: UInt64 = 0

    /// Notes that a statement runs which writes, or opens or ends a transaction or a savepoint.
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
    /// Returns a number that changes when another connection has committed: see "PRAGMA data_version". Inside of a
    /// transaction, or of a statement that writes, it stays the same.
    func dataVersion() throws -> Int64? {
        try dataVersion(of: "main")
    }

    /// Returns such a number of one database.
    func dataVersion(of name: String) throws -> Int64? {
        try asking {
            try cachedStatement(sql: "PRAGMA \(name.quotedDatabaseIdentifier).data_version").readInteger()
        }
    }
}

extension Database {
    /// Whether another connection of the same group writes: this one is a reader of a pool, or of a snapshot.
    var readsBesideWriter: Bool { activity != nil }

    /// The number of a database's schema, which each committed change raises: see "PRAGMA schema_version".
    func schemaVersion(of name: String) throws -> Int64 {
        try asking {
            try cachedStatement(sql: "PRAGMA \(name.quotedDatabaseIdentifier).schema_version").readInteger()
                ?? 0
        }
    }
}
