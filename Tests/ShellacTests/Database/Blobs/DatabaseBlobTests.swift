import CSQLite
import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Blobs that are read and written in pieces.
@Suite("DatabaseBlob")
struct DatabaseBlobTests {
    /// Opens a database with files, whose contents are the numbers from 0 to 255 again and again.
    private func files(_ writer: Writer = .queue) throws -> (any DatabaseWriter, TemporaryDatabase) {
        let file = try TemporaryDatabase()
        let database = try writer.open(file)
        try database.write { db in
            try db.execute(
                sql: "CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, content BLOB, size INTEGER)")
            for (id, count) in [(1, 1_000), (2, 300_000), (3, 0)] {
                try db.execute(
                    sql: "INSERT INTO file VALUES (?, ?, ?, ?)",
                    arguments: [id, "file \(id)", bytes(count), count])
            }
        }
        return (database, file)
    }

    private func bytes(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 % 256) }) }

    private func content(_ database: any DatabaseWriter, _ id: Int64) throws -> Data? {
        try database.inDatabase { db in
            try Data.fetchOne(db, sql: "SELECT content FROM file WHERE id = ?", arguments: [id])
        }
    }

    // MARK: - Reading

    @Test("A blob is read by ranges, into memory, and in pieces", arguments: Writer.allCases)
    func reading(writer: Writer) throws {
        let (database, file) = try files(writer)
        defer { withExtendedLifetime(file) {} }
        try database.read { db in
            try db.readBlob("content", of: "file", rowID: 2) { blob in
                #expect(blob.count == 300_000 && blob.rowID == 2)
                let parts = try [
                    blob.read(0..<3), blob.read(299_999..<300_000), blob.read(255..<258), blob.read(5..<5),
                ]
                #expect(parts == [Data([0, 1, 2]), Data([223]), Data([255, 0, 1]), Data()])
                var four: [UInt8] = [9, 9, 9, 9]
                try four.withUnsafeMutableBytes { try blob.read(into: $0, at: 100) }
                #expect(four == [100, 101, 102, 103])
                var sizes: [Int] = []
                var all = Data()
                try blob.forEachPiece(ofSize: 70_000) { piece in
                    sizes.append(piece.count)
                    all += piece
                }
                #expect(sizes == [70_000, 70_000, 70_000, 70_000, 20_000] && all == bytes(300_000))
            }
            let empty = try db.readBlob("content", of: "file", rowID: 3) { blob in
                try blob.forEachPiece { _ in Issue.record("there is no piece") }
                return blob.count
            }
            #expect(empty == 0)
            // The bytes of a text.
            let name = try db.readBlob("name", of: "file", rowID: 1) { try $0.read(0..<4) }
            #expect(name == Data("file".utf8))
        }
    }

    @Test("A blob goes to another row of its column")
    func moving() throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.read { db in
            let counts = try db.readBlob("CONTENT", of: "File", rowID: 1) { blob in
                var counts = [blob.count]
                for id: Int64 in [2, 3, 1] {
                    try blob.move(toRow: id)
                    counts.append(blob.count)
                }
                return counts
            }
            #expect(counts == [1_000, 300_000, 0, 1_000])
            expectError(
                "the blob file.content of row 9: it has expired: its row was changed or deleted since it was "
                    + "opened, its transaction has ended, or it was moved to a row that is not there"
            ) {
                try db.readBlob("content", of: "file", rowID: 1) { blob in
                    #expect(throws: DatabaseError.self) { try blob.move(toRow: 9) }
                    _ = try blob.read(0..<1)
                }
            }
        }
    }

    @Test("A blob that is not there is an error that names the table and the column")
    func missing() throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE keyed (id TEXT PRIMARY KEY, content BLOB) WITHOUT ROWID;
                    CREATE VIEW seen AS SELECT * FROM file;
                    UPDATE file SET size = NULL WHERE id = 3;
                    """)
            func message(_ column: String, _ table: String, _ rowID: Int64) -> String {
                databaseError { try db.readBlob(column, of: table, rowID: rowID) { _ in } }?.message
                    ?? "nothing"
            }
            #expect(message("content", "fiel", 1).contains("no such table: main.fiel"))
            #expect(message("kontent", "file", 1).contains("no such column: kontent"))
            #expect(message("content", "file", 9) == "the blob file.content of row 9: no such rowid: 9")
            #expect(
                message("size", "file", 1) == "the blob file.size of row 1: cannot open value of type integer"
            )
            #expect(
                message("size", "file", 3) == "the blob file.size of row 3: cannot open value of type null")
            #expect(
                message("content", "keyed", 1)
                    == "the blob keyed.content of row 1: cannot open table without rowid: keyed")
            #expect(message("content", "seen", 1) == "the blob seen.content of row 1: cannot open view: seen")
            #expect(
                databaseError { try db.readBlob("content", of: "file", rowID: 1, in: "other") { _ in } }?
                    .message?
                    .contains("other") ?? false)
        }
    }

    @Test(
        "Bytes that are not within a blob are neither read nor written",
        arguments: [(-1, 2), (999, 2), (1_001, 0), (0, 1_001), (Int.max, 1), (5, Int(Int32.max))])
    func range(offset: Int, count: Int) throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.write { db in
            try db.writeBlob("content", of: "file", rowID: 1) { blob in
                let last = offset &+ count
                let sentence =
                    "the blob file.content of row 1: bytes from \(offset) to \(last) are not within it: it has 1000"
                if count < 2_000 {
                    var memory = [UInt8](repeating: 7, count: count)
                    var messages: [String?] = []
                    messages.append(
                        databaseError {
                            try memory.withUnsafeMutableBytes { try blob.read(into: $0, at: offset) }
                        }?.message)
                    messages.append(databaseError { try blob.write(Data(memory), at: offset) }?.message)
                    #expect(messages == [sentence, sentence] && memory.allSatisfy { $0 == 7 })
                }
                guard offset < Int.max else { return }
                let error = databaseError { _ = try blob.read(offset..<last) }
                #expect(error?.message == sentence && error?.resultCode == .SQLITE_RANGE)
            }
        }
        let unchanged = try content(database, 1)
        #expect(unchanged == bytes(1_000))
    }

    // MARK: - Writing

    @Test(
        "A blob is written in pieces, in a transaction or outside of one", arguments: Writer.allCases,
        [true, false])
    func writing(writer: Writer, isInside: Bool) throws {
        let (database, file) = try files(writer)
        defer { withExtendedLifetime(file) {} }
        try database.writeWithoutTransaction { db in
            func write() throws {
                let count = try db.writeBlob("content", of: "file", rowID: 1) { blob in
                    try blob.write(Data([200, 201]), at: 0)
                    try blob.write(Data([202]), at: 999)
                    try [UInt8]([203, 204]).withUnsafeBytes { try blob.write($0, at: 2) }
                    try blob.write(Data(), at: 1_000)
                    #expect(try blob.read(0..<5) == Data([200, 201, 203, 204, 4]))
                    return blob.count
                }
                #expect(count == 1_000)
            }
            if isInside {
                try db.inTransaction {
                    try write()
                    return .commit
                }
            } else {
                try write()
            }
            #expect(!db.isInsideTransaction)
        }
        var expected = bytes(1_000)
        expected.replaceSubrange(0..<4, with: [200, 201, 203, 204])
        expected[999] = 202
        let found = try content(database, 1)
        #expect(found == expected)
    }

    @Test("A blob is made of zeros, and filled, without ever being in memory")
    func zeros() throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        let size = 40 << 20
        try database.write { db in
            try db.execute(sql: "INSERT INTO file (name) VALUES ('film')")
            let piece = Data(repeating: 7, count: 1 << 16)
            sqliteMemoryReset()
            let before = sqliteMemory().now
            try db.writeBlob("content", of: "file", rowID: db.lastInsertedRowID, count: size) { blob in
                for offset in stride(from: 0, to: size, by: piece.count) { try blob.write(piece, at: offset) }
            }
            var sum = 0
            try db.readBlob("content", of: "file", rowID: db.lastInsertedRowID) { blob in
                try blob.forEachPiece { piece in sum += piece.reduce(0) { $0 + Int($1) } }
            }
            #expect(sum == 7 * size)
            #expect(sqliteMemory().most - before < 20 << 20)
            // An update of the value does not need it either, nor does a smaller one.
            let count = try db.writeBlob("content", of: "file", rowID: 1, count: 3) { $0.count }
            #expect(count == 3)
            let none = try db.writeBlob("content", of: "file", rowID: 1, count: 0) { $0.count }
            #expect(none == 0)
            expectError("the blob file.content cannot have -1 bytes") {
                try db.writeBlob("content", of: "file", rowID: 1, count: -1) { _ in }
            }
            #expect(
                databaseError { try db.writeBlob("content", of: "file", rowID: 1, count: 3 << 30) { _ in } }?
                    .resultCode == .SQLITE_TOOBIG)
        }
    }

    @Test("A table may have columns with the names of row IDs")
    func rowIDNames() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: "CREATE TABLE odd (rowid, _rowid_, content); INSERT INTO odd VALUES (5, 6, x'00')")
            try db.writeBlob("content", of: "odd", rowID: 1, count: 2) { try $0.write(Data([1, 2]), at: 0) }
            let found = try Data.fetchOne(db, sql: "SELECT content FROM odd")
            #expect(found == Data([1, 2]))
        }
    }

    @Test("An error undoes the pieces that were written, and nothing else", arguments: [true, false])
    func rollback(isInside: Bool) throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.writeWithoutTransaction { db in
            func fail() throws {
                #expect(throws: TestError(1)) {
                    try db.writeBlob("content", of: "file", rowID: 1, count: 5) { blob in
                        try blob.write(Data([9]), at: 0)
                        throw TestError(1)
                    }
                }
            }
            if isInside {
                try db.inTransaction {
                    try db.execute(sql: "UPDATE file SET name = 'changed'")
                    try fail()
                    return .commit
                }
            } else {
                try fail()
            }
        }
        let found = try content(database, 1)
        #expect(found == bytes(1_000))
        let name = try database.inDatabase { db in try String.fetchOne(db, sql: "SELECT name FROM file") }
        #expect(name == (isInside ? "changed" : "file 1"))
    }

    @Test(
        "A blob expires when its row changes, and the error says so",
        arguments: ["UPDATE file SET name = 'x' WHERE id = 1", "DELETE FROM file WHERE id = 1"])
    func expiry(sql: String) throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.execute(sql: "UPDATE file SET size = 0 WHERE id = 2")
                let error = databaseError {
                    try db.readBlob("content", of: "file", rowID: 1) { blob in
                        _ = try blob.read(0..<3)
                        // Another row does no harm.
                        try db.execute(sql: "UPDATE file SET size = 1 WHERE id = 2")
                        _ = try blob.read(0..<3)
                        try db.execute(sql: sql)
                        _ = try blob.read(0..<3)
                    }
                }
                #expect(error?.resultCode == .SQLITE_ABORT)
                #expect(
                    error?.message?.hasPrefix(
                        "the blob file.content of row 1: it has expired: its row was changed") ?? false)
                return .commit
            }
            try #expect(db.isUsable())
        }
    }

    @Test("A blob that is written does not outlive its transaction", arguments: ["ROLLBACK", "COMMIT"])
    func end(sql: String) throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        try database.writeWithoutTransaction { db in
            let error = databaseError {
                try db.writeBlob("content", of: "file", rowID: 1) { blob in
                    try blob.write(Data([9]), at: 0)
                    try db.execute(sql: sql)
                    try blob.write(Data([9]), at: 1)
                }
            }
            #expect(error != nil)
            #expect(!db.isInsideTransaction)
            try #expect(db.isUsable())
        }
        let found = try content(database, 1)
        #expect(found == bytes(1_000))
    }

    @Test("A read does not write")
    func readOnly() throws {
        let (database, file) = try files(.pool)
        defer { withExtendedLifetime(file) {} }
        try database.read { db in
            let write = databaseError { try db.writeBlob("content", of: "file", rowID: 1) { _ in } }
            #expect(write?.resultCode == .SQLITE_READONLY)
            expectError("the blob file.content of row 1: it was opened for reading: use writeBlob") {
                try db.readBlob("content", of: "file", rowID: 1) { try $0.write(Data([1]), at: 0) }
            }
        }
    }

    @Test("SQLite refuses columns with an index or a foreign key, and generated ones")
    func refused() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE a (b BLOB UNIQUE, c BLOB, d BLOB AS (c) STORED); INSERT INTO a VALUES (x'01', x'02');
                    CREATE TABLE child (b BLOB REFERENCES a (b)); INSERT INTO child VALUES (x'01');
                    """)
            func message(_ column: String, _ table: String) -> String {
                databaseError { try db.writeBlob(column, of: table, rowID: 1) { _ in } }?.message ?? "nothing"
            }
            #expect(message("b", "a") == "the blob a.b of row 1: cannot open indexed column for writing")
            #expect(
                message("b", "child")
                    == "the blob child.b of row 1: cannot open foreign key column for writing")
            #expect(message("d", "a").contains("generated column"))
            // They can be read.
            let read = try db.readBlob("b", of: "a", rowID: 1) { try $0.read(0..<1) }
            #expect(read == Data([1]))
        }
    }

    @Test("An attached database and a temporary table have blobs, too")
    func schemas() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS other;
                    CREATE TABLE main.a (b); CREATE TABLE other.a (b); CREATE TEMP TABLE a (b);
                    INSERT INTO main.a VALUES (x'01'); INSERT INTO other.a VALUES (x'02'); INSERT INTO temp.a VALUES (x'03');
                    """)
            let found = try ["main", "other", "temp"].map { name in
                try db.readBlob("b", of: "a", rowID: 1, in: name) { try $0.read(0..<1)[0] }
            }
            #expect(found == [1, 2, 3])
            try db.writeBlob("b", of: "a", rowID: 1, in: "other") { try $0.write(Data([8]), at: 0) }
            let all = try Data.fetchAll(
                db, sql: "SELECT b FROM main.a UNION ALL SELECT b FROM other.a UNION ALL SELECT b FROM temp.a"
            )
            #expect(all == [Data([1]), Data([8]), Data([3])])
        }
    }

    // MARK: - What follows the database

    @Test("Observers are notified of the table, also those of rows, and none is told of a deletion")
    func observers() throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        let spy = Spy()
        try database.add(transactionObserver: spy, options: [.rowValues, .hiddenChanges])
        try database.write { db in
            // A run whose hook may stay installed.
            try db.execute(sql: "UPDATE file SET name = 'x' WHERE id = 2")
            try db.writeBlob("content", of: "file", rowID: 1) { try $0.write(Data([1]), at: 0) }
        }
        #expect(spy.log.elements == ["change of 2", "some change", "commit"])
        spy.log.removeAll()
        try database.writeWithoutTransaction { db in
            try db.writeBlob("content", of: "file", rowID: 1) { try $0.write(Data([1]), at: 0) }
        }
        #expect(spy.log.elements == ["some change", "commit"])
        spy.log.removeAll()
        try? database.write { db in
            try db.writeBlob("content", of: "file", rowID: 1) { _ in throw TestError() }
        }
        #expect(spy.log.elements.filter { $0 != "rollback" } == [])
    }

    private final class Spy: TransactionObserver, Sendable {
        let log = Recorder<String>()
        func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) { log.record("change of \(event.rowID)") }
        func databaseDidChange() { log.record("some change") }
        func databaseWillChange(with event: DatabasePreUpdateEvent) {}
        func databaseDidCommit(_ db: Database) { log.record("commit") }
        func databaseDidRollback(_ db: Database) { log.record("rollback") }
    }

    @Test("Cancelling the task of an access ends the reading")
    func cancelling() async throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        let begun = Gate()
        let count = Shared(0)
        let task = Task {
            try await database.read { db in
                try db.readBlob("content", of: "file", rowID: 2) { blob in
                    begun.open()
                    while true {
                        _ = try blob.read(0..<10)
                        count.withLock { $0 += 1 }
                    }
                }
            }
        }
        try await waitUntil { begun.isOpen }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(count.value >= 0)
        let names = try content(database, 1)
        #expect(names?.count == 1_000)
    }

    @Test("A live value of the column is fetched again, and one of another column is not")
    func live() async throws {
        let (database, file) = try files()
        defer { withExtendedLifetime(file) {} }
        let fetches = Shared(0)
        let contents = Recorder<UInt8>()
        let observation = ValueObservation.tracking { db in
            try db.readBlob("content", of: "file", rowID: 1) { try $0.read(0..<1)[0] }
        }
        let names = ValueObservation.tracking { db in
            fetches.withLock { $0 += 1 }
            return try String.fetchAll(db, sql: "SELECT name FROM file")
        }
        let tasks = [
            Task { for try await value in observation.values(in: database) { contents.record(value) } },
            Task { for try await _ in names.values(in: database) {} },
        ]
        try await waitFor([0]) { contents.elements }
        try await waitUntil { fetches.value == 1 }
        try database.inTransaction { db in
            try db.writeBlob("content", of: "file", rowID: 1) { try $0.write(Data([77]), at: 0) }
            return .commit
        }
        try await waitFor([0, 77]) { contents.elements }
        #expect(fetches.value == 1)
        for task in tasks { task.cancel() }
    }

    private func sqliteMemory() -> (now: Int, most: Int) {
        (Int(sqlite3_memory_used()), Int(sqlite3_memory_highwater(0)))
    }

    private func sqliteMemoryReset() { sqlite3_memory_highwater(1) }
}
