import TestSupport
import Testing

@testable import Shellac

@Suite("Progress of long work")
struct ProgressTests {
    private struct Point: Codable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var x: Int
        static let databaseTableName = "point"
        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    private class Spot: Record {
        var id: Int64?
        var x = 0
        override class var databaseTableName: String { "point" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("x", x) { x = $0 }
        }
    }

    private static let table = "CREATE TABLE point (id INTEGER PRIMARY KEY, x INT NOT NULL UNIQUE)"

    @Test("insertAll tells of each thousand records")
    func insertAll() throws {
        let queue = try exchangeQueue(Self.table)
        try queue.write { db in
            var points = (0..<2_100).map { Point(id: nil, x: $0) }
            var told: [WorkProgress] = []
            try Point.insertAll(db, &points) { told.append($0) }
            #expect(told.map(\.completedCount) == [1_000, 2_000, 2_100])
            #expect(
                told.map(\.totalCount) == [2_100, 2_100, 2_100]
                    && told.map(\.isCompleted) == [false, false, true])
            #expect(points.map(\.id) == (1...2_100).map(Int64.init))
            let spots = (0..<1_001).map { number in
                let spot = Spot()
                spot.x = 10_000 + number
                return spot
            }
            var counts: [Int] = []
            try Spot.insertAll(db, spots) { counts.append($0.rowCount) }
            #expect(counts == [1_000, 1_001])
            #expect(spots.last?.id == 3_101)
        }
    }

    @Test("an error of the progress, and of a record, undoes all that insertAll has inserted")
    func undoneInsertAll() throws {
        let queue = try exchangeQueue(Self.table)
        try queue.write { db in
            var points = (0..<1_500).map { Point(id: nil, x: $0) }
            #expect(
                thrown { try Point.insertAll(db, &points) { if $0.isCompleted { throw TestError(5) } } }
                    == "TestError(number: 5)")
            #expect(points.allSatisfy { $0.id == nil })
            points[1_400].x = 3
            #expect(thrown { try Point.insertAll(db, &points) { _ in } }?.contains("UNIQUE") == true)
            #expect(points.allSatisfy { $0.id == nil })
            let spots = (0..<1_500).map { number in
                let spot = Spot()
                spot.x = number
                return spot
            }
            #expect(
                thrown { try Spot.insertAll(db, spots) { if $0.isCompleted { throw TestError(6) } } } != nil)
            #expect(spots.allSatisfy { $0.id == nil })
            try #expect(db.literals("SELECT count(*) FROM point") == ["0"])
        }
    }

    private func fragmented(_ folder: TemporaryFolder) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t (a INTEGER PRIMARY KEY, b);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO t SELECT i, zeroblob(500) FROM n;
                    DELETE FROM t WHERE a % 2
                    """)
            db.releaseMemory()
        }
        return queue
    }

    @Test("vacuum tells of the pages that it reads")
    func vacuum() throws {
        let folder = try TemporaryFolder()
        let queue = try fragmented(folder)
        var told: [WorkProgress] = []
        try queue.vacuum { told.append($0) }
        #expect(told.count > 10)
        let fractions = told.compactMap(\.fraction)
        #expect(fractions.count == told.count && fractions == fractions.sorted() && fractions.last == 1)
        #expect(told.last?.isCompleted == true)
        try #expect(queue.read { db in try db.literals("PRAGMA freelist_count") } == ["0"])
        try #expect(queue.read { db in try db.literals("SELECT count(*) FROM t") } == ["10000"])
    }

    @Test("an error of the progress ends a vacuum, and leaves the file as it was")
    func endedVacuum() throws {
        let folder = try TemporaryFolder()
        let queue = try fragmented(folder)
        let before = try queue.read { db in try db.literals("PRAGMA page_count") }
        #expect(thrown { try queue.vacuum { _ in throw TestError(9) } } == "TestError(number: 9)")
        try #expect(queue.read { db in try db.literals("PRAGMA page_count") } == before)
        try queue.vacuum()
        try #expect(queue.read { db in try db.literals("SELECT count(*) FROM t") } == ["10000"])
    }
}
