// Counts what `hasDatabaseChanges` allocates, for a test that puts a counting `malloc` in front of
// the C library's.
//
// It prints a line for each record: its name, the number of allocations in many calls, and the
// number of calls that found changes. If no such `malloc` counts, it ends with an error.
//
// With a number, it repeats other work so often, and prints how many blocks were left.
import Foundation
import Shellac

guard let symbol = dlsym(nil, "shellac_test_allocation_count"),
    let liveSymbol = dlsym(nil, "shellac_test_live_blocks")
else {
    FileHandle.standardError.write(Data("AllocationCount is run by a test, which counts allocations\n".utf8))
    exit(2)
}
let allocationCount = unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)
let liveBlocks = unsafeBitCast(liveSymbol, to: (@convention(c) () -> Int).self)

if let rounds = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }) {
    try await Loops.run(rounds: rounds, liveBlocks: liveBlocks)
    exit(0)
}

func report(_ name: String, _ record: Record) {
    _ = record.hasDatabaseChanges  // the names of a wide row are sorted when one is first looked for
    var changes = 0
    let before = allocationCount()
    for _ in 0..<2000 where record.hasDatabaseChanges { changes += 1 }
    let count = allocationCount() - before
    print("\(name): \(count) allocations, \(changes) changes")
}

/// A record with columns of all kinds.
final class Mixed: Record {
    var id: Int64?
    var count = 1_000_000
    var ratio = 0.1
    var name = "Arthur"
    var text = String(repeating: "long", count: 1000)
    var date = Date(timeIntervalSince1970: 1_582_979_445.123)
    var data = Data(repeating: 7, count: 2000)
    var missing: String?
    var aColumnWhoseNameIsLongerThanFifteenBytes = true

    override class var databaseTableName: String { "mixed" }

    override func updateFromRow(_ row: Row) throws { id = try row["id"] }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["count"] = count
        container["ratio"] = ratio
        container["name"] = name
        container["text"] = text
        container["date"] = date
        container["data"] = data
        container["missing"] = missing
        container["aColumnWhoseNameIsLongerThanFifteenBytes"] = aColumnWhoseNameIsLongerThanFifteenBytes
    }
}

/// A record that lists its columns.
final class Listed: Record {
    var id: Int64?
    var count = 0
    var ratio = 0.0
    var name = ""
    var date = Date(timeIntervalSince1970: 0)
    var missing: String?

    override class var databaseTableName: String { "mixed" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("count", count) { count = $0 }
        try column("ratio", ratio) { ratio = $0 }
        try column("name", name) { name = $0 }
        try column("date", date) { date = $0 }
        try column("missing", missing) { missing = $0 }
    }
}

/// A record with one value.
final class Single<Value: DatabaseValueConvertible>: Record {
    var value: Value?

    override class var databaseTableName: String { "single" }

    override func updateFromRow(_ row: Row) throws { value = try row["value"] }

    override func encode(to container: inout PersistenceContainer) throws { container["value"] = value }
}

try DatabaseQueue().inDatabase { db in
    try db.execute(
        sql: """
            CREATE TABLE mixed (
                id INTEGER PRIMARY KEY, count INTEGER, ratio REAL, name TEXT, text TEXT, date DATETIME, data BLOB,
                missing TEXT, aColumnWhoseNameIsLongerThanFifteenBytes BOOLEAN)
            """)
    let record = Mixed()
    try record.insert(db)
    report("inserted", record)
    try record.update(db)
    report("updated", record)
    try record.update(db, columns: ["name", "date"])
    report("updated in part", record)
    try record.reload(db)
    report("reloaded", record)
    record.hasDatabaseChanges = false
    report("set to false", record)
    try report("found", Mixed.find(db, key: 1))
    try report("listed", Listed.find(db, key: 1))
    let reversed = """
        aColumnWhoseNameIsLongerThanFifteenBytes, missing, data, date, text, name, ratio, count, id
        """
    let more = (0..<500).map { "\($0) AS extra\($0)" }.joined(separator: ", ")
    for (name, selection) in [
        ("other order", reversed), ("wide", "1 AS a, *, 2 AS b"), ("very wide", "\(more), *"),
    ] {
        for record in try Mixed.fetchAll(db, sql: "SELECT \(selection) FROM mixed") { report(name, record) }
    }
}

func reportSingle<Value: DatabaseValueConvertible>(_ type: Value.Type, _ column: String, _ sql: String) throws
{
    try DatabaseQueue().inDatabase { db in
        try db.execute(sql: "CREATE TABLE single (value \(column)); INSERT INTO single VALUES (\(sql))")
        for record in try Single<Value>.fetchAll(db) { report("\(Value.self) in \(column), \(sql)", record) }
    }
}

try reportSingle(Int.self, "REAL", "5")
try reportSingle(DatabaseValue.self, "REAL", "5")
try reportSingle(Double.self, "INTEGER", "5")
try reportSingle(Date.self, "DATETIME", "CURRENT_TIMESTAMP")
try reportSingle(Date.self, "DATETIME", "'2020-02-29T12:30:45.123+01:00'")
try reportSingle(Date.self, "INTEGER", "1582979445")
try reportSingle(Date.self, "REAL", "1582979445.25")
