import TestSupport
import Testing

@Suite("Transactions")
struct DatabaseTransactionsTests {
    // MARK: - Commit and rollback

    @Test("A transaction commits what was done in it", arguments: TransactionScope.allCases)
    func commits(scope: TransactionScope) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try scope.run(queue) { db in
            #expect(db.isInsideTransaction)
            try db.insert("Arthur")
            try db.insert("Barbara")
            #expect(try other.names() == [])
        }
        #expect(try other.names() == ["Arthur", "Barbara"])
        try queue.inDatabase { db in #expect(!db.isInsideTransaction) }
    }

    @Test("A transaction that returns .rollback leaves nothing", arguments: TransactionScope.choosing)
    func rollsBack(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue, .rollback) { db in try db.insert("Arthur") }
        #expect(try queue.names() == [])
        try queue.inDatabase { db in #expect(!db.isInsideTransaction) }
    }

    @Test(
        "A throw rolls back, and is the error that the caller gets", .behaviour(45),
        arguments: TransactionScope.allCases)
    func errorRollsBack(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        #expect(throws: TestError(7)) {
            try scope.run(queue) { db in
                try db.insert("Arthur")
                throw TestError(7)
            }
        }
        #expect(try queue.names() == [])
        try queue.inDatabase { db in #expect(!db.isInsideTransaction) }
    }

    @Test(
        "The error of a statement rolls back, and names the statement", .behaviour(45),
        arguments: TransactionScope.allCases)
    func statementRollsBack(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        let error = #expect(throws: DatabaseError.self) {
            try scope.run(queue) { db in
                try db.insert("Arthur")
                try db.insert("Arthur")
            }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(
            error?.description == "SQLite error 19: UNIQUE constraint failed: player.name - "
                + "while executing `INSERT INTO player (name) VALUES (?)`")
        #expect(try queue.names() == [])
    }

    @Test(
        "A statement that fails and is caught leaves the transaction as it was",
        arguments: TransactionScope.allCases)
    func caughtError(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in
            try db.insert("Arthur")
            expectError("UNIQUE constraint failed: player.name") { try db.insert("Arthur") }
            #expect(db.isInsideTransaction)
            try db.insert("Barbara")
        }
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    @Test("write and read give the result of their function")
    func results() throws {
        let queue = try DatabaseQueue.withPlayers()
        let inserted: Int64 = try queue.write { db in
            try db.insert("Arthur")
            return db.lastInsertedRowID
        }
        #expect(inserted == 1)
        #expect(try queue.read { db in try db.names() } == ["Arthur"])
    }

    // MARK: - Kinds

    @Test(
        "Each kind of transaction takes its own lock",
        arguments: TransactionKind.allCases, [JournalMode.delete, .wal])
    func locks(kind: TransactionKind, journalMode: JournalMode) throws {
        let file = try TemporaryDatabase(journalMode: journalMode)
        let (queue, other) = (try file.queue(), try file.queue())
        let writeError = "SQLite error 5: database is locked - while executing `BEGIN IMMEDIATE TRANSACTION`"
        let readError =
            "SQLite error 5: database is locked - "
            + "while executing `SELECT name FROM player ORDER BY id`"
        try queue.inTransaction(kind) { _ in
            switch (kind, journalMode) {
            case (.deferred, _):
                try other.write { db in try db.insert("Arthur") }
            case (.immediate, _), (.exclusive, .wal):
                #expect(try other.read { db in try db.names() } == [])
                let error = #expect(throws: DatabaseError.self) { try other.write { _ in } }
                #expect(error?.description == writeError)
            case (.exclusive, _):
                let error = #expect(throws: DatabaseError.self) { try other.read { db in try db.names() } }
                #expect(error?.description == readError)
                #expect(error?.extendedResultCode == .SQLITE_BUSY)
            }
            return .commit
        }
        #expect(try other.names() == (kind == .deferred ? ["Arthur"] : []))
    }

