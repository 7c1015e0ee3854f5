import Shellac
import TestSupport
import Testing

extension DefaultFilter.Name {
    fileprivate static let hidden: Self = "hidden"
}

/// A partial unique index whose condition is the default filter of a type is a unique key of its
/// rows.
@Suite("Keys of partial unique indexes", .behaviour(115))
struct PartialKeyTests {
    struct List: Codable, Equatable, FetchableRecord, PersistableRecord {
        static var databaseTableName: String { "list" }
        static var databaseSoftDelete: SoftDelete? { "deletedAt" }
        var id: Int64?
        var name: String
        var color: String?
    }

    final class Card: Record {
        override class var databaseTableName: String { "card" }
        override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
        override class var databaseDefaultFilter: DefaultFilter { [.hidden: Column("isHidden") == false] }
        static let list = belongsTo(List.self, using: "listID")
        var id: Int64?
        var name = ""
        var score = 0

        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
            try column("score", score) { score = $0 }
        }
    }

    /// A type of all rows of the table.
    struct Whole: Codable, FetchableRecord, PersistableRecord {
        static var databaseTableName: String { "list" }
        var id: Int64?
        var name: String
    }

    static func database(_ condition: String = "deletedAt IS NULL") throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT, color TEXT, deletedAt TEXT);
                    CREATE UNIQUE INDEX listName ON list(name) WHERE \(condition);
                    INSERT INTO list VALUES (1, 'Home', 'red', '2024-01-01'), (2, 'Home', 'blue', NULL), (3, 'Work', NULL, NULL);
                    CREATE TABLE card (id INTEGER PRIMARY KEY, name TEXT, score INTEGER, isHidden INTEGER NOT NULL DEFAULT 0,
                        deletedAt TEXT, listID INTEGER REFERENCES list(id));
                    CREATE UNIQUE INDEX cardName ON card(name) WHERE "isHidden" = 0 AND ("deletedAt" ISNULL);
                    INSERT INTO card VALUES (1, 'a', 1, 0, '2024-01-01', 2), (2, 'a', 2, 0, NULL, 2), (3, 'a', 3, 1, NULL, 2);
                    """)
        }
        return queue
    }

    static let conditions = [
        "deletedAt IS NULL", "\"deletedAt\" IS NULL", "([DELETEDAT] is null)", "list.deletedAt IS NULL",
        "deletedAt /* not */ ISNULL",
    ]

    @Test("find the row, on all roads", arguments: conditions)
    func finding(condition: String) throws {
        try Self.database(condition).write { db in
            try #expect(List.fetchOne(db, key: ["name": "Home"])?.id == 2)
            try #expect(List.find(db, key: ["name": "Work"]).id == 3)
            try #expect(List.fetchOne(db, key: ["name": "None"]) == nil)
            try #expect(List.filter(key: ["name": "Home"]).fetchOne(db)?.id == 2)
            try #expect(List.filter(keys: [["name": "Home"], ["name": "Work"]]).fetchCount(db) == 2)
            try #expect(List.fetchAll(db, keys: [["name": "Home"], ["name": "Work"]]).map(\.id) == [2, 3])
            try #expect(List.exists(db, key: ["name": "Home"]))
            try #expect(!List.exists(db, key: ["name": "None"]))
            let plan = try List.filter(key: ["name": "Home"]).explain(db)
            #expect(plan == "SEARCH list USING INDEX listName (name=?)")
            try #expect(Card.joining(required: Card.list.filter(key: ["name": "Home"])).fetchOne(db)?.id == 2)
            try #expect(List.deleteOne(db, key: ["name": "Home"]))
            try #expect(Int.fetchAll(db, sql: "SELECT id FROM list WHERE deletedAt IS NULL") == [3])
        }
    }

    @Test("find the row where the request says the condition")
    func conditioned() throws {
        try Self.database().read { db in
            let home = Whole.filter(key: ["name": "Home"]).filter(Column("deletedAt") == nil)
            try #expect(home.fetchAll(db).map(\.id) == [2])
            let lists = Table("list").filter(sql: "color IS NOT NULL AND deletedAt ISNULL").filter(key: [
                "name": "Home"
            ])
            try #expect(lists.fetchCount(db) == 1)
            #expect(throws: RecordError.self) {
                try Whole.filter(Column("deletedAt") == nil || Column("id") > 0).filter(key: ["name": "Home"])
                    .fetchAll(db)
            }
        }
    }

    @Test("of two conditions find the row of a class")
    func classes() throws {
        try Self.database().write { db in
            try #expect(Card.fetchOne(db, key: ["name": "a"])?.id == 2)
            try #expect(Card.including(required: Card.list).filter(key: ["name": "a"]).fetchOne(db)?.id == 2)
            #expect(throws: RecordError.self) {
                try Card.ignoringDefaultFilter(.hidden).filter(key: ["name": "a"]).fetchOne(db)
            }
            #expect(throws: RecordError.self) {
                try Card.filter(key: ["name": "a"]).ignoringDefaultFilter(.deleted).fetchOne(db)
            }
        }
    }

    @Test("are updated by an upsert, and no other row is")
    func upserts() throws {
        try Self.database().write { db in
            var list = List(id: nil, name: "Home", color: "green")
            try list.upsert(db, onConflict: ["name"]) { _ in [Column("color").set(to: "green")] }
            let rows = try Row.fetchAll(db, sql: "SELECT id, color FROM list WHERE name = 'Home' ORDER BY id")
            #expect(rows == [["id": 1, "color": "red"], ["id": 2, "color": "green"]])
            list = List(id: nil, name: "New", color: "white")
            try list.upsert(db, onConflict: ["name"])
            try #expect(List.fetchOne(db, key: ["name": "New"])?.color == "white")
            let card = Card()
            (card.name, card.score) = ("a", 9)
            try card.upsert(db, onConflict: ["name"])
            try #expect(Int.fetchAll(db, sql: "SELECT score FROM card ORDER BY id") == [1, 9, 3])
        }
    }

    @Test("are none where other rows count, and the error names the index and its condition")
    func refusals() throws {
        let refused = RecordError.partialUniqueKey(
            databaseTableName: "list", columns: ["name"], index: "listName", condition: "deletedAt IS NULL")
        try Self.database().write { db in
            #expect(throws: refused) { try Whole.fetchOne(db, key: ["name": "Home"]) }
            #expect(throws: refused) { try Whole.filter(key: ["name": "Home"]).fetchAll(db) }
            #expect(throws: refused) {
                try List.filter(key: ["name": "Home"]).ignoringDefaultFilter(.deleted).fetchAll(db)
            }
            #expect(throws: refused) { try Whole.deleteOne(db, key: ["name": "Home"]) }
            #expect(
                "\(refused)"
                    == "(name) is a unique key of some rows of the table list: the index listName holds those WHERE deletedAt IS NULL. "
                    + "Declare this as a condition of databaseDefaultFilter, or fetch by a query")
        }
        // AND binds tighter than OR: not all rows of these requests are in the index.
        for filter in [
            "color = 'red' OR color = 'x' AND deletedAt IS NULL", "deletedAt IS NULL AND id > 0 OR 1",
        ] {
            try Self.database().write { db in
                let some = Whole.filter(sql: filter).filter(key: ["name": "Home"])
                #expect(throws: refused) { try some.fetchAll(db) }
                #expect(throws: refused) { try some.deleteAll(db) }
            }
        }
        for condition in [
            "deletedAt IS NOT NULL", "deletedAt IS NULL AND color = 'red'", "deletedAt IS NULL OR id > 9",
        ] {
            try Self.database(condition).read { db in
                _ = #expect(throws: RecordError.self) { try List.fetchOne(db, key: ["name": "Work"]) }
            }
        }
    }
}
