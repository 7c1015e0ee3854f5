//: # Functions and collations
//: SQL can call Swift. An error thrown by Swift reaches the code that executes the statement.

import Foundation
import Shellac

let dbQueue = try DatabaseQueue()

//: A function of the values of one row.

struct UnknownCountry: Error {
    var code: String
}

let flag = DatabaseFunction("flag", argumentCount: 1, pure: true) { values in
    guard let code = String.fromDatabaseValue(values[0]) else { return nil }
    guard code.utf8.count == 2 else { throw UnknownCountry(code: code) }
    return String(
        String.UnicodeScalarView(code.unicodeScalars.compactMap { Unicode.Scalar($0.value + 127_397) }))
}

//: A function of the values of many rows.

struct Longest: DatabaseAggregate {
    var longest: String?

    mutating func step(_ values: [DatabaseValue]) throws {
        guard let text = String.fromDatabaseValue(values[0]) else { return }
        if text.count > (longest ?? "").count { longest = text }
    }

    func finalize() throws -> (any DatabaseValueConvertible)? { longest }
}

//: An order of texts.

let byLength = DatabaseCollation("by_length") { a, b in
    a.count == b.count ? .orderedSame : a.count < b.count ? .orderedAscending : .orderedDescending
}

try dbQueue.inDatabase { db in
    try db.add(function: flag)
    try db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: Longest.self))
    try db.add(collation: byLength)
    try db.execute(
        sql: """
            CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO country VALUES ('FR', 'France'), ('NL', 'Netherlands'), ('JP', 'Japan');
            """)
    print(try String.fetchAll(db, sql: "SELECT flag(code) || ' ' || name FROM country ORDER BY name"))
    print(try String.fetchOne(db, sql: "SELECT longest(name) FROM country") ?? "")
    print(try String.fetchAll(db, sql: "SELECT name FROM country ORDER BY name COLLATE by_length"))
    do {
        print(try String.fetchAll(db, sql: "SELECT flag('Atlantis')"))
    } catch {
        print("Swift's own error:", error)
    }
}
