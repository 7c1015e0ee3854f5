import TestSupport
import Testing

@Suite("Refused commits")
struct RefusedCommitTests {
    /// The reasons for which SQLite refuses a commit.
    enum Refusal: String, CaseIterable {
        /// A deferred foreign key has no parent.
        case foreignKey
        /// Another connection reads, and the journal mode is not WAL.
        case reader

        var message: String { self == .foreignKey ? "FOREIGN KEY constraint failed" : "database is locked" }
        var code: ResultCode { self == .foreignKey ? .SQLITE_CONSTRAINT_FOREIGNKEY : .SQLITE_BUSY }
        var number: Int { self == .foreignKey ? 19 : 5 }

        /// Runs a body in which a commit of `violate(_:)` is refused.
        func run(_ body: (DatabaseQueue) throws -> Void) throws {
            let file = try TemporaryDatabase()
            let queue = try file.queue()
            try queue.inDatabase { db in
                try db.execute(
                    sql: """
                        CREATE TABLE pet (playerID INTEGER REFERENCES player(id) DEFERRABLE INITIALLY DEFERRED)
                        """)
            }
            guard self == .reader else { return try body(queue) }
            let reader = try file.queue()
            try reader.read { db in
                _ = try db.names()
                try body(queue)
            }
        }

        func violate(_ db: Database) throws {
            try db.insert("Arthur")
            if self == .foreignKey { try db.execute(sql: "INSERT INTO pet VALUES (1000)") }
        }
    }

    @Test(
        "A transaction whose commit is refused is rolled back, and throws the commit's error", .behaviour(45),
        arguments: TransactionScope.allCases, Refusal.allCases)
    func scopes(scope: TransactionScope, refusal: Refusal) throws {
        try refusal.run { queue in
            let error = #expect(throws: DatabaseError.self) {
                try scope.run(queue) { db in try refusal.violate(db) }
            }
            #expect(error?.extendedResultCode == refusal.code)
            #expect(
                error?.description == "SQLite error \(refusal.number): \(refusal.message) - "
                    + "while executing `COMMIT TRANSACTION`")
            try queue.inDatabase { db in
                let names = try db.names()
                #expect(names == [] && !db.isInsideTransaction)
            }
        }
    }

    @Test(
        "A refused commit that is not ours leaves the transaction open, and says so", .behaviour(45),
        arguments: ["COMMIT", "END", nil], Refusal.allCases)
    func raw(sql: String?, refusal: Refusal) throws {
        func commit(_ db: Database) throws {
            if let sql { try db.execute(sql: sql) } else { try db.commit() }
        }
        try refusal.run { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN")
                try refusal.violate(db)
                let error = #expect(throws: DatabaseError.self) { try commit(db) }
                #expect(
                    error?.description
                        == "SQLite error \(refusal.number): \(refusal.message) (the transaction is still open) - "
                        + "while executing `\(sql ?? "COMMIT TRANSACTION")`")
                #expect(error?.extendedResultCode == refusal.code)
                #expect(db.isInsideTransaction)
                #expect(try db.names() == ["Arthur"])
                if refusal == .foreignKey {
                    try db.execute(sql: "DELETE FROM pet")
                    try commit(db)
                } else {
                    try db.rollback()
                }
                #expect(!db.isInsideTransaction)
            }
            #expect(try queue.names() == (refusal == .foreignKey ? ["Arthur"] : []))
        }
    }

    @Test(
        "A raw commit that is refused and not caught is rolled back by the end of its access", .behaviour(45),
        arguments: Refusal.allCases)
    func rawInScope(refusal: Refusal) throws {
        try refusal.run { queue in
            for scope in TransactionScope.allCases {
                let error = #expect(throws: DatabaseError.self) {
                    try scope.run(queue) { db in
                        try refusal.violate(db)
                        try db.execute(sql: "COMMIT")
                    }
                }
                #expect(error?.message == "\(refusal.message) (the transaction is still open)", "\(scope)")
                let names = try queue.names()
                #expect(names == [], "\(scope)")
            }
        }
    }

    @Test(
        "A raw commit that is refused and caught is tried again by its scope", .behaviour(45),
        arguments: TransactionScope.allCases)
    func rawCaught(scope: TransactionScope) throws {
        try Refusal.foreignKey.run { queue in
            try scope.run(queue) { db in
                try Refusal.foreignKey.violate(db)
                expectError("FOREIGN KEY constraint failed (the transaction is still open)") {
                    try db.execute(sql: "COMMIT")
                }
                try db.execute(sql: "DELETE FROM pet")
            }
            #expect(try queue.names() == ["Arthur"])
        }
    }

    @Test(
        "The RELEASE of an outermost savepoint is a commit: refused, it says that the transaction is open",
        .behaviour(45)
    )
    func release() throws {
        try Refusal.foreignKey.run { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "SAVEPOINT a")
                try Refusal.foreignKey.violate(db)
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "RELEASE a") }
                #expect(
                    error?.description == "SQLite error 19: FOREIGN KEY constraint failed "
                        + "(the transaction is still open) - while executing `RELEASE a`")
                #expect(db.isInsideTransaction)
                try db.execute(sql: "DELETE FROM pet; RELEASE a")
                #expect(!db.isInsideTransaction)
            }
            #expect(try queue.names() == ["Arthur"])
        }
    }

    @Test("A commit is refused while a statement writes, and the transaction is rolled back")
    func writingCursor() throws {
        let queue = try DatabaseQueue.withPlayers()
        var kept: DatabaseCursor<Int64>?
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                let cursor = try Int64.fetchCursor(
                    db, sql: "INSERT INTO player (name) VALUES ('Arthur'), ('Barbara') RETURNING id")
                #expect(try cursor.next() == 1)
                kept = cursor
            }
        }
        #expect(
            error?.description == "SQLite error 5: cannot commit transaction - SQL statements in progress - "
                + "while executing `COMMIT TRANSACTION`")
        kept = nil
        _ = kept
        #expect(try queue.names() == [])
    }
}
