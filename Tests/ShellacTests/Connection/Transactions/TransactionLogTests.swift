import TestSupport
import Testing

@testable import Shellac

@Suite("Lost transactions")
struct TransactionLogTests {
    /// The reasons for which SQLite ends a transaction by itself.
    enum Cause: String, CaseIterable, Codable {
        case full, interrupt, orRollback, raise

        var code: ResultCode {
            switch self {
            case .full: .SQLITE_FULL
            case .interrupt: .SQLITE_INTERRUPT
            case .orRollback: .SQLITE_CONSTRAINT_PRIMARYKEY
            case .raise: .SQLITE_CONSTRAINT_TRIGGER
            }
        }

        var sql: String {
            switch self {
            case .full: "INSERT INTO player (name) VALUES (hex(zeroblob(100000)))"
            case .interrupt:
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000)
                INSERT INTO player (name) SELECT i || stop() FROM n
                """
            case .orRollback: "INSERT OR ROLLBACK INTO player (id, name) VALUES (1, 'again')"
            case .raise: "INSERT INTO forbidden VALUES (1)"
            }
        }

        var message: String {
            switch self {
            case .full: "database or disk is full"
            case .interrupt: "interrupted"
            case .orRollback: "UNIQUE constraint failed: player.id"
            case .raise: "it is forbidden"
            }
        }

        /// Runs a body with a database that has the player Arthur, and where the SQL makes SQLite
        /// roll back.
        func run(_ body: (DatabaseQueue) throws -> Void) throws {
            let queue = try DatabaseQueue.withPlayers { configuration in
                configuration.prepareDatabase { db in
                    try db.add(
                        function: DatabaseFunction("stop", argumentCount: 0) { [unowned db] _ in
                            db.interrupt()
                            return ""
                        })
                }
            }
            try queue.inDatabase { db in
                try db.insert("Arthur")
                try db.execute(
                    sql: """
                        CREATE TABLE forbidden (a);
                        CREATE TRIGGER forbid BEFORE INSERT ON forbidden
                        BEGIN SELECT RAISE(ROLLBACK, 'it is forbidden'); END;
                        PRAGMA max_page_count = 20;
                        """)
            }
            try body(queue)
            // The next access works, and so does the next transaction.
            try queue.inDatabase { db in
                #expect(db.lostTransaction == nil && !db.isInsideTransaction)
                try db.execute(sql: "PRAGMA max_page_count = 1000000")
            }
            try queue.write { db in try db.insert("the next access") }
            #expect(try queue.names().last == "the next access")
        }

        func isCause(of error: (any Error)?) -> Bool {
            let error = error as? DatabaseError
            return error?.extendedResultCode == code && error?.message == message && error?.sql == sql
        }

        /// Makes SQLite end the transaction, and catches the error.
        func lose(_ db: Database) {
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(isCause(of: error))
            #expect(!db.isInsideTransaction)
        }
    }

    /// Something that a program would do in the belief that its transaction is open.
    enum Further: String, CaseIterable {
        case select, insert, prepared, kept, cursor, makeStatement, newTable
        case script, begin, commit, savepoint, release, rollbackTo
        case beginTransaction, commitTransaction, inTransaction, inSavepoint, readOnly, pragma

        func run(_ db: Database, prepared: Statement) throws {
            switch self {
            case .select: _ = try db.names()
            case .insert: try db.insert("nobody")
            case .prepared: try prepared.execute(arguments: ["nobody"])
            case .kept: try db.cachedStatement(sql: "DELETE FROM player").execute()
            case .cursor: _ = try String.fetchCursor(db, sql: "SELECT name FROM player").next()
            case .makeStatement: try db.makeStatement(sql: "DELETE FROM player").execute()
            case .newTable: try db.execute(sql: "INSERT INTO new VALUES (1)")
            case .script:
                try db.execute(sql: "DELETE FROM player; INSERT INTO player (name) VALUES ('nobody')")
            case .begin: try db.execute(sql: "BEGIN")
            case .commit: try db.execute(sql: "COMMIT")
            case .savepoint: try db.execute(sql: "SAVEPOINT a")
            case .release: try db.execute(sql: "RELEASE outside")
            case .rollbackTo: try db.execute(sql: "ROLLBACK TO outside")
            case .beginTransaction: try db.beginTransaction()
            case .commitTransaction: try db.commit()
            case .inTransaction: try db.inTransaction { .commit }
            case .inSavepoint: try db.inSavepoint { .commit }
            case .readOnly: _ = try db.readOnly { try db.names() }
            case .pragma: try db.execute(sql: "PRAGMA user_version = 7")
            }
        }
    }

    @Test(
        "When SQLite ends the transaction, the caller gets its error, and nothing is committed",
        .behaviour(45),
        arguments: TransactionScope.allCases, Cause.allCases)
    func thrown(scope: TransactionScope, cause: Cause) throws {
        try cause.run { queue in
            let error = #expect(throws: DatabaseError.self) {
                try scope.run(queue) { db in
                    try db.insert("nobody")
                    try db.execute(sql: cause.sql)
                }
            }
            #expect(cause.isCause(of: error))
            let names = try queue.names()
            #expect(names == ["Arthur"])
        }
    }

    @Test(
        "When SQLite ends the transaction and the error is swallowed, the caller gets it all the same",
        .behaviour(45),
        arguments: TransactionScope.allCases, Cause.allCases)
    func swallowed(scope: TransactionScope, cause: Cause) throws {
        try cause.run { queue in
            for completion in [TransactionCompletion.commit, .rollback] {
                let error = #expect(throws: DatabaseError.self) {
                    try scope.run(queue, completion) { db in
                        try db.insert("nobody")
                        cause.lose(db)
                        try? db.insert("nobody in autocommit")
                    }
                }
                #expect(cause.isCause(of: error))
                let names = try queue.names()
                #expect(names == ["Arthur"])
            }
        }
    }

    @Test(
        "When SQLite has ended the transaction, whatever follows throws the first error", .behaviour(45),
        arguments: Further.allCases, Cause.allCases)
    func further(further: Further, cause: Cause) throws {
        try cause.run { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN; SAVEPOINT outside; CREATE TABLE new (a)")
                let prepared = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
                cause.lose(db)
                for _ in 1...2 {
                    let error = #expect(throws: (any Error).self) { try further.run(db, prepared: prepared) }
                    #expect(cause.isCause(of: error), "\(error.map { "\($0)" } ?? "no error")")
                }
                #expect(!db.isInsideTransaction)
                try db.rollback()
                #expect(try db.names() == ["Arthur"])
                #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 0)
            }
        }
    }

    @Test(
        "When SQLite ends the transaction inside savepoints, each level throws the first error",
        .behaviour(45),
        arguments: Cause.allCases)
    func savepoints(cause: Cause) throws {
        try cause.run { queue in
            let outermost = thrownError {
                try queue.write { db in
                    try db.insert("nobody")
                    let outer = thrownError {
                        try db.inSavepoint {
                            let inner = thrownError {
                                try db.inSavepoint {
                                    cause.lose(db)
                                    return .rollback
                                }
                            }
                            #expect(cause.isCause(of: inner))
                            let later = thrownError { try db.insert("nobody") }
                            #expect(cause.isCause(of: later))
                            return .commit
                        }
                    }
                    #expect(cause.isCause(of: outer))
                    #expect(db.transactionLog.savepoints.depth == 0)
                }
            }
            #expect(cause.isCause(of: outermost))
            let names = try queue.names()
            #expect(names == ["Arthur"])
        }
    }

    @Test(
        "ROLLBACK ends a transaction that SQLite has ended, and a new one may begin", .behaviour(45),
        arguments: Cause.allCases,
        ["ROLLBACK", "rollback transaction", nil])
    func rollback(cause: Cause, sql: String?) throws {
        try cause.run { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN")
                try db.insert("nobody")
                cause.lose(db)
                if let sql { try db.execute(sql: sql) } else { try db.rollback() }
                try db.execute(sql: "BEGIN")
                try db.insert("Barbara")
                try db.execute(sql: "COMMIT")
                try db.insert("Craig")
            }
            let names = try queue.names()
            #expect(names == ["Arthur", "Barbara", "Craig"])
        }
    }

    @Test("A second ROLLBACK has nothing to roll back", .behaviour(45))
    func secondRollback() throws {
        try Cause.orRollback.run { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "BEGIN")
                Cause.orRollback.lose(db)
                try db.rollback()
                let error = #expect(throws: DatabaseError.self) { try db.rollback() }
                #expect(error?.message == "cannot rollback - no transaction is active")
            }
        }
    }

    @Test(
        "A raw transaction that SQLite has ended ends with its access, whether its error was swallowed or not",
        .behaviour(45),
        arguments: Cause.allCases, [true, false])
    func raw(cause: Cause, isSwallowed: Bool) throws {
        try cause.run { queue in
            let error = thrownError {
                try queue.inDatabase { db in
                    try db.execute(sql: "BEGIN")
                    try db.insert("nobody")
                    if isSwallowed { cause.lose(db) } else { try db.execute(sql: cause.sql) }
                }
            }
            // The next test is about a swallowed error.
            if !isSwallowed { #expect(cause.isCause(of: error)) }
            let names = try queue.names()
            #expect(names == ["Arthur"])
        }
    }

    @Test(
        "A raw transaction that SQLite has ended is not passed over in silence", .behaviour(45),
        arguments: Cause.allCases
    )
    func rawSwallowed(cause: Cause) throws {
        try cause.run { queue in
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { db in
                    try db.execute(sql: "BEGIN")
                    try db.insert("nobody")
                    cause.lose(db)
                }
            }
            #expect(cause.isCause(of: error))
        }
    }

    @Test("An error that ends no transaction is not thrown again", .behaviour(45), arguments: Cause.allCases)
    func autocommit(cause: Cause) throws {
        try cause.run { queue in
            try queue.inDatabase { db in
                cause.lose(db)
                try db.insert("Barbara")
                #expect(try db.names() == ["Arthur", "Barbara"])
            }
        }
    }

    @Test("Where SQLite undoes the statement alone, the transaction goes on", .behaviour(45))
    func statementUndone() throws {
        try Cause.full.run { queue in
            try queue.write { db in
                try db.insert("Barbara")
                // A statement of several rows that may fail has a journal of its own.
                let error = #expect(throws: DatabaseError.self) {
                    try db.execute(
                        sql: "INSERT INTO player (name) VALUES ('small'), (hex(zeroblob(100000)))")
                }
                #expect(error?.resultCode == .SQLITE_FULL)
                #expect(db.isInsideTransaction)
                try db.insert("Craig")
            }
            let names = try queue.names()
            #expect(names == ["Arthur", "Barbara", "Craig"])
        }
    }

    @Test(
        "Rows that were being read when SQLite ended the transaction give the first error", .behaviour(45),
        arguments: Cause.allCases)
    func openCursor(cause: Cause) throws {
        try cause.run { queue in
            try queue.write { db in try db.insert("Barbara") }
            let error = #expect(throws: (any Error).self) {
                try queue.write { db in
                    let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
                    #expect(try cursor.next() == "Arthur")
                    cause.lose(db)
                    while try cursor.next() != nil {}
                }
            }
            #expect(cause.isCause(of: error), "\(error.map { "\($0)" } ?? "no error")")
            let names = try queue.names()
            #expect(names == ["Arthur", "Barbara"])
        }
    }

    @Test(
        "A transaction that is lost inside an SQL function is lost for the statement's caller, too",
        .behaviour(45))
    func function() throws {
        try Cause.orRollback.run { queue in
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { db in
                    try db.add(
                        function: DatabaseFunction("lose_it", argumentCount: 0) { [unowned db] _ in
                            Cause.orRollback.lose(db)
                            return 1
                        })
                    try db.insert("nobody")
                    _ = try? Int.fetchOne(db, sql: "SELECT lose_it()")
                    try db.insert("nobody in autocommit")
                }
            }
            #expect(Cause.orRollback.isCause(of: error))
            let names = try queue.names()
            #expect(names == ["Arthur"])
            try queue.inDatabase { db in
                try db.remove(function: DatabaseFunction("lose_it", argumentCount: 0) { _ in nil })
            }
        }
    }

    @Test(
        "The first error stays the first one when a second transaction is lost in its access", .behaviour(45))
    func twice() throws {
        try Cause.raise.run { queue in
            let error = thrownError {
                try queue.inDatabase { db in
                    expectError("it is forbidden") {
                        try db.inTransaction {
                            Cause.raise.lose(db)
                            return .commit
                        }
                    }
                    // The scope has ended: this access may go on, and lose another transaction.
                    try db.insert("Barbara")
                    try db.inTransaction {
                        Cause.orRollback.lose(db)
                        return .commit
                    }
                }
            }
            #expect(Cause.orRollback.isCause(of: error))
            let names = try queue.names()
            #expect(names == ["Arthur", "Barbara"])
        }
    }
}
