import Foundation
import Shellac
import TestSupport
import Testing

/// Dates as SQLite's own functions see them.
@Suite("Dates in SQL")
struct DateSQLiteTests {
    @Test(
        "Stored dates are the dates of SQLite's own functions", .behaviour(42),
        arguments: [1, 2, 3] as [UInt64])
    func stored(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let milliseconds = (0..<2000).map { _ in
            Int64.random(in: -62_167_219_200_000..<253_402_300_800_000, using: &generator)
        }
        try DatabaseQueue().write { db in
            let dates = milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
            _ = try db.store(dates, column: "DATETIME")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT v, strftime('%s', v) AS seconds, strftime('%Y-%m-%d %H:%M:%f', v) AS text,
                        julianday(v) AS day, round((julianday(v) - 2440587.5) * 86400000) AS milliseconds
                    FROM stored ORDER BY rowid
                    """)
            #expect(rows.count == dates.count)
            for ((row, date), expected) in zip(zip(rows, dates), milliseconds) {
                let text: String = try row["v"]
                #expect(try row["text"] == text, "seed \(seed)")
                let wholeSeconds = Int64((Double(expected) / 1000).rounded(.down))
                #expect(try Int64(row["seconds"] as String) == wholeSeconds, "seed \(seed): \(text)")
                #expect(
                    try abs(row["milliseconds"] as Double - Double(expected)) <= 1, "seed \(seed): \(text)")
                #expect(try Date(julianDay: row["day"]).databaseValue == text.databaseValue, "seed \(seed)")
                #expect(try abs(row["day"] as Double - date.julianDay) < 1e-8, "seed \(seed): \(text)")
                #expect(try abs((row["v"] as Date).timeIntervalSince(date)) < 1e-4, "seed \(seed): \(text)")
            }
        }
    }

    @Test("Dates sort as their texts do", .behaviour(42), arguments: [1] as [UInt64])
    func order(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let dates = (0..<1000).map { _ in
            Date(timeIntervalSince1970: .random(in: -62_167_219_200..<253_402_300_799, using: &generator))
        }
        try DatabaseQueue().write { db in
            _ = try db.store(dates)
            let sorted = try Date.fetchAll(db, sql: "SELECT v FROM stored ORDER BY v")
            #expect(sorted == sorted.sorted(), "seed \(seed)")
            #expect(zip(sorted, dates.sorted()).allSatisfy { abs($0.timeIntervalSince($1)) < 0.001 })
        }
    }

    @Test(
        "Texts of every format are the dates that SQLite sees in them", .behaviour(42),
        arguments: [1, 2] as [UInt64])
    func formats(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let formats = [
            "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%f", "%Y-%m-%dT%H:%M",
            "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%f",
        ]
        let zones = ["", "Z", "+00:00", "-00:00", "+02:00", "-11:30", "+13:45"]
        try DatabaseQueue().read { db in
            let statement = try db.makeStatement(
                sql: """
                    WITH texts(v) AS (SELECT strftime(:format, :seconds, 'unixepoch') || :zone)
                    SELECT v, strftime('%Y-%m-%d %H:%M:%f', v) AS utc FROM texts
                    """)
            for _ in 0..<3000 {
                // The first and the last day stay in the years 0000 to 9999 in any zone.
                let seconds = Double.random(in: -62_167_000_000..<253_402_000_000, using: &generator)
                let format = formats.randomElement(using: &generator) ?? ""
                let zone = format == formats[0] ? "" : zones.randomElement(using: &generator) ?? ""
                let row = try #require(
                    try Row.fetchOne(
                        statement, arguments: ["format": format, "seconds": seconds, "zone": zone]))
                let date: Date = try row["v"]
                let text: String = try row["v"]
                #expect(try row["utc"] == date.databaseValue, "seed \(seed): \(text), \(format), \(zone)")
            }
        }
    }

    @Test("Numbers are Unix time, on every way", .behaviour(42), arguments: ReadingWay.allCases)
    func numbers(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db in
            for (literal, seconds) in [
                ("0", 0.0), ("1437526923", 1_437_526_923), ("-1.5", -1.5),
                ("strftime('%s', '2015-07-22') + 0", 1_437_523_200), ("2457225.5", 2_457_225.5),
            ] {
                let date = try db.read(Date.self, by: way, sql: "SELECT \(literal) AS v")
                #expect(date == Date(timeIntervalSince1970: seconds), "\(literal)")
            }
        }
    }

    @Test("CURRENT_TIMESTAMP is now", .behaviour(42), arguments: ReadingWay.allCases)
    func now(_ way: ReadingWay) throws {
        try DatabaseQueue().read { db in
            let date = try db.read(Date.self, by: way, sql: "SELECT CURRENT_TIMESTAMP AS v")
            #expect(abs(date?.timeIntervalSinceNow ?? 1000) < 60)
        }
    }
}
