import TestSupport
import Testing

@testable import Shellac

@Suite("Savepoints")
struct SavepointStackTests {
    // MARK: - The stack

    @Test(
        "A release takes the innermost savepoint of its name, and all above it, without regard to case",
        .behaviour(46))
    func release() {
        var stack = SavepointStack()
        for name in ["a", "B", "A", "c"] { stack.open(name) }
        stack.release("b")
        #expect(stack.names == ["a"])
        stack.open("É")
        stack.open("x")
        // Only the letters of ASCII have a case for SQLite.
        stack.release("é")
        #expect(stack.names == ["a", "É", "x"])
        stack.release("A")
        #expect(stack.names == [] && stack.depth == 0)
        stack.release("a")
        #expect(stack.depth == 0)
    }

    @Test("A rollback to the innermost savepoint of a name leaves it open", .behaviour(46))
    func rollBack() {
        var stack = SavepointStack()
        for name in ["a", "b", "A", "c", "d"] { stack.open(name) }
        stack.rollBack(to: "a")
        #expect(stack.names == ["a", "b", "A"])
        stack.rollBack(to: "a")
        #expect(stack.names == ["a", "b", "A"])
        stack.rollBack(to: "nobody")
        #expect(stack.depth == 3)
        stack.removeAll()
        #expect(stack.depth == 0)
    }

    /// One random statement on savepoints.
    private func statement(_ generator: inout SeededGenerator) -> String {
        let name = ["a", "A", "b", "\"a\"", "\"b c\""].randomElement(using: &generator) ?? "a"
        return switch Int.random(in: 0..<10, using: &generator) {
        case 0..<4: "SAVEPOINT \(name)"
        case 4..<6: "RELEASE \(name)"
        case 6..<8: "ROLLBACK TO \(name)"
        case 8: "COMMIT"
        default: "BEGIN"
        }
    }

