import Shellac
import TestSupport
import Testing

/// Relations included behind a table that is only joined are fetched.
@Suite("What is included behind a joined table")
struct IncludedBehindJoiningTests {
    struct A: Codable, Hashable, FetchableRecord, PersistableRecord {
        static let b = belongsTo(B.self)
        static let cs = hasMany(C.self, through: b, using: B.cs)
        var id: Int
        var bID: Int?
    }

    struct B: Codable, Hashable, FetchableRecord, PersistableRecord {
        static let c = belongsTo(C.self, using: "cID")
        static let cs = hasMany(C.self, using: "ownerID").order(Column("id"))
        static let `as` = hasMany(A.self)
        var id: Int
        var cID: Int?
    }

    struct C: Codable, Hashable, FetchableRecord, PersistableRecord {
        static let owner = belongsTo(B.self, using: "ownerID")
        var id: Int
        var ownerID: Int?
    }

    final class Ship: Record {
        override class var databaseTableName: String { "a" }
        static let harbour = belongsTo(Harbour.self, using: "bID")
        var id: Int?
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
        }
    }

    final class Harbour: Record {
        override class var databaseTableName: String { "b" }
        static let land = belongsTo(Land.self, using: "cID")
        var id: Int?
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
        }
    }

    final class Land: Record {
        override class var databaseTableName: String { "c" }
        var id: Int?
        override func columns(_ column: borrowing RecordColumns) throws {
            try super.columns(column)
            try column("id", id) { id = $0 }
        }
    }

    static func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE b (id INTEGER PRIMARY KEY, cID INTEGER REFERENCES c(id));
                    CREATE TABLE c (id INTEGER PRIMARY KEY, ownerID INTEGER REFERENCES b(id));
                    CREATE TABLE a (id INTEGER PRIMARY KEY, bID INTEGER REFERENCES b(id));
                    INSERT INTO c VALUES (7, NULL);
                    INSERT INTO b VALUES (1, 7), (2, NULL);
                    INSERT INTO c VALUES (8, 1), (9, 1);
                    INSERT INTO a VALUES (10, 1), (11, 2), (12, NULL);
                    """)
        }
        return queue
    }

    struct WithC: Decodable, FetchableRecord, Equatable {
        var a: A
        var c: C?
        var b: B?
    }

    struct WithList: Decodable, FetchableRecord, Equatable {
        var a: A
        var cs: [C]
    }

    private let a10 = A(id: 10, bID: 1), a11 = A(id: 11, bID: 2), a12 = A(id: 12, bID: nil)

    @Test("One row comes in a scope of its own, and the table before it brings no columns")
    func one() throws {
        try Self.database().read { db in
            let inner = A.joining(required: A.b.including(required: B.c)).order(Column("id"))
            try #expect(
                inner.asRequest(of: WithC.self).fetchAll(db) == [WithC(a: a10, c: C(id: 7), b: nil)])
            let outer = A.joining(optional: A.b.including(optional: B.c)).order(Column("id"))
            try #expect(
                outer.asRequest(of: WithC.self).fetchAll(db)
                    == [WithC(a: a10, c: C(id: 7)), WithC(a: a11), WithC(a: a12)])
            let mixed = A.joining(required: A.b.including(optional: B.c)).order(Column("id"))
            try #expect(
                mixed.asRequest(of: WithC.self).fetchAll(db) == [WithC(a: a10, c: C(id: 7)), WithC(a: a11)])
            try #expect(mixed.fetchAll(db) == [a10, a11])
            try #expect(mixed.fetchCount(db) == 2)
            let rows = try mixed.asRequest(of: Row.self).fetchAll(db)
            #expect(rows.map(\.count) == [2, 2])
            #expect(rows[0].scopes["b"]?.count == 0)
            try #expect(rows[0].scopes["b"]?.scopes["c"]?["id"] == 7)
            #expect(rows[1].scopes["b"]?.scopes["c"] == nil)
            // Both may be asked for.
            let both = mixed.including(required: A.b)
            try #expect(
                both.asRequest(of: WithC.self).fetchAll(db)
                    == [WithC(a: a10, c: C(id: 7), b: B(id: 1, cID: 7)), WithC(a: a11, b: B(id: 2))])
        }
    }

    @Test("Lists are fetched, at any depth")
    func lists() throws {
        try Self.database().read { db in
            let list = [C(id: 8, ownerID: 1), C(id: 9, ownerID: 1)]
            let all = A.joining(required: A.b.including(all: B.cs)).order(Column("id"))
            try #expect(
                all.asRequest(of: WithList.self).fetchAll(db)
                    == [WithList(a: a10, cs: list), WithList(a: a11, cs: [])])
            let deep = C.joining(required: C.owner.joining(required: B.c.including(all: C.bs)))
            let rows = try deep.asRequest(of: Row.self).fetchAll(db)
            #expect(rows.map { $0.prefetchedRows["bs"]?.count } == [1, 1])
            let region = try all.databaseRegion(db).description
            #expect(region.contains("c("))
        }
    }

    @Test("Nothing else need be selected")
    func nothingElse() throws {
        try Self.database().read { db in
            let row = try A.select([]).including(required: A.b).order(Column("id")).asRequest(of: Row.self)
                .fetchOne(db)
            #expect(row?.count == 0)
            #expect(row?.scopes["b"] == ["id": 1, "cID": 7])
            let lists = try B.select([]).including(all: B.cs).order(Column("id")).asRequest(of: Row.self)
                .fetchAll(db)
            #expect(lists.map { $0.prefetchedRows["cs"]?.count } == [2, 0])
        }
    }

    @Test("Records of a class hold what lies between, too")
    func objects() throws {
        try Self.database().read { db in
            let ships = try Ship.joining(required: Ship.harbour.including(optional: Harbour.land))
                .order(Column("id")).fetchAll(db)
            try #expect(ships.map { try $0[Ship.harbour]?.id } == [1, 2])
            try #expect(ships.map { try $0[Ship.harbour]?[Harbour.land]?.id } == [7, nil])
        }
    }
}

extension IncludedBehindJoiningTests.C {
    fileprivate static let bs = hasMany(IncludedBehindJoiningTests.B.self, using: "cID").forKey("bs")

    fileprivate init(id: Int) { self.init(id: id, ownerID: nil) }
}

extension IncludedBehindJoiningTests.B {
    fileprivate init(id: Int) { self.init(id: id, cID: nil) }
}

extension IncludedBehindJoiningTests.WithC {
    fileprivate init(a: IncludedBehindJoiningTests.A) { self.init(a: a, c: nil, b: nil) }
    fileprivate init(a: IncludedBehindJoiningTests.A, c: IncludedBehindJoiningTests.C) {
        self.init(a: a, c: c, b: nil)
    }
    fileprivate init(a: IncludedBehindJoiningTests.A, b: IncludedBehindJoiningTests.B) {
        self.init(a: a, c: nil, b: b)
    }
}