    @Test(
        "The configuration tells the kind of transactions that are not told",
        arguments: TransactionScope.allCases, TransactionKind.allCases)
    func defaultKind(scope: TransactionScope, kind: TransactionKind) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue { $0.defaultTransactionKind = kind }, try file.queue())
        try scope.run(queue) { _ in
            let isWritable = (try? other.write { _ in }) != nil
            let isReadable = (try? other.names()) != nil
            #expect(isWritable == (kind == .deferred))
            #expect(isReadable == (kind != .exclusive))
        }
    }

    @Test("The write lock is taken at once by default", arguments: TransactionScope.allCases)
    func immediateByDefault(scope: TransactionScope) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try other.inTransaction(.immediate) { _ in
            var hasRun = false
            let error = #expect(throws: DatabaseError.self) { try scope.run(queue) { _ in hasRun = true } }
            #expect(!hasRun)
            #expect(
                error?.description
                    == "SQLite error 5: database is locked - while executing `BEGIN IMMEDIATE TRANSACTION`")
            return .commit
        }
        try scope.run(queue) { db in try db.insert("Arthur") }
    }

    // MARK: - Nested

    @Test(
        "A transaction inside a transaction throws, and leaves the outer one open",
        arguments: TransactionScope.allCases, TransactionKind.allCases)
    func nested(scope: TransactionScope, kind: TransactionKind) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in
            try db.insert("Arthur")
            var hasRun = false
            let error = #expect(throws: DatabaseError.self) {
                try db.inTransaction(kind) {
                    hasRun = true
                    return .commit
                }
            }
            #expect(!hasRun)
            #expect(
                error?.description == "SQLite error 1: cannot start a transaction within a transaction - "
                    + "while executing `BEGIN \(kind.rawValue) TRANSACTION`")
            #expect(db.isInsideTransaction)
            try db.insert("Barbara")
        }
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    // MARK: - Raw SQL

    @Test(
        "Raw SQL that ends the transaction of a scope is believed",
        arguments: TransactionScope.allCases,
        ["COMMIT", "END TRANSACTION", "ROLLBACK", "rollback transaction"])
    func rawEnd(scope: TransactionScope, sql: String) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in
            try db.insert("Arthur")
            try db.execute(sql: sql)
            #expect(!db.isInsideTransaction)
            try db.insert("Barbara")
        }
        let isUndone = sql.lowercased().hasPrefix("rollback")
        #expect(try queue.names() == (isUndone ? ["Barbara"] : ["Arthur", "Barbara"]))
    }

    @Test(
        "A transaction that raw SQL puts in the place of another ends with the scope",
        arguments: TransactionScope.allCases)
    func rawExchange(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in
            try db.insert("Arthur")
            try db.execute(sql: "COMMIT; BEGIN")
            try db.insert("Barbara")
        }
        #expect(try queue.names() == ["Arthur", "Barbara"])
        #expect(throws: TestError()) {
            try scope.run(queue) { db in
                try db.insert("Craig")
                try db.execute(sql: "COMMIT; BEGIN")
                try db.insert("David")
                throw TestError()
            }
        }
        #expect(try queue.names() == ["Arthur", "Barbara", "Craig"])
    }

    @Test(
        "Raw BEGIN inside a transaction throws, and the transaction goes on",
        arguments: TransactionScope.allCases)
    func rawBegin(scope: TransactionScope) throws {
        let queue = try DatabaseQueue.withPlayers()
        try scope.run(queue) { db in
            try db.insert("Arthur")
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "BEGIN") }
            #expect(
                error?.description == "SQLite error 1: cannot start a transaction within a transaction - "
                    + "while executing `BEGIN`")
        }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("Raw transactions work in an access without a transaction")
    func rawTransactions() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN; INSERT INTO player (name) VALUES ('Arthur'); COMMIT")
            try db.execute(sql: "BEGIN; INSERT INTO player (name) VALUES ('Barbara'); ROLLBACK")
            try db.execute(sql: "begin exclusive; INSERT INTO player (name) VALUES ('Craig'); end")
            #expect(!db.isInsideTransaction)
            #expect(try db.names() == ["Arthur", "Craig"])
        }
    }

    // MARK: - Left open

    /// A way to leave a transaction open.
    enum Opening: String, CaseIterable {
        case begin = "BEGIN"
        case immediate = "BEGIN IMMEDIATE"
        case savepoint = "SAVEPOINT a"
        case savepoints = "SAVEPOINT a; SAVEPOINT b; RELEASE b"
        case api

        func run(_ db: Database) throws {
            if self == .api { try db.beginTransaction() } else { try db.execute(sql: rawValue) }
        }
    }

    static let leftOpen =
        "SQLite error 21: a transaction was still open at the end of an access to test, and was rolled "
        + "back: commit it inside the access, or use write or inTransaction, which commit it"

    @Test("A transaction left open throws a sentence, and is rolled back", arguments: Opening.allCases)
    func leftOpen(opening: Opening) throws {
        let queue = try DatabaseQueue.withPlayers()
        let error = #expect(throws: DatabaseError.self) {
            try queue.inDatabase { db in
                try opening.run(db)
                try db.insert("Arthur")
            }
        }
        #expect(error?.description == Self.leftOpen)
        #expect(error?.resultCode == .SQLITE_MISUSE)
        try queue.inDatabase { db in
            let names = try db.names()
            #expect(names == [] && !db.isInsideTransaction)
        }
        try queue.write { db in try db.insert("Barbara") }
        #expect(try queue.names() == ["Barbara"])
    }

    @Test(
        "A transaction left open by an error is rolled back, and the error is thrown",
        arguments: Opening.allCases)
    func leftOpenByError(opening: Opening) throws {
        let queue = try DatabaseQueue.withPlayers()
        #expect(throws: TestError(3)) {
            try queue.inDatabase { db in
                try opening.run(db)
                try db.insert("Arthur")
                throw TestError(3)
            }
        }
        #expect(try queue.names() == [])
    }

    @Test("A script that fails in the middle of its transaction leaves nothing")
    func failingScript() throws {
        let queue = try DatabaseQueue.withPlayers()
        let error = #expect(throws: DatabaseError.self) {
            try queue.inDatabase { db in
                try db.execute(
                    sql:
                        "BEGIN; INSERT INTO player (name) VALUES ('a'); INSERT INTO nowhere VALUES (1); COMMIT"
                )
            }
        }
        #expect(error?.message == "no such table: nowhere")
        #expect(try queue.names() == [])
    }

    @Test("A transaction left open by the preparation of a database throws the sentence")
    func leftOpenByPreparation() throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue.withPlayers { $0.prepareDatabase { db in try db.execute(sql: "BEGIN") } }
        }
        #expect(error?.description == Self.leftOpen)
    }

    @Test(
        "What is only explained or asked for, and does not run, opens nothing",
        arguments: ["EXPLAIN BEGIN", "EXPLAIN QUERY PLAN BEGIN IMMEDIATE", "EXPLAIN SAVEPOINT a"])
    func explained(sql: String) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.execute(sql: sql)
            #expect(!db.isInsideTransaction)
        }
        try queue.write { db in
            try db.execute(sql: "SAVEPOINT a")
            try db.insert("Arthur")
            try db.execute(sql: "EXPLAIN RELEASE a; EXPLAIN ROLLBACK; EXPLAIN COMMIT")
            #expect(db.isInsideTransaction)
        }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test("A statement that was never stepped opens nothing", arguments: ["BEGIN", "SAVEPOINT a"])
    func neverStepped(sql: String) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            do { _ = try Row.fetchCursor(db, sql: sql) }
            #expect(!db.isInsideTransaction)
        }
        try queue.write { db in try db.insert("Arthur") }
        #expect(try queue.names() == ["Arthur"])
    }

    // MARK: - Step by step

    @Test(
        "Transactions can be begun, committed and rolled back step by step",
        arguments: [nil] + TransactionKind.allCases)
    func stepByStep(kind: TransactionKind?) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.beginTransaction(kind)
            #expect(db.isInsideTransaction)
            try db.insert("Arthur")
            try db.commit()
            #expect(!db.isInsideTransaction)
            try db.beginTransaction(kind)
            try db.insert("Barbara")
            try db.rollback()
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test(
        "No transaction begins inside of another one, nor while another connection holds the lock that it takes",
        arguments: [nil, .immediate, .exclusive] as [TransactionKind?])
    func noBeginning(kind: TransactionKind?) throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inDatabase { db in
            try db.beginTransaction(kind)
            let nested = databaseError { try db.beginTransaction(kind) }
            #expect(nested?.message == "cannot start a transaction within a transaction")
            #expect(db.isInsideTransaction)
            let locked = databaseError { try other.inDatabase { db in try db.beginTransaction(kind) } }
            #expect(locked?.resultCode == .SQLITE_BUSY)
            try db.rollback()
        }
        try other.inDatabase { db in
            #expect(!db.isInsideTransaction)
            try db.beginTransaction(kind)
            try db.rollback()
        }
    }

    @Test("Where no transaction is open, there is nothing to commit and nothing to roll back")
    func nothingToEnd() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            let commit = #expect(throws: DatabaseError.self) { try db.commit() }
            #expect(
                commit?.description == "SQLite error 1: cannot commit - no transaction is active - "
                    + "while executing `COMMIT TRANSACTION`")
            let rollback = #expect(throws: DatabaseError.self) { try db.rollback() }
            #expect(
                rollback?.description == "SQLite error 1: cannot rollback - no transaction is active - "
                    + "while executing `ROLLBACK TRANSACTION`")
        }
        try queue.write { db in try db.insert("Arthur") }
    }

    @Test("A transaction rolls back while its rows are being read")
    func rollbackDuringFetch() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in for name in ["Arthur", "Barbara", "Craig"] { try db.insert(name) } }
        try queue.inDatabase { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
            #expect(try cursor.next() == "Arthur")
            #expect(throws: TestError()) {
                try db.inTransaction {
                    try db.execute(sql: "DELETE FROM player")
                    throw TestError()
                }
            }
            #expect(!db.isInsideTransaction)
        }
        #expect(try queue.names() == ["Arthur", "Barbara", "Craig"])
    }

    @Test(
        "A transaction rolls back after an interrupt, while other rows are being read",
        arguments: [false, true])
    func rollbackAfterInterrupt(hasRolledBackBefore: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in for name in ["Arthur", "Barbara"] { try db.insert(name) } }
        try queue.inDatabase { db in
            if hasRolledBackBefore { try db.inTransaction { .rollback } }
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
            #expect(try cursor.next() == "Arthur")
            let error = #expect(throws: DatabaseError.self) {
                try db.inTransaction {
                    try db.insert("Craig")
                    db.interrupt()
                    _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
                    return .commit
                }
            }
            #expect(error?.resultCode == .SQLITE_INTERRUPT)
            #expect(!db.isInsideTransaction, "The rollback was interrupted, too.")
        }
        #expect(try queue.names() == ["Arthur", "Barbara"])
    }

    @Test(
        "A rollback inside an SQL function leaves the statement that runs alone, also after an interrupt",
        arguments: [false, true])
    func rollbackInsideFunction(isInterrupted: Bool) async {
        await #expect(processExitsWith: .success) { [isInterrupted] in
            let queue = try DatabaseQueue.withPlayers()
            // If the transaction cannot be rolled back inside the statement, the access does it,
            // and says so.
            let leftOpen = databaseError {
                try queue.inDatabase { db in
                    for name in ["Arthur", "Barbara"] { try db.insert(name) }
                    try db.inTransaction { .rollback }
                    try db.add(
                        function: DatabaseFunction("attempt", argumentCount: 1) { [unowned db] _ in
                            try? db.inTransaction {
                                try db.insert("nobody")
                                if isInterrupted { db.interrupt() }
                                _ = try db.names()
                                return .rollback
                            }
                            return 1
                        })
                    let error = databaseError {
                        _ = try Row.fetchAll(db, sql: "SELECT attempt(name), name FROM player")
                    }
                    #expect((error != nil) == isInterrupted)
                }
            }
            #expect(isInterrupted || leftOpen == nil)
            let names = try queue.names()
            #expect(names == ["Arthur", "Barbara"])
        }
    }
}
