import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("Random schemas")
struct RandomSchemaTests {
    private struct Column {
        var name: String
        var type: Database.ColumnType?
        var isNotNull: Bool
        var isUnique: Bool
        var isIndexed: Bool
        var defaultValue: DatabaseValue?
    }

    @Test(
        "what the definitions declare is what introspection reads, in and out of transactions",
        arguments: 1...8 as ClosedRange<UInt64>)
    func roundTrip(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func chance(_ percent: Int) -> Bool { Int.random(in: 1...100, using: &generator) <= percent }
        let types: [Database.ColumnType?] = [
            .text, .integer, .double, .real, .numeric, .boolean, .blob, .date, .datetime, .any, nil,
        ]
        let values: [DatabaseValue] = [
            1, -1, 0.5, "a'b", .null, "", DatabaseValue(.blob(Data([1] as [UInt8]))),
        ]
        try inDatabase { db in
            var known: [String: [Column]] = [:]
            for step in 1...40 {
                let undone = chance(25)
                try db.inTransaction {
                    var inside = known
                    if let dropped = inside.keys.sorted().randomElement(using: &generator), chance(25) {
                        try db.drop(table: dropped)
                        inside[dropped] = nil
                    }
                    let name = "t\(Int.random(in: 1...12, using: &generator))"
                    if inside[name] == nil {
                        let hostile = hostileNames.shuffled(using: &generator).prefix(3)
                        let columns = (["a", "b"] + hostile).map { name in
                            Column(
                                name: name, type: types.randomElement(using: &generator) ?? nil,
                                isNotNull: chance(30), isUnique: chance(20), isIndexed: chance(20),
                                defaultValue: chance(30) ? values.randomElement(using: &generator) : nil)
                        }
                        let shape = Int.random(in: 0...5, using: &generator)
                        let isTemporary = chance(20)
                        var options: TableOptions = isTemporary ? .temporary : []
                        if shape == 4 { options.insert(.withoutRowID) }
                        try db.create(table: name, options: options) { t in
                            switch shape {
                            case 0: t.autoIncrementedPrimaryKey("key")
                            case 1: t.primaryKey("key", .integer)
                            case 2, 4: t.primaryKey("key", .text)
                            case 3: t.primaryKey(["b", "a"])
                            default: break
                            }
                            for column in columns {
                                let definition = t.column(column.name, column.type)
                                if column.isNotNull { definition.notNull() }
                                if column.isUnique { definition.unique() }
                                if column.isIndexed { definition.indexed() }
                                if let value = column.defaultValue { definition.defaults(to: value) }
                            }
                        }
                        inside[name] = columns
                        let key = try db.primaryKey(name)
                        #expect(
                            key.columns
                                == [["key"], ["key"], ["key"], ["b", "a"], ["key"], ["rowid"]][shape],
                            "seed \(seed)")
                        #expect(key.rowIDColumn == (shape < 2 ? "key" : nil), "seed \(seed)")
                        #expect(key.tableHasRowID == (shape != 4), "seed \(seed)")
                    }
                    try check(db, inside, "seed \(seed), step \(step), inside")
                    if !undone { known = inside }
                    return undone ? .rollback : .commit
                }
                try check(db, known, "seed \(seed), step \(step)")
            }
        }
    }

    private func check(_ db: Database, _ known: [String: [Column]], _ place: String) throws {
        let comment = Comment(rawValue: place)
        let names = try db.tableNames() + db.tableNames(in: "temp")
        #expect(names.sorted() == known.keys.sorted(), comment)
        for (name, expected) in known {
            let columns = try db.columns(in: name).filter { $0.name != "key" }
            #expect(columns.map(\.name) == expected.map(\.name), comment)
            #expect(columns.map(\.type) == expected.map { $0.type?.rawValue ?? "" }, comment)
            #expect(columns.map(\.isNotNull) == expected.map(\.isNotNull), comment)
            #expect(columns.map(\.defaultValueSQL) == expected.map { $0.defaultValue?.sqlLiteral }, comment)
            let indexes = try db.indexes(on: name)
            for column in expected {
                let own = indexes.filter { $0.columns == [column.name] && $0.origin != .primaryKeyConstraint }
                #expect(own.contains(where: \.isUnique) == column.isUnique, comment)
                #expect(
                    own.contains { $0.origin == .createIndex } == (column.isIndexed && !column.isUnique),
                    comment)
                #expect(try db.table(name, hasUniqueKey: [column.name]) == column.isUnique, comment)
            }
        }
    }
}
