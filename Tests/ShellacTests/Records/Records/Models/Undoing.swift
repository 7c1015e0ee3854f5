import Shellac
import TestSupport

/// A way to have the database undo what a function did.
enum Undoing: String, CaseIterable, Sendable {
    case rollback, rollbackMethod
    case writeThrows, transactionRollsBack, savepointRollsBack, innerSavepointRollsBack, innerSavepointThrows
    case rollbackTo, rollbackToReleased, rollbackToSameName, rollbackToOutermost, rollbackOfSavepoint
    case orRollback, raiseRollback, interrupt, fullDisk
    case refusedCommit, endOfAccess

    func run(_ queue: DatabaseQueue, _ body: (Database) throws -> Void) throws {
        try queue.inDatabase { db in try prepare(db) }
        switch self {
        case .rollback: try queue.sql("BEGIN", body, "ROLLBACK")
        case .rollbackTo: try queue.sql("BEGIN; SAVEPOINT a", body, "ROLLBACK TO A; RELEASE a; COMMIT")
        case .rollbackToReleased:
            try queue.sql(
                "BEGIN; SAVEPOINT a; SAVEPOINT b; SAVEPOINT c", body, "RELEASE B; ROLLBACK TO a; COMMIT")
        case .rollbackToSameName:
            try queue.sql(
                "BEGIN; SAVEPOINT a; SAVEPOINT A", body, "ROLLBACK TO a; RELEASE a; RELEASE a; COMMIT")
        case .rollbackToOutermost: try queue.sql("SAVEPOINT a", body, "ROLLBACK TO a; RELEASE a")
        case .rollbackOfSavepoint: try queue.sql("SAVEPOINT a", body, "ROLLBACK")
        case .rollbackMethod:
            try queue.inDatabase { db in
                try db.beginTransaction()
                try body(db)
                try db.rollback()
            }
        case .transactionRollsBack:
            try queue.inTransaction { db in
                try body(db)
                return .rollback
            }
        case .savepointRollsBack:
            try queue.inSavepoint { db in
                try body(db)
                return .rollback
            }
        case .innerSavepointRollsBack:
            try queue.write { db in
                try db.inSavepoint {
                    try body(db)
                    return .rollback
                }
            }
        case .innerSavepointThrows:
            try queue.write { db in
                try expectThrow {
                    try db.inSavepoint {
                        try body(db)
                        throw TestError(1)
                    }
                }
            }
        case .writeThrows:
            try expectThrow {
                try queue.write { db in
                    try body(db)
                    throw TestError(1)
                }
            }
        case .orRollback: try fail(queue, body, "INSERT OR ROLLBACK INTO undoing VALUES (1)")
        case .raiseRollback: try fail(queue, body, "DELETE FROM undoing")
        case .interrupt:
            try fail(
                queue, body, "INSERT INTO undoing SELECT 10 + value * interrupt() FROM json_each('[1, 2]')")
        case .fullDisk:
            try fail(queue, body, "INSERT INTO large VALUES (zeroblob(10000000))")
        case .refusedCommit:
            try expectThrow {
                try queue.write { db in
                    try body(db)
                    try db.execute(sql: "INSERT INTO child VALUES (1000)")
                }
            }
        case .endOfAccess:
            try expectThrow {
                try queue.inDatabase { db in
                    try db.execute(sql: "BEGIN")
                    try body(db)
                }
            }
        }
    }

    /// Runs a transaction with a statement that has SQLite end it.
    private func fail(_ queue: DatabaseQueue, _ body: (Database) throws -> Void, _ sql: String) throws {
        try expectThrow {
            try queue.write { db in
                try body(db)
                try expectThrow { try db.execute(sql: sql) }
                guard !db.isInsideTransaction else { throw NotUndone(way: self) }
            }
        }
    }

    private func prepare(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE undoing (a UNIQUE);
                CREATE TABLE large (a);
                CREATE TABLE child (parent REFERENCES undoing(a) DEFERRABLE INITIALLY DEFERRED);
                CREATE TRIGGER undoing_delete BEFORE DELETE ON undoing BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
                INSERT INTO undoing VALUES (1);
                """)
        switch self {
        case .interrupt:
            try db.addFunction("interrupt") { [unowned db] in db.interrupt() }
        case .fullDisk:
            let count = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(count + 20)")
        default: break
        }
    }

    struct NotUndone: Error {
        let way: Undoing
    }
}

private func expectThrow(_ body: () throws -> Void) throws {
    struct NothingThrown: Error {}
    guard let error = thrownError(body) else { throw NothingThrown() }
    if error is Undoing.NotUndone || error is UnexpectedIssue { throw error }
}

/// An error of a test's function itself, which no way to undo swallows.
struct UnexpectedIssue: Error {
    let error: any Error
}

extension DatabaseQueue {
    /// Runs a function between two SQL texts.
    fileprivate func sql(_ before: String, _ body: (Database) throws -> Void, _ after: String) throws {
        try inDatabase { db in
            try db.execute(sql: before)
            try body(db)
            try db.execute(sql: after)
        }
    }
}
