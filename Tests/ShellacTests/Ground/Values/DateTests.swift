import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Dates")
struct DateTests {
    @Test("Numbers are Unix time", .behaviour(42))
    func numbers() {
        #expect(Date.fromDatabaseValue(0) == Date(timeIntervalSince1970: 0))
        #expect(Date.fromDatabaseValue(1_437_523_200) == readDate("2015-07-22"))
        #expect(Date.fromDatabaseValue(-1.5) == Date(timeIntervalSince1970: -1.5))
        for integer in [Int64.min, Int64.max] {
            let date = Date.fromDatabaseValue(integer.databaseValue)
            #expect(date == Date(timeIntervalSince1970: Double(integer)))
            #expect(date?.databaseValue == Double(integer).databaseValue)
        }
    }

    @Test("Numbers that are not finite, NULL and blobs read as no date", .behaviour(43))
    func noDates() {
        #expect(Date.fromDatabaseValue(Double.infinity.databaseValue) == nil)
        #expect(Date.fromDatabaseValue((-Double.infinity).databaseValue) == nil)
        #expect(Date.fromDatabaseValue(.null) == nil)
        #expect(Date.fromDatabaseValue(Data("2015-07-22".utf8).databaseValue) == nil)
    }

    @Test("Dates that are not finite are stored as NULL", .behaviour(43))
    func notFinite() {
        for seconds in [Double.infinity, -.infinity, .nan, -.nan, .signalingNaN] {
            #expect(Date(timeIntervalSinceReferenceDate: seconds).databaseValue.isNull)
        }
    }

    @Test(
        "The first and the last millisecond of the format are texts, the ones beyond are real numbers",
        .behaviour(43))
    func bounds() throws {
        let first = try #require(readDate("0000-01-01 00:00:00.000"))
        let last = try #require(readDate("9999-12-31 23:59:59.999"))
        #expect(dateText(first) == "0000-01-01 00:00:00.000")
        #expect(dateText(last) == "9999-12-31 23:59:59.999")
        #expect(first.timeIntervalSince1970 == -62_167_219_200)
        #expect(last.timeIntervalSince1970 == 253_402_300_799.999)
        #expect(dateText(last.addingTimeInterval(0.0004)) == "9999-12-31 23:59:59.999")
        #expect(dateText(first.addingTimeInterval(-0.0004)) == "0000-01-01 00:00:00.000")
        // The first day of the Julian calendar's year 1.
        #expect(dateText(.distantPast) == "0000-12-30 00:00:00.000")
        #expect(dateText(.distantFuture) == "4001-01-01 00:00:00.000")

        let beyond = [
            first.addingTimeInterval(-0.001), last.addingTimeInterval(0.001), last.addingTimeInterval(0.0007),
            first.addingTimeInterval(-1e9), last.addingTimeInterval(1e9),
            Date(timeIntervalSince1970: 1e300), Date(timeIntervalSince1970: -1e300),
            Date(timeIntervalSince1970: .greatestFiniteMagnitude),
        ]
        for date in beyond {
            let stored = date.databaseValue
            #expect(stored == date.timeIntervalSince1970.databaseValue)
            let again = try #require(Date.fromDatabaseValue(stored))
            #expect(abs(again.timeIntervalSince(date)) < 0.0005)
            #expect(again.databaseValue == stored)
        }
    }

