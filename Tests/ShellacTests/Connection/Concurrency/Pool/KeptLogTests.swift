import TestSupport
import Testing

@testable import Shellac

@Suite("DatabasePool: the log stays", .behaviour(79))
struct KeptLogTests {
    private let file: TemporaryDatabase
    private let pool: DatabasePool

    init() throws {
        file = try TemporaryDatabase()
        pool = try file.pool()
    }

    @Test(
        "A journal mode without a log is refused, though nobody reads",
        arguments: [
            "PRAGMA journal_mode = DELETE", "PRAGMA main.journal_mode = truncate", "PRAGMA Journal_Mode(off)",
            "PRAGMA journal_mode = 'persist'",
        ])
    func refused(sql: String) throws {
        pool.releaseMemory()
        let error = databaseError { try pool.writeWithoutTransaction { db in try db.execute(sql: sql) } }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.message?.hasPrefix("the database test keeps its journal mode, WAL: ") == true)
        #expect(error?.sql == sql)
        let mode = try pool.read { db in try String.fetchOne(db, sql: "PRAGMA journal_mode") }
        #expect(mode == "wal")
        try pool.write { db in try db.insert("Arthur") }
    }

    @Test("So is one that a preparation sets")
    func preparation() {
        let error = databaseError {
            _ = try file.pool {
                $0.prepareDatabase { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
            }
        }
        #expect(error?.message?.contains("keeps its journal mode, WAL") == true)
    }

    @Test("The mode that is there may be set, and any mode of another database")
    func allowed() throws {
        try pool.writeWithoutTransaction { db in
            try #expect(String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal")
            try #expect(String.fetchOne(db, sql: "PRAGMA temp.journal_mode = memory") == "memory")
            try db.execute(sql: "ATTACH ? AS other", arguments: [file.folder.appending(path: "other").path])
            try #expect(String.fetchOne(db, sql: "PRAGMA other.journal_mode = truncate") == "truncate")
            try db.execute(sql: "DETACH other")
        }
    }
}
