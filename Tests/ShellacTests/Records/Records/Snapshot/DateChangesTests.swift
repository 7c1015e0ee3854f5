import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A record with a value that is read and written.
private protocol EventRecord<Value>: Record {
    associatedtype Value: DatabaseValueConvertible
    var value: Value? { get set }
}

private class TabledEvent: Record {
    override class var databaseTableName: String { "event" }
}

private final class PairEvent<Value: DatabaseValueConvertible>: TabledEvent, EventRecord {
    var id: Int64?
    var value: Value?

    override func updateFromRow(_ row: Row) throws {
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("value") { value = try row["value"] }
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["value"] = value
    }
}

private final class ListedEvent<Value: DatabaseValueConvertible>: TabledEvent, EventRecord {
    var id: Int64?
    var value: Value?

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("value", value) { value = $0 }
    }
}

private final class CodedEvent<Value: DatabaseValueConvertible & Codable>: TabledEvent, EventRecord, Codable {
    var id: Int64?
    var value: Value?
}

extension RecordStyle {
    /// The events of this style whose values are of a type.
    fileprivate func event<Value: DatabaseValueConvertible & Codable>(
        _: Value.Type
    ) -> any EventRecord<Value>.Type {
        choose(PairEvent<Value>.self, ListedEvent<Value>.self, CodedEvent<Value>.self)
    }
}

/// A record whose date goes through a box.
private final class Boxed: TabledEvent {
    var value: (any DatabaseValueConvertible)?
    override func updateFromRow(_ row: Row) throws { value = try row["value"] as Date? }
    override func encode(to container: inout PersistenceContainer) throws { container["value"] = value }
}

@Suite("Changes of dates")
struct DateChangesTests {
    static let types = ["DATETIME", "TEXT", "INTEGER", "REAL", "BLOB", ""]

    /// The values of a column, as SQL: a date, in a readable format.
    static let readable = [
        "CURRENT_TIMESTAMP", "CURRENT_DATE", "'2020-02-29'", "'2020-02-29 12:30'", "'2020-02-29 12:30:45'",
        "'2020-02-29 12:30:45.123'", "'2020-02-29T12:30'", "'2020-02-29T12:30:45'",
        "'2020-02-29T12:30:45.123'",
        "'2020-02-29 12:30:45.1'", "'2020-02-29 12:30:45.123456789'", "'2020-02-29 12:30:45.1239'",
        "'2020-02-29 12:30:45Z'", "'2020-02-29T12:30:45.123Z'", "'2020-02-29 12:30:45+05:30'",
        "'2020-02-29T00:00-08:00'", "'0000-01-01'", "'9999-12-31 23:59:59.999'", "'1969-12-31 23:59:59.9995'",
        "0", "1582979445", "-1", "1582979445.123", "1582979445.1234567", "-0.0004", "253402300800", "-1e12",
        "1e12",
    ]

