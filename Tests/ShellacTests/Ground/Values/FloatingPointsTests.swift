import Shellac
import TestSupport
import Testing

@Suite("Real numbers")
struct FloatingPointsTests {
    @Test(
        "Real numbers round-trip, infinities too", .behaviour(43), arguments: ["", "REAL", "BLOB"],
        ReadingWay.allCases)
    func doubles(_ column: String, _ way: ReadingWay) throws {
        try DatabaseQueue().write { db in
            for double in [
                0, -0.0, 1, -1, 1.5, 0.1, 1e300, -1e300, 9e15, 9.3e18, .pi, .infinity, -.infinity,
                .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude,
            ] as [Double] {
                let sql = try db.store([double], column: column)
                #expect(try db.read(Double.self, by: way, sql: sql) == double)
                #expect(try String.fetchOne(db, sql: "SELECT typeof(v) FROM stored") == "real")
            }
        }
    }

    @Test("Random real numbers keep each of their bits", .behaviour(43), arguments: [1, 2] as [UInt64])
    func randomDoubles(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let doubles = (0..<2000).map { _ in Double(bitPattern: generator.next()) }.filter { !$0.isNaN }
        try DatabaseQueue().write { db in
            let sql = try db.store(doubles, column: "REAL")
            #expect(try Double.fetchAll(db, sql: sql) == doubles, "seed \(seed)")
            #expect(try Row.fetchAll(db, sql: sql).map { try $0[0] } == doubles, "seed \(seed)")
        }
    }

    @Test("Not-a-number is stored as NULL", .behaviour(43), arguments: ["", "REAL", "TEXT"])
    func notANumber(_ column: String) throws {
        try DatabaseQueue().write { db in
            let doubles = try db.store([.nan, -.nan, .signalingNaN] as [Double], column: column)
            #expect(try Double?.fetchAll(db, sql: doubles) == [nil, nil, nil])
            let floats = try db.store([.nan, -.nan, .signalingNaN] as [Float], column: column)
            #expect(try Float?.fetchAll(db, sql: floats) == [nil, nil, nil])
            try db.execute(sql: "CREATE TABLE strict (v REAL NOT NULL)")
            let error = #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO strict VALUES (?)", arguments: [Double.nan])
            }
            #expect(error?.message == "NOT NULL constraint failed: strict.v")
            #expect(DatabaseValue(.double(.nan)) == .null)
            #expect(DatabaseValue(floatLiteral: .nan).isNull)
        }
    }

    @Test(
        "Floats round-trip, and a double rounds to the nearest float", .behaviour(43),
        arguments: ReadingWay.allCases)
    func floats(_ way: ReadingWay) throws {
        try DatabaseQueue().write { db throws in
            for float in [
                0, 1, -1.5, 0.1, 16_777_216, .infinity, -.infinity, .greatestFiniteMagnitude,
                .leastNonzeroMagnitude,
            ] as [Float] {
                #expect(try db.read(Float.self, by: way, sql: db.store([float])) == float)
                #expect(try Double.fetchOne(db, sql: "SELECT v FROM stored") == Double(float))
            }
            #expect(try db.read(Float.self, by: way, sql: "SELECT 0.1 AS v") == 0.1)
            #expect(try db.read(Float.self, by: way, sql: "SELECT 7 AS v") == 7)
        }
    }

    @Test("An integer reads as a real number", .behaviour(44), arguments: ReadingWay.allCases)
    func integers(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db throws in
            #expect(try db.read(Double.self, by: way, sql: "SELECT 7 AS v") == 7)
            #expect(
                try db.read(Double.self, by: way, sql: "SELECT -9223372036854775808 AS v") == -0x1p63)
            for literal in ["'1.5'", "'1st'", "''", "x'31'", "x''"] {
                #expect(throws: RowDecodingError.self) {
                    try db.read(Double.self, by: way, sql: "SELECT \(literal) AS v")
                }
            }
        }
    }
}
