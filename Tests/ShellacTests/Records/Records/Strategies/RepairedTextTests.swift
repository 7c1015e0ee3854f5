import TestSupport
import Testing

@testable import Shellac

@Suite("Texts that are no UTF-8", .behaviour(43), .behaviour(93))
struct RepairedTextTests {
    private class Leaf: Record {
        var id: Int64?
        var text = ""
        var other = ""
        var depth = 0

        override class var databaseTableName: String { "leaf" }

        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("text", text) { text = $0 }
            try column("other", other) { other = $0 }
            try column("depth", depth) { depth = $0 }
        }
    }
    /// One that is called around its updates.
    private final class CalledLeaf: Leaf {
        override func willUpdate(_ db: Database, columns: Set<String>) throws {}
    }

    private func withLeaf<L: Leaf>(_ type: L.Type, _ body: (Database, L) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE leaf (id INTEGER PRIMARY KEY, text TEXT, other TEXT, depth INTEGER);
                    INSERT INTO leaf VALUES (1, CAST(x'61FF62' AS TEXT), 'o', 1);
                    """)
            try body(db, L.find(db, key: 1))
        }
    }

    private func hex(_ db: Database) throws -> String? {
        try String.fetchOne(db, sql: "SELECT hex(text) FROM leaf WHERE id = 1")
    }

    private enum Verb: CaseIterable {
        case update, save, upsert, updateAndFetch, saveAndFetch, updateChanges, unchanged

        func run(_ leaf: some Leaf, _ db: Database) throws {
            switch self {
            case .update: try leaf.update(db)
            case .save: try leaf.save(db)
            case .upsert: try leaf.upsert(db)
            case .updateAndFetch: _ = try leaf.updateAndFetch(db)
            case .saveAndFetch: _ = try leaf.saveAndFetch(db)
            case .updateChanges: try leaf.updateChanges(db)
            case .unchanged: try leaf.update(db, checking: .all)
            }
        }
    }

    @Test("A save leaves the bytes alone that reading has repaired, as long as nobody changes the text")
    func kept() throws {
        for verb in Verb.allCases {
            func check<L: Leaf>(_ type: L.Type) throws {
                try withLeaf(type) { db, leaf in
                    #expect(leaf.text == "a\u{FFFD}b" && !leaf.hasDatabaseChanges)
                    for depth in 2...3 {
                        leaf.depth = depth
                        try verb.run(leaf, db)
                        try #expect(hex(db) == "61FF62", "\(type), \(verb), \(depth)")
                        try #expect(Int.fetchOne(db, sql: "SELECT depth FROM leaf") == depth)
                    }
                    leaf.text = "a\u{FFFD}c"
                    try verb.run(leaf, db)
                    try #expect(hex(db) == "61EFBFBD63", "\(type), \(verb)")
                }
            }
            try check(Leaf.self)
            try check(CalledLeaf.self)
        }
    }

    @Test("A text that has the replacement character itself is written like any other")
    func replacementCharacter() throws {
        try withLeaf(Leaf.self) { db, leaf in
            leaf.other = "\u{FFFD}"
            try leaf.update(db)
            try #expect(String.fetchOne(db, sql: "SELECT hex(other) FROM leaf") == "EFBFBD")
            try db.execute(sql: "UPDATE leaf SET other = 'somebody''s'")
            leaf.depth = 7
            try leaf.update(db)
            try #expect(String.fetchOne(db, sql: "SELECT hex(other) FROM leaf") == "EFBFBD")
            try #expect(hex(db) == "61FF62")
        }
    }

    @Test("It is written where the program names the column, and to another row")
    func given() throws {
        try withLeaf(Leaf.self) { db, leaf in
            try leaf.update(db, columns: ["text"])
            try #expect(hex(db) == "61EFBFBD62")
        }
        try withLeaf(Leaf.self) { db, leaf in
            leaf.id = 2
            try leaf.save(db)
            try #expect(
                String.fetchOne(db, sql: "SELECT hex(text) FROM leaf WHERE id = 2") == "61EFBFBD62")
        }
    }
}