    private func withEvent<Event: EventRecord>(
        _: Event.Type, _ type: String, _ sql: String, _ body: (Database, Event) throws -> Void
    ) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE event (id INTEGER PRIMARY KEY, value \(type));
                    INSERT INTO event VALUES (1, \(sql));
                    """)
            try body(db, #require(try Event.fetchOne(db)))
        }
    }

    @Test(
        "A date in any of the readable formats is clean right after a fetch", .behaviour(7),
        arguments: RecordStyle.each(types), readable)
    func formats(_ first: (style: RecordStyle, type: String), sql: String) throws {
        try formats(first.style.event(Date.self), type: first.type, sql: sql)
    }

    private func formats<Event: EventRecord<Date>>(_: Event.Type, type: String, sql: String) throws {
        // Such a date has no text, and must not be in a column that makes one of it.
        if type == "TEXT", Double(sql) != nil { return }
        try withEvent(Event.self, type, sql) { (db, event: Event) in
            let date = try #require(event.value)
            #expect(!event.hasDatabaseChanges)
            #expect(try event.databaseChanges == [:])
            #expect(try !event.updateChanges(db))
            let wide = try #require(
                try Event.fetchOne(db, sql: "SELECT 1 AS a, value, id FROM event"))
            #expect(try !wide.hasDatabaseChanges && wide.databaseChanges == [:])
            event.value = date.addingTimeInterval(0.002)
            #expect(event.hasDatabaseChanges)
            event.value = nil
            #expect(event.hasDatabaseChanges)
            event.value = date
            try event.update(db)
            #expect(!event.hasDatabaseChanges)
            try event.reload(db)
            #expect(!event.hasDatabaseChanges)
            #expect(try #require(try Event.fetchOne(db)).hasDatabaseChanges == false)
        }
    }

    @Test(
        "Dates within the same millisecond are the same, and those of the next one are not", .behaviour(7),
        arguments: RecordStyle.allCases, types)
    func milliseconds(style: RecordStyle, type: String) throws {
        try milliseconds(style.event(Date.self), type: type)
    }

    private func milliseconds<Event: EventRecord<Date>>(_: Event.Type, type: String) throws {
        try withEvent(Event.self, type, "'2020-02-29T12:30:45.123'") { (db, event: Event) in
            let date = try #require(event.value)
            for (seconds, isClean) in [
                (0, true), (0.0004, true), (-0.0004, true), (0.0006, false), (-0.0006, false), (0.001, false),
                (3600, false),
            ] {
                event.value = date.addingTimeInterval(seconds)
                #expect(event.hasDatabaseChanges == !isClean, "\(seconds)")
                #expect(try event.databaseChanges.isEmpty == isClean, "\(seconds)")
            }
            event.value = date.addingTimeInterval(0.0004)
            try event.update(db)
            event.value = date.addingTimeInterval(-0.0004)
            #expect(!event.hasDatabaseChanges, "after a save, too")
        }
    }

    @Test(
        "A date that is stored in our format has changed when its text has", .behaviour(7),
        arguments: RecordStyle.allCases, 1...4)
    func texts(style: RecordStyle, seed: UInt64) throws { try texts(style.event(Date.self), seed: seed) }

    private func texts<Event: EventRecord<Date>>(_: Event.Type, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try withEvent(Event.self, "DATETIME", "NULL") { (db, event: Event) in
            for _ in 0..<300 {
                let milliseconds = Int.random(
                    in: -62_167_219_200_000..<253_402_300_800_000, using: &generator)
                let text = Date(timeIntervalSince1970: Double(milliseconds) / 1000).databaseValue
                try db.execute(sql: "UPDATE event SET value = ?", arguments: [text])
                try event.reload(db)
                let date = try #require(event.value)
                #expect(!event.hasDatabaseChanges)
                for microseconds in [
                    -1001, -1000, -999, -501, -500, -499, -1, 1, 499, 500, 501, 999, 1000, 1001,
                ] {
                    let other = date.addingTimeInterval(Double(microseconds) / 1_000_000)
                    event.value = other
                    #expect(
                        event.hasDatabaseChanges == (other.databaseValue != text), "\(text), \(microseconds)")
                }
            }
        }
    }

    @Test("NULL is no date, and a date that is NULL is clean", .behaviour(7), arguments: RecordStyle.allCases)
    func null(style: RecordStyle) throws { try null(style.event(Date.self)) }

    private func null<Event: EventRecord<Date>>(_: Event.Type) throws {
        try withEvent(Event.self, "DATETIME", "NULL") { (_, event: Event) in
            #expect(event.value == nil && !event.hasDatabaseChanges)
            event.value = Date(timeIntervalSince1970: 0)
            try #expect(event.databaseChanges == ["value": DatabaseValue.null])
        }
        try withEvent(Event.self, "DATETIME", "'2020-02-29'") { (_, event: Event) in
            event.value = nil
            try #expect(event.databaseChanges == ["value": "2020-02-29"])
        }
        try withEvent(Event.self, "INTEGER", "0") { (_, event: Event) in
            event.value = nil
            #expect(event.hasDatabaseChanges)
        }
    }

    @Test(
        "Date components in every format are clean right after a fetch", .behaviour(7),
        arguments: RecordStyle.allCases,
        [
            "1973-09-18", "1973-09-18 12:30", "1973-09-18 12:30:45", "1973-09-18 12:30:45.123", "12:30",
            "12:30:45",
            "12:30:45.123", "1973-09-18T12:30", "1973-09-18T12:30:45", "1973-09-18T12:30:45.123",
            "12:30:45.1",
            "1973-09-18 12:30:45.1",
        ])
    func components(style: RecordStyle, text: String) throws {
        try components(style.event(DatabaseDateComponents.self), text)
    }

    private func components<Event: EventRecord<DatabaseDateComponents>>(_: Event.Type, _ text: String) throws
    {
        try withEvent(Event.self, "TEXT", "'\(text)'") { (db, event: Event) in
            #expect(event.value != nil)
            #expect(try !event.hasDatabaseChanges && event.databaseChanges == [:])
            let old = event.value
            if text.contains(":") {
                event.value?.dateComponents.minute = 31
            } else {
                event.value?.dateComponents.day = 19
            }
            #expect(event.hasDatabaseChanges)
            #expect(try event.databaseChanges == ["value": text.databaseValue])
            event.value = old
            try event.update(db)
            #expect(
                try !event.hasDatabaseChanges
                    && !#require(try Event.fetchOne(db)).hasDatabaseChanges)
        }
    }

    @Test("A time alone is no time of any day", .behaviour(7), arguments: RecordStyle.allCases)
    func timeAlone(style: RecordStyle) throws { try timeAlone(style.event(DatabaseDateComponents.self)) }

    private func timeAlone<Event: EventRecord<DatabaseDateComponents>>(_: Event.Type) throws {
        try withEvent(Event.self, "TEXT", "'2001-01-01 12:30:00'") { (_, event: Event) in
            event.value?.format = .HM
            #expect(event.hasDatabaseChanges)
        }
    }

    @Test("A text that looks like a date compares as a text", .behaviour(7), arguments: RecordStyle.allCases)
    func texts(style: RecordStyle) throws { try texts(style.event(String.self), style.event(AnyValue.self)) }

    private func texts<Event: EventRecord<String>, AnyEvent: EventRecord<AnyValue>>(
        _: Event.Type, _: AnyEvent.Type
    ) throws {
        try withEvent(Event.self, "DATETIME", "'2020-02-29 12:30:45'") { (db, event: Event) in
            #expect(!event.hasDatabaseChanges)
            for text in ["2020-02-29T12:30:45", "2020-02-29 12:30:45.000", "2020-02-29 12:30:45Z"] {
                event.value = text
                #expect(try event.databaseChanges == ["value": "2020-02-29 12:30:45"])
                try event.update(db, columns: ["value"])
                #expect(!event.hasDatabaseChanges)
                event.value = "2020-02-29 12:30:45"
                #expect(event.hasDatabaseChanges)
                try event.update(db)
            }
        }
        // And so does one behind a box of any kind of value.
        try withEvent(AnyEvent.self, "DATETIME", "'2020-02-29'") { (_, event: AnyEvent) in
            event.value = AnyValue("2020-02-29 00:00:00.000")
            #expect(event.hasDatabaseChanges)
        }
        try withEvent(PairEvent<DatabaseValue>.self, "DATETIME", "'2020-02-29'") { (_, event) in
            event.value = "2020-02-29 00:00:00.000"
            #expect(event.hasDatabaseChanges)
        }
    }

    @Test("A date is marked as one, also when it is encoded as any value", .behaviour(7))
    func boxed() throws {
        try withEvent(PairEvent<Date>.self, "DATETIME", "'2020-02-29T12:30Z'") { (db, _) in
            let record = try #require(try Boxed.fetchOne(db))
            #expect(try !record.hasDatabaseChanges && record.databaseChanges == [:])
        }
    }
}
