import Shellac
import TestSupport
import Testing

@Suite("Nothing is injected")
struct HostileRequestTests {
    private static let pieces = [
        "\"", "'", "`", "[", "]", ";", "--", "/*", "*/", " ", "?", "?1", ":a", "@a", "$a", "(", ")", ",",
        "\\", "%", "_",
        "DROP TABLE secret", "OR 1=1", "é", "\u{301}", "\n", "x", "NULL", "rowid", "*", ".", "\u{1}", "\u{2}",
    ]

    private static func text(_ random: inout SeededGenerator) -> String {
        (0...Int.random(in: 0..<5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
            .joined()
    }

    @Test("by names, nor by values", arguments: 0..<60)
    func fuzz(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (table, value, other) = (Self.text(&random), Self.text(&random), Self.text(&random))
        let (name, alias) = ("a" + Self.text(&random), Self.text(&random))
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE secret (a)")
            try db.execute(sql: "INSERT INTO secret VALUES (1)")
            try db.execute(
                literal:
                    "CREATE TABLE \(identifier: "t" + table) (id INTEGER PRIMARY KEY, \(identifier: name) TEXT)"
            )
            let source = Table("t" + table)
            let column = Column(name)
            try db.execute(
                literal: "INSERT INTO \(identifier: "t" + table) VALUES (1, \(value)), (2, \(value + "!"))")
            let seed: Comment = "seed \(seed)"

            let byValue = try source.filter(column == value && column != value + "!").select(
                Column("id"), as: Int.self
            )
            .fetchAll(db)
            #expect(byValue == [1], seed)
            let inList = try source.filter([value, value + "?"].contains(column)).fetchCount(db)
            #expect(inList == 1, seed)
            let named = try source.select(column.forKey(alias)).order(column.desc).asRequest(of: Row.self)
                .fetchAll(db)
            #expect(named.map { Array($0.columnNames) } == [[alias], [alias]], seed)
            let joined = try source.aliased(TableAlias("x" + alias)).filter(
                TableAlias("x" + alias)[column] == value
            )
            .select(Column("id"), as: Int.self).fetchAll(db)
            #expect(joined == [1], seed)
            let updated = try source.filter(column == value).updateAll(db, column.set(to: other))
            #expect(updated == 1, seed)
            let stored = try source.filter(key: 1).select(column, as: String.self).fetchOne(db)
            #expect(stored == other, seed)
            let deleted = try source.filter(column == other && Column("id") == 1).deleteAll(db)
            #expect(deleted == 1, seed)
            let secrets = try Table("secret").fetchCount(db)
            #expect(secrets == 1, seed)
        }
    }
}
