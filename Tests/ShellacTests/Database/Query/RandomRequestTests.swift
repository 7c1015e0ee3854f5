import TestSupport
import Testing

@testable import Shellac

@Suite("Random requests")
struct RandomRequestTests {
    private static let (id, name, score) = (Column("id"), Column("name"), Column("score"))

    /// A term, which may be written in SQL, with comments in it.
    private static func term(_ random: inout SeededGenerator) -> any SQLOrderingTerm {
        let terms: [any SQLOrderingTerm] = [
            score, score.asc, score.desc, score.ascNullsLast, score.descNullsFirst,
            name.collating(.nocase).desc,
            abs(score), abs(score).desc, when(score > 99, then: name).otherwise(score), SQL("score"),
            SQL("score DESC, name"), SQL("isFlagged, score DESC NULLS FIRST /* , */"),
            SQL("abs(score) -- DESC"),
            SQL("name COLLATE NOCASE desc;"), SQL("coalesce(score, 1) NULLS LAST"), SQL("score").desc,
            SQL("teamID -- ,\n, score").desc,
        ]
        return terms[Int.random(in: 0..<terms.count, using: &random)]
    }

    @Test("reversed twice are as they were, and reversed once the other way round", arguments: 0..<30)
    func reversal(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try League.database().read { db in
            for _ in 0..<10 {
                let terms =
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in Self.term(&random) } + [Self.id]
                let request = Table("player").order(terms).select(Self.id, as: Int.self)
                let comment: Comment =
                    "seed \(seed): \(try request.makePreparedRequest(db, forSingleResult: false).statement.sql)"
                let found = try request.fetchAll(db)
                let reversed = try request.reversed().fetchAll(db)
                let twice = try request.reversed().reversed().fetchAll(db)
                #expect(reversed == found.reversed(), comment)
                #expect(twice == found, comment)
            }
        }
    }

    private static func request(_ random: inout SeededGenerator) -> QueryInterfaceRequest<Row> {
        var request: QueryInterfaceRequest<Row>
        switch Int.random(in: 0..<4, using: &random) {
        case 0: request = Table("player").all()
        case 1: request = League.Player.all().asRequest(of: Row.self)
        case 2: request = League.Captain.all().asRequest(of: Row.self)
        default: request = RequestEdgesTests.Counted.all().asRequest(of: Row.self)
        }
        let teams = Table("team").select(count(.allColumns))
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            switch Int.random(in: 0..<14, using: &random) {
            case 0: request = request.filter(key: Int.random(in: 0...6, using: &random))
            case 1: request = request.filter(keys: [1, 2])
            case 2: request = request.filter(key: ["name": "Arthur"])
            case 3: request = request.filter(key: "1")
            case 4: request = request.annotated(with: teams.forKey("n"))
            case 5, 6: request = request.select(Self.id, SQL("(SELECT max(color) FROM team) -- all"))
            case 7: request = request.order(SQL("(SELECT count(*) FROM visit WHERE playerID = player.id);"))
            case 8: request = request.filter(Table("visit").select(Column("playerID")).contains(Self.id))
            case 9: request = request.limit(2)
            case 10: request = request.distinct()
            case 11: request = request.group(Self.id).having(SQL("count(*) < (SELECT count(*) FROM visit)"))
            case 12: request = request.order(Self.score)
            default: request = request.filter(Table("team").filter(key: 1).exists())
            }
        }
        return request
    }

    @Test("know in their region all that SQLite reads", arguments: 0..<30)
    func region(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        try League.database().read { db in
            for _ in 0..<20 {
                let request = Self.request(&random)
                let prepared = try request.makePreparedRequest(db, forSingleResult: false)
                let region = try request.databaseRegion(db)
                let comment: Comment = "seed \(seed): \(prepared.statement.sql)"
                for (table, columns) in prepared.statement.effects.reads {
                    #expect(region.tableNames?.contains(table) == true, comment)
                    for column in columns {
                        let read = region.intersection(DatabaseRegion(table: table, columns: [column]))
                        #expect(!read.isEmpty, comment)
                    }
                }
            }
        }
    }
}
