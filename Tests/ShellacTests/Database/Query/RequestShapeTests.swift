import TestSupport
import Testing

@testable import Shellac

@Suite("The shape of a request")
struct RequestShapeTests {
    typealias Player = League.Player

    @Test("finds its statement, whatever the values are: no SQL is built the second time")
    func sameShape() throws {
        try League.database().read { db in
            func builds(_ body: () throws -> Void) rethrows -> Int {
                let before = db.queries.buildCount
                try body()
                return db.queries.buildCount - before
            }
            func fetch(_ limit: Int, _ name: String) throws -> [Int64] {
                try Player.filter(
                    Column("score") > limit && Column("name") != name
                        && [limit, 2].contains(Column("id")) == false
                )
                .order(Column("id")).limit(limit).fetchAll(db).map(\.id)
            }
            var ids: [[Int64]] = []
            let first = try builds { ids.append(try fetch(100, "Diane")) }
            let others = try builds {
                ids.append(try fetch(60, "x"))
                ids.append(try fetch(3, "Arthur"))
            }
            #expect(first == 1)
            #expect(others == 0)
            #expect(ids == [[], [1, 4], [4]])
            let keys = try builds { for id in 1...4 { _ = try Player.filter(key: id).fetchOne(db) } }
            #expect(keys == 1)
            let counts = try builds { for id in 1...4 { _ = try Player.filter(key: id).fetchCount(db) } }
            #expect(counts == 1)
        }
    }

    @Test(
        "is another one for another column, operator, table, type, number of values, nil, direction, purpose")
    func otherShapes() throws {
        let score = Column("score")
        let requests: [QueryInterfaceRequest<Row>] = [
            Table("player").all(), Table("team").all(), Player.all().asRequest(of: Row.self),
            League.Captain.all().asRequest(of: Row.self), Table("player").filter(score > 1),
            Table("player").filter(score >= 1), Table("player").filter(Column("id") > 1),
            Table("player").filter(score == 1),
            Table("player").filter(score == nil), Table("player").filter(score != nil),
            Table("player").filter(1 > score),
            Table("player").filter([1].contains(score)), Table("player").filter([1, 2].contains(score)),
            Table("player").filter(keys: [1]), Table("player").filter(keys: [1, 2]),
            Table("player").order(score),
            Table("player").order(score.desc), Table("player").order(score.ascNullsLast),
            Table("player").limit(1),
            Table("player").limit(1, offset: 1), Table("player").distinct(), Table("player").select(score),
            Table("player").select(score.forKey("x")), Table("player").select(Column("score\" AS \"x")),
            Table("player").filter(SQL("score > 1")), Table("player").filter(SQL("score > 2")),
            Table("player").filter((score + 1) * 2 > 3), Table("player").filter(score + SQL("1") * 2 > 3),
            Table("player").filter(score + 1 > 3), Table("player").filter((1 + score) * 2 > 3),
        ]
        var shapes: Set<[UInt8]> = []
        for request in requests {
            var writer = ShapeWriter(over: [])
            try request.query.write(to: &writer, for: .rows)
            shapes.insert(writer.bytes)
        }
        #expect(shapes.count == requests.count)
        for purpose in [SelectQuery.Purpose.first, .count, .existence] {
            var writer = ShapeWriter(over: [])
            try requests[0].query.write(to: &writer, for: purpose)
            shapes.insert(writer.bytes)
        }
        #expect(shapes.count == requests.count + 3)
    }

    @Test("is looked up again when the schema, which it asked, has changed")
    func schemaChange() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (a PRIMARY KEY, b); INSERT INTO t VALUES (1, 2), (2, 1)")
            let request = Table("t").filter(key: 2).select(Column("b"), as: Int.self)
            var found = try request.fetchAll(db)
            #expect(found == [1])
            try db.execute(
                sql: "DROP TABLE t; CREATE TABLE t (a, b PRIMARY KEY); INSERT INTO t VALUES (1, 2), (2, 1)")
            found = try request.fetchAll(db)
            #expect(found == [2])
        }
    }

    @Test("is forgotten when there are too many")
    func capacity() throws {
        var configuration = Configuration()
        configuration.statementCacheCapacity = 2
        try DatabaseQueue(configuration: configuration).read { db in
            for count in [1, 2, 3, 4, 1] {
                let elements = Array(repeating: SQL("1").sqlExpression, count: count)
                let found = try Table("sqlite_master").filter(elements.joined(operator: .and)).fetchCount(db)
                #expect(found == 0)
            }
            #expect(db.queries.buildCount == 5)
        }
    }
}
