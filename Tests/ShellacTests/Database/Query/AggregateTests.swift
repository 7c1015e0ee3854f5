import Shellac
import TestSupport
import Testing

@Suite("An aggregate")
struct AggregateTests {
    private static let score = Column("score")

    static let cases: [(SQLExpression, String, DatabaseValue)] = [
        (count(.allColumns), "COUNT(*)", 5), (count(score), #"COUNT("score")"#, 4),
        (count(distinct: score), #"COUNT(DISTINCT "score")"#, 3), (max(score), #"MAX("score")"#, 250),
        (min(score), #"MIN("score")"#, 50), (sum(score), #"SUM("score")"#, 650),
        (sum(distinct: score), #"SUM(DISTINCT "score")"#, 400), (total(score), #"TOTAL("score")"#, 650.0),
        (average(score), #"AVG("score")"#, 162.5),
        (average(distinct: score), #"AVG(DISTINCT "score")"#, DatabaseValue(.double(400.0 / 3))),
        (count(.allColumns, filter: score > 60), #"COUNT(*) FILTER (WHERE "score" > ?)"#, 3),
        (max(score, filter: score < 200), #"MAX("score") FILTER (WHERE "score" < ?)"#, 100),
        (max(score) - min(score), #"MAX("score") - MIN("score")"#, 200),
    ]

    @Test("has its SQL and its value", arguments: cases)
    func values(_ aggregate: SQLExpression, _ expected: String, _ value: DatabaseValue) throws {
        var found: DatabaseValue?
        let sql = try League.sql {
            found = try League.Player.select(aggregate, as: DatabaseValue.self).fetchOne($0)
        }
        #expect(sql == [#"SELECT \#(expected) FROM "player" LIMIT 1"#])
        #expect(found == value)
    }

    @Test("in a WHERE throws SQLite's error, with the SQL")
    func inFilter() throws {
        try League.database().read { db in
            let error = databaseError { _ = try League.Player.filter(max(Column("score")) > 1).fetchAll(db) }
            #expect(error?.message == "misuse of aggregate function MAX()")
            #expect(error?.sql == #"SELECT * FROM "player" WHERE MAX("score") > ?"#)
            let count = try League.Player.fetchCount(db)
            #expect(count == 5)
        }
    }
}
