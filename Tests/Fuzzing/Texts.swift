// JSON, CSV and JSON lines.

import Foundation
import Shellac

/// Any value of JSON.
private enum Tree: Codable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([Tree])
    case object([String: Tree])

    static func == (one: Tree, other: Tree) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        // (1e16 may be written as an integer.)
        case (.integer(let one), .number(let other)), (.number(let other), .integer(let one)):
            Double(one) == other
        case (.number(let one), .number(let other)): one == other
        case (.text(let one), .text(let other)): one == other
        case (.list(let one), .list(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([Tree].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: Tree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

private struct Noted: Codable, Equatable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "exact"
    var a: [Tree]
}

/// A JSON column that can be decoded comes back as it was, and SQLite reads what was written.
func checkJSON(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let read = try? Noted(row: Row(["a": "[\(text)]"])) else { return }
    try sharedQueue.inDatabase { db in
        try db.inSavepoint {
            do {
                try read.insert(db)
            } catch is EncodingError {
                return .rollback
            }
            try expect(try Noted.fetchOne(db), read, "the JSON \(text.debugDescription)")
            try expect(
                try Bool.fetchOne(db, sql: "SELECT json_valid(a) FROM exact"), true,
                "the JSON that was written")
            return .rollback
        }
    }
}

/// Imported rows survive an export and a second import. An import that fails changes nothing.
func checkExchange(_ bytes: [UInt8]) throws {
    let formats: [ExchangeFormat] = [
        .csv(), .csv(hasHeader: false), .csv(null: "NULL"), .csv(separator: ";", null: "0", hasHeader: false),
        .jsonLines, .json,
    ]
    let format = formats[Int(bytes.first ?? 0) % formats.count]
    try sharedQueue.inDatabase { db in
        try db.inSavepoint {
            do {
                try db.importRows(into: "imported", from: .bytes(bytes.dropFirst()), as: format)
            } catch {
                try expect(
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM imported"), 0, "rows after \(error)")
                return .rollback
            }
            var exported: [UInt8] = []
            do {
                try db.exportRows(of: "imported", to: .chunks { exported += $0 }, as: format)
            } catch is DatabaseError {
                return .rollback
            } catch is ExchangeError {
                return .rollback
            }
            try db.importRows(into: "again", from: .bytes(exported), as: format)
            let rows = try Row.fetchAll(db, sql: "SELECT * FROM imported ORDER BY rowid")
            try expect(
                try Row.fetchAll(db, sql: "SELECT * FROM again ORDER BY rowid"), rows,
                "the rows that came back")
            return .rollback
        }
    }
}