    @Test("Nothing is written for a date beyond the format, and 23 bytes for any other", .behaviour(43))
    func writing() throws {
        var bytes = [UInt8](repeating: 7, count: 25)
        let isWritten = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { Date(timeIntervalSince1970: 1e12).writeDatabaseText(to: $0 + 1) }
        }
        #expect(isWritten == false)
        #expect(bytes == [UInt8](repeating: 7, count: 25))
        let isWrittenNow = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { Date(timeIntervalSince1970: 0).writeDatabaseText(to: $0 + 1) }
        }
        #expect(isWrittenNow == true)
        #expect(bytes == [7] + Array("1970-01-01 00:00:00.000".utf8) + [7])
    }

    @Test(
        "A date that is written and read is the same to the millisecond", .behaviour(43),
        arguments: [1, 2, 3] as [UInt64])
    func roundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let date = Date(
                timeIntervalSince1970: .random(in: -62_167_219_200..<253_402_300_799, using: &generator))
            let text = try #require(dateText(date), "seed \(seed), \(date.timeIntervalSince1970)")
            let again = try #require(readDate(text), "seed \(seed), \(text)")
            #expect(abs(again.timeIntervalSince(date)) < 0.000_55, "seed \(seed), \(text)")
            #expect(dateText(again) == text, "seed \(seed), \(text)")
            #expect(readDate(text) == again, "seed \(seed), \(text)")
        }
    }

    @Test("A date that is a decimal fraction of milliseconds is read as the same double", .behaviour(43))
    func exactRoundTrip() {
        let seed: UInt64 = 11
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let milliseconds = Int.random(in: -63_145_526_400_000..<252_423_993_600_000, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
            #expect(dateText(date).flatMap(readDate) == date, "seed \(seed), \(milliseconds)")
        }
    }

    @Test("A date is rounded to the nearest millisecond", .behaviour(43))
    func rounding() {
        #expect(dateText(Date(timeIntervalSinceReferenceDate: 0.000_4)) == "2001-01-01 00:00:00.000")
        #expect(dateText(Date(timeIntervalSinceReferenceDate: 0.000_6)) == "2001-01-01 00:00:00.001")
        #expect(dateText(Date(timeIntervalSinceReferenceDate: -0.000_4)) == "2001-01-01 00:00:00.000")
        #expect(dateText(Date(timeIntervalSinceReferenceDate: -0.000_6)) == "2000-12-31 23:59:59.999")
        #expect(dateText(Date(timeIntervalSinceReferenceDate: 59.999_6)) == "2001-01-01 00:01:00.000")
        #expect(readDate("2001-01-01 00:00:00.000600").flatMap(dateText) == "2001-01-01 00:00:00.001")
    }

    @Test(
        "Dates are those of Foundation's Gregorian calendar", .behaviour(42),
        arguments: [1, 2, 3] as [UInt64])
    func calendar(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for _ in 0..<3_000 {
            // 1583-01-01 to 9999-12-31
            let date = Date(
                timeIntervalSince1970: Double(
                    Int.random(in: -12_212_553_600..<253_402_300_800, using: &generator)))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let components = DatabaseDateComponents(parts, format: .YMD_HMSS)
            #expect(
                date.databaseValue == components.databaseValue, "seed \(seed), \(date.timeIntervalSince1970)")
            #expect(Date.fromDatabaseValue(components.databaseValue) == date, "seed \(seed), \(parts)")
        }
    }

    @Test("All days of the years 0000 to 9999 come one after the other", .behaviour(42))
    func allDays() {
        var previous = CivilDate(year: 0, month: 1, day: 1)
        var days = previous.daysSinceReferenceDate
        #expect(days == -730_851)
        var failures = 0
        while true {
            if CivilDate(daysSinceReferenceDate: days) != previous { failures += 1 }
            var next = previous
            next.day += 1
            if next.day > CivilDate.length(ofMonth: next.month, year: next.year) {
                (next.day, next.month) = (1, next.month + 1)
                if next.month > 12 { (next.month, next.year) = (1, next.year + 1) }
            }
            if next.year > 9999 { break }
            days += 1
            if next.daysSinceReferenceDate != days { failures += 1 }
            previous = next
        }
        #expect(failures == 0)
        #expect(days == 2_921_573)
    }

    @Test("Julian days are those of SQLite", .behaviour(42))
    func julianDays() {
        // SELECT julianday('2000-01-01 12:00') and so on.
        let days: [(Double, String)] = [
            (2_451_545, "2000-01-01 12:00:00.000"), (2_440_587.5, "1970-01-01 00:00:00.000"),
            (2_451_910.5, "2001-01-01 00:00:00.000"), (1_721_059.5, "0000-01-01 00:00:00.000"),
            (5_373_484.499_999_99, "9999-12-31 23:59:59.999"),
            (2_457_225.765_046_3, "2015-07-22 06:21:40.000"),
        ]
        for (day, text) in days {
            #expect(dateText(Date(julianDay: day)) == text)
            #expect(readDate(text).map { abs($0.julianDay - day) < 0.000_000_01 } == true)
        }
        #expect(Date(julianDay: .nan).databaseValue.isNull)
        #expect(Date(julianDay: -.infinity).databaseValue.isNull)
        #expect(Date(julianDay: .greatestFiniteMagnitude).databaseValue.isNull)
    }

    @Test("A date is the same as the date of its julian day", .behaviour(42))
    func julianRoundTrip() {
        let seed: UInt64 = 7
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let milliseconds = Int.random(in: -63_145_526_400_000..<252_423_993_600_000, using: &generator)
            let date = Date(timeIntervalSinceReferenceDate: Double(milliseconds) / 1000)
            #expect(Date(julianDay: date.julianDay) == date, "seed \(seed), \(milliseconds)")
        }
    }
}
