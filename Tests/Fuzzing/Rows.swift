// Rows and records of arbitrary values.

import Foundation
import Shellac

/// Reads values from bytes, until there are no more.
struct ValueReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func next() -> DatabaseValue {
        switch (bytes.popFirst() ?? 0) % 6 {
        case 1: return Int64(bitPattern: number()).databaseValue
        case 2: return Double(bitPattern: number()).databaseValue
        case 3: return String(decoding: chunk(), as: UTF8.self).databaseValue
        case 4: return Data(chunk()).databaseValue
        case 5: return Int64(Int8(bitPattern: bytes.popFirst() ?? 0)).databaseValue
        default: return .null
        }
    }

    private mutating func number() -> UInt64 {
        (0..<8).reduce(0) { number, _ in number << 8 | UInt64(bytes.popFirst() ?? 0) }
    }

    private mutating func chunk() -> ArraySlice<UInt8> {
        let count = Int(bytes.popFirst() ?? 0)
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}

/// A record whose columns hold any values.
private final class Typed: Record {
    override class var databaseTableName: String { "typed" }
    var id: Int64?
    var values: [DatabaseValue] = Array(repeating: .null, count: 5)

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("a", values[0]) { values[0] = $0 }
        try column("b", values[1]) { values[1] = $0 }
        try column("c", values[2]) { values[2] = $0 }
        try column("d", values[3]) { values[3] = $0 }
        try column("e", values[4]) { values[4] = $0 }
    }
}

/// Rows have the values that were inserted. A saved record is clean, its row is what SQLite makes
/// of the values, and its changes are the columns in which the row differs.
func checkRows(_ bytes: [UInt8]) throws {
    var reader = ValueReader(bytes)
    let exact = (0..<4).map { _ in reader.next() }
    try sharedQueue.inDatabase { db in
        try db.inSavepoint {
            try db.execute(sql: "INSERT INTO exact VALUES (?, ?, ?, ?)", arguments: StatementArguments(exact))
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM exact")
            for row in rows + rows.map({ $0.copy() }) {
                try expect(Array(row.databaseValues), exact, "the values of a row")
            }
            try expect(rows[0], rows[0].copy(), "the copy of a row")
            try checkRecord((0..<5).map { _ in reader.next() }, (0..<5).map { _ in reader.next() }, db)
            return .rollback
        }
    }
}

private func checkRecord(_ first: [DatabaseValue], _ second: [DatabaseValue], _ db: Database) throws {
    let record = Typed()
    record.values = first
    try record.insert(db)
    guard let id = record.id, let read = try Typed.fetchOne(db, key: id) else {
        throw FuzzFinding("the record was not inserted: \(first)")
    }
    try expect(record.databaseChanges.keys.sorted(), [], "the changes after an insertion of \(first)")
    try expect(read.databaseChanges.keys.sorted(), [], "the changes after fetching \(first)")
    // For any assigned value, the changes say whether the row would differ.
    let stored = try Row.fetchOne(db, sql: "SELECT * FROM typed")
    read.values = second
    let changed = read.hasDatabaseChanges
    try read.update(db)
    let updated = try Row.fetchOne(db, sql: "SELECT * FROM typed")
    try expect(changed, stored != updated, "whether \(first) changes to \(second)")
    try expect(read.databaseChanges.keys.sorted(), [], "the changes after an update to \(second)")
    record.values = second
    try expect(try record.updateChanges(db), changed, "whether changes to \(second) were written")
    try expect(try Row.fetchOne(db, sql: "SELECT * FROM typed"), updated, "the row after updateChanges")
}