    @Test("The stack follows raw SQL, whatever fails", .behaviour(46), arguments: UInt64(1)...20)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            for _ in 0..<200 {
                let sql = statement(&generator)
                try? db.execute(sql: sql)
                let log = db.transactionLog
                #expect(log.isOpen == db.isInsideTransaction, "seed \(seed)")
                // SQLite does not return its stack: a name is in it if a rollback to it succeeds.
                let names = log.savepoints.names
                for name in ["a", "b", "b c", "c"] {
                    let isKnown = names.contains { $0.lowercased() == name }
                    let depth = log.savepoints.depth
                    guard isKnown == (names.last?.lowercased() == name) else { continue }
                    let succeeded = (try? db.execute(sql: "ROLLBACK TO \"\(name)\"")) != nil
                    #expect(succeeded == isKnown, "seed \(seed)")
                    #expect(log.savepoints.depth == depth, "seed \(seed)")
                }
            }
            if db.isInsideTransaction { try db.rollback() }
            #expect(db.transactionLog.savepoints.depth == 0, "seed \(seed)")
        }
    }

    // MARK: - inSavepoint

    /// The ends of a savepoint.
    enum Outcome: CaseIterable {
        case commit, rollback, failure
    }

    static let outcomes: [[Outcome]] = Outcome.allCases.flatMap { a in
        Outcome.allCases.flatMap { b in Outcome.allCases.map { c in [a, b, c] } }
    }

    /// Runs savepoints in one another. Each inserts a player before, and one after the one inside.
    private func run(_ outcomes: ArraySlice<Outcome>, level: Int, _ db: Database) throws {
        guard let outcome = outcomes.first else { return }
        func body() throws -> TransactionCompletion {
            try db.insert("\(level)")
            try run(outcomes.dropFirst(), level: level + 1, db)
            try db.insert("\(level) again")
            switch outcome {
            case .commit: return .commit
            case .rollback: return .rollback
            case .failure: throw TestError(level)
            }
        }
        if outcome == .failure {
            #expect(throws: TestError(level)) { try db.inSavepoint(body) }
        } else {
            try db.inSavepoint(body)
        }
    }

    @Test(
        "Savepoints in one another end each on its own, in a transaction and outside", arguments: outcomes,
        [true, false])
    func nested(outcomes: [Outcome], isInTransaction: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            if isInTransaction {
                try db.inTransaction {
                    try run(outcomes[...], level: 0, db)
                    #expect(db.transactionLog.savepoints.depth == 0)
                    return .commit
                }
            } else {
                try run(outcomes[...], level: 0, db)
            }
            #expect(!db.isInsideTransaction)
        }
        let kept = outcomes.prefix { $0 == .commit }.count
        let expected = (0..<kept).map { "\($0)" } + (0..<kept).reversed().map { "\($0) again" }
        #expect(try queue.names() == expected)
    }

    @Test("A savepoint is rolled back alone, and the transaction goes on")
    func partial() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            try db.insert("Arthur")
            try db.inSavepoint {
                try db.insert("Barbara")
                return .rollback
            }
            #expect(db.isInsideTransaction)
            try db.insert("Craig")
        }
        #expect(try queue.names() == ["Arthur", "Craig"])
    }

    @Test(
        "Savepoints of raw SQL that are left open end with the savepoint around them", .behaviour(46),
        arguments: [
            "SAVEPOINT a", "SAVEPOINT a; SAVEPOINT A; RELEASE a", "SAVEPOINT shellac",
            "SAVEPOINT \"SHELLAC\"",
        ],
        [TransactionCompletion.commit, .rollback])
    func rawInside(sql: String, completion: TransactionCompletion) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            try db.inSavepoint {
                try db.insert("Arthur")
                try db.execute(sql: sql)
                try db.insert("Barbara")
                return completion
            }
            #expect(db.transactionLog.savepoints.depth == 0)
        }
        #expect(try queue.names() == (completion == .commit ? ["Arthur", "Barbara"] : []))
    }

    @Test("Raw ROLLBACK TO works in a savepoint, without regard to case", .behaviour(46))
    func rawRollback() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            try db.inSavepoint {
                try db.insert("Arthur")
                try db.execute(sql: "SAVEPOINT \"Mine\"")
                try db.insert("Barbara")
                try db.execute(sql: "ROLLBACK TO mINE")
                #expect(db.transactionLog.savepoints.depth == 2)
                try db.execute(sql: "RELEASE MINE")
                #expect(db.transactionLog.savepoints.depth == 1)
                return .commit
            }
        }
        #expect(try queue.names() == ["Arthur"])
    }

    @Test(
        "Raw SQL that ends a savepoint of ours is believed", .behaviour(46),
        arguments: ["RELEASE outside", "COMMIT", "ROLLBACK", "ROLLBACK TO outside", "COMMIT; BEGIN"],
        [TransactionCompletion.commit, .rollback])
    func rawEnd(sql: String, completion: TransactionCompletion) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.inDatabase { db in
            try db.execute(sql: "SAVEPOINT outside")
            try db.inSavepoint {
                try db.insert("Arthur")
                try db.execute(sql: sql)
                return completion
            }
            if db.isInsideTransaction { try db.commit() }
        }
        #expect(try queue.names() == (sql.hasPrefix("ROLLBACK") ? [] : ["Arthur"]))
    }

    @Test("A savepoint that raw SQL puts in the place of ours does not stand for it", .behaviour(46))
    func rawExchange() throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in
            try db.inSavepoint {
                try db.insert("Arthur")
                try db.inSavepoint {
                    try db.execute(sql: "RELEASE shellac; SAVEPOINT other")
                    try db.insert("Barbara")
                    return .rollback
                }
                // The outer savepoint is still there.
                #expect(db.transactionLog.savepoints.names.first == "shellac")
                return .rollback
            }
        }
        #expect(try queue.names() == [])
    }

    @Test(
        "A savepoint rolls back after an interrupt, while other rows are being read",
        arguments: [false, true])
    func interrupted(hasRolledBackBefore: Bool) throws {
        let queue = try DatabaseQueue.withPlayers()
        try queue.write { db in for name in ["Arthur", "Barbara"] { try db.insert(name) } }
        try queue.write { db in
            if hasRolledBackBefore { try db.inSavepoint { .rollback } }
            do {
                let cursor = try String.fetchCursor(db, sql: "SELECT name FROM player ORDER BY id")
                #expect(try cursor.next() == "Arthur")
                let error = #expect(throws: DatabaseError.self) {
                    try db.inSavepoint {
                        try db.insert("Craig")
                        db.interrupt()
                        _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player")
                        return .commit
                    }
                }
                #expect(error?.resultCode == .SQLITE_INTERRUPT)
            }
            #expect(db.transactionLog.savepoints.depth == 0)
        }
        #expect(try queue.names() == ["Arthur", "Barbara"], "What the savepoint did was committed.")
    }

    @Test("A savepoint outside of a transaction takes the write lock, as a transaction does")
    func outside() throws {
        let file = try TemporaryDatabase()
        let (queue, other) = (try file.queue(), try file.queue())
        try queue.inSavepoint { _ in
            let error = #expect(throws: DatabaseError.self) { try other.write { _ in } }
            #expect(error?.resultCode == .SQLITE_BUSY)
            return .commit
        }
    }
}
