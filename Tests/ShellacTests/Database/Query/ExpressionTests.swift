import Shellac
import TestSupport
import Testing

@Suite("An expression")
struct ExpressionTests {
    /// A condition, its SQL, and the players that it finds.
    struct Case: Sendable, CustomTestStringConvertible {
        let condition: SQLExpression
        let sql: String
        let ids: [Int64]
        init(_ condition: SQLExpression, _ sql: String, _ ids: [Int64]) {
            (self.condition, self.sql, self.ids) = (condition, sql, ids)
        }
        var testDescription: String { sql }
    }

    private static let id = Column("id")
    private static let name = Column("name")
    private static let score = Column("score")
    private static let teamID = Column("teamID")

    static let comparisons: [Case] = {
        let nothing: Int? = nil
        let some: Int? = 100
        return [
            Case(score > 100, #""score" > ?"#, [2, 4]), Case(100 < score, #"? < "score""#, [2, 4]),
            Case(score >= 100, #""score" >= ?"#, [1, 2, 4]), Case(score < 100, #""score" < ?"#, [3]),
            Case(score <= 100, #""score" <= ?"#, [1, 3]), Case(score > id, #""score" > "id""#, [1, 2, 3, 4]),
            Case(name == "O'Brien", #""name" = ?"#, [5]),
            Case(name != "O'Brien", #""name" <> ?"#, [1, 2, 3, 4]),
            Case(score == some, #""score" = ?"#, [1]), Case("Craig" == name, #"? = "name""#, [3]),
            Case(score == nil, #""score" IS NULL"#, [5]),
            Case(score != nil, #""score" IS NOT NULL"#, [1, 2, 3, 4]),
            Case(nil == score, #""score" IS NULL"#, [5]), Case(score == nothing, #""score" IS NULL"#, [5]),
            Case(score == DatabaseValue.null, #""score" IS NULL"#, [5]),
            Case(id == teamID, #""id" = "teamID""#, [1]),
            Case(id != teamID, #""id" <> "teamID""#, [2, 3, 4]),
            Case(score.isSame(as: nothing), #""score" IS ?"#, [5]),
            Case(!score.isSame(as: 50), #""score" IS NOT ?"#, [1, 2, 4, 5]),
        ]
    }()

    static let logic: [Case] = [
        Case(score > 100 && id > 2, #""score" > ? AND "id" > ?"#, [4]),
        Case(score > 100 || id == 1, #""score" > ? OR "id" = ?"#, [1, 2, 4]),
        Case(score > 100 && id > 2 || id == 1, #""score" > ? AND "id" > ? OR "id" = ?"#, [1, 4]),
        Case((score > 100 || id == 1) && id < 3, #"("score" > ? OR "id" = ?) AND "id" < ?"#, [1, 2]),
        Case(
            (id == 1 || id == 2) || (id == 3 || id == 4), #""id" = ? OR "id" = ? OR "id" = ? OR "id" = ?"#,
            [1, 2, 3, 4]),
        Case(!(score > 100), #"NOT "score" > ?"#, [1, 3]),
        Case(!(score == 100), #""score" <> ?"#, [2, 3, 4]),
        Case(!(score > 100 && id > 2), #"NOT ("score" > ? AND "id" > ?)"#, [1, 2, 3]),
        Case(!Column("isFlagged") && id < 4, #"NOT "isFlagged" AND "id" < ?"#, [1, 3]),
        Case(!(score == nil), #""score" IS NOT NULL"#, [1, 2, 3, 4]),
        Case(!(!(score > 100)), #"NOT NOT "score" > ?"#, [2, 4]),
        Case((!(score > 100)) == true, #"(NOT "score" > ?) = ?"#, [1, 3]),
        Case([id > 1, id < 4].joined(operator: .and), #""id" > ? AND "id" < ?"#, [2, 3]),
        Case(
            [id == 1, id == 4].joined(operator: .or) && id > 1, #"("id" = ? OR "id" = ?) AND "id" > ?"#, [4]),
        Case([SQLExpression]().joined(operator: .and), "1", [1, 2, 3, 4, 5]),
        Case([SQLExpression]().joined(operator: .or), "0", []),
        Case([id > 4].joined(operator: .or), #""id" > ?"#, [5]),
    ]

    static let lists: [Case] = [
        Case([1, 3].contains(id), #""id" IN (?, ?)"#, [1, 3]),
        Case(![1, 3].contains(id), #""id" NOT IN (?, ?)"#, [2, 4, 5]),
        Case([Int]().contains(id), #""id" IN ()"#, []),
        Case(![Int]().contains(id), #""id" NOT IN ()"#, [1, 2, 3, 4, 5]),
        Case([id, teamID].contains(SQL("2")), #"(2) IN ("id", "teamID")"#, [2, 3, 4]),
        Case(Set(["Craig"]).contains(name), #""name" IN (?)"#, [3]),
        Case((2...3).contains(id), #""id" BETWEEN ? AND ?"#, [2, 3]),
        Case(!(2...3).contains(id), #""id" NOT BETWEEN ? AND ?"#, [1, 4, 5]),
        Case((2..<4).contains(id), #""id" >= ? AND "id" < ?"#, [2, 3]),
        Case((4...).contains(id), #""id" >= ?"#, [4, 5]),
        Case((...2).contains(id), #""id" <= ?"#, [1, 2]), Case((..<2).contains(id), #""id" < ?"#, [1]),
        Case(("B"..."D").contains(name), #""name" BETWEEN ? AND ?"#, [2, 3]),
        Case((100...200).contains(score + id), #""score" + "id" BETWEEN ? AND ?"#, [1]),
        Case(
            Table("team").select(Column("id")).filter(Column("color") == "red").contains(teamID),
            #""teamID" IN (SELECT "id" FROM "team" WHERE "color" = ?)"#, [1, 2]),
        Case(
            !SQLRequest<Int>("SELECT teamID FROM player WHERE id = \(3)").contains(teamID),
            #""teamID" NOT IN (SELECT teamID FROM player WHERE id = ?)"#, [1, 2]),
        Case(
            Table("team").filter(Column("id") == SQL("player.teamID")).exists(),
            #"EXISTS (SELECT * FROM "team" WHERE "id" = (player.teamID))"#, [1, 2, 3, 4]),
        Case(
            !Table("team").filter(Column("id") == SQL("player.teamID")).exists(),
            #"NOT EXISTS (SELECT * FROM "team" WHERE "id" = (player.teamID))"#, [5]),
        Case(
            score == League.Player.select(max(score)), #""score" = (SELECT MAX("score") FROM "player")"#,
            [2, 4]),
    ]

    static let texts: [Case] = [
        Case(name.like("%R%"), #""name" LIKE ?"#, [1, 2, 3, 5]),
        Case(!name.like("%R%"), #""name" NOT LIKE ?"#, [4]),
        Case(name.like("O\\'%", escape: "\\"), #""name" LIKE ? ESCAPE ?"#, [5]),
        Case(name.glob("[AB]*"), #""name" GLOB ?"#, [1, 2]),
        Case(!name.glob("[AB]*"), #""name" NOT GLOB ?"#, [3, 4, 5]),
        Case(name.collating(.nocase) == "ARTHUR", #""name" COLLATE NOCASE = ?"#, [1]),
        Case((name == "ARTHUR").collating(.nocase), #"("name" = ?) COLLATE NOCASE"#, []),
        Case(name.appending("!").appending(id) == "Craig!3", #""name" || ? || "id" = ?"#, [3]),
        Case([name, name].joined(operator: .concat) == "CraigCraig", #""name" || "name" = ?"#, [3]),
        Case((score + 1).appending("x") == "51x", #"("score" + ?) || ? = ?"#, [3]),
    ]

    static let others: [Case] = [
        Case(abs(score - 120) < 50, #"ABS("score" - ?) < ?"#, [1]),
        Case(coalesce(score, teamID, 7) == 7, #"COALESCE("score", "teamID", ?) = ?"#, [5]),
        Case(cast(score, as: .text) == "50", #"CAST("score" AS TEXT) = ?"#, [3]),
        Case(
            when(score > 100, then: "gold").when(score > 60, then: "silver").otherwise("none") == "none",
            #"CASE WHEN "score" > ? THEN ? WHEN "score" > ? THEN ? ELSE ? END = ?"#, [3, 5]),
        Case(
            teamID.when(1, then: "a").when(2, then: "b") == "b",
            #"CASE "teamID" WHEN ? THEN ? WHEN ? THEN ? END = ?"#, [3, 4]),
        Case(teamID.when(1, then: "a") == nil, #"CASE "teamID" WHEN ? THEN ? END IS NULL"#, [3, 4, 5]),
        Case(SQLExpression.call("instr", name, "r") == 2, #""instr"("name", ?) = ?"#, [1, 3]),
        Case(SQL("score > \(100)") && id > 2, #"(score > ?) AND "id" > ?"#, [4]),
        Case(SQL(sql: "score > :s", arguments: ["s": 100]) && id > 2, #"(score > ?) AND "id" > ?"#, [4]),
        Case(
            SQL(sql: "id > ?1 AND id < ?1 + 2", arguments: [2]) && id < 9,
            #"(id > ? AND id < ? + 2) AND "id" < ?"#, [3]),
    ]

    static let arithmetic: [Case] = [
        Case(score + 1 == 51, #""score" + ? = ?"#, [3]), Case(score - 1 == 49, #""score" - ? = ?"#, [3]),
        Case(score * 2 == 100, #""score" * ? = ?"#, [3]), Case(score / 3 == 16, #""score" / ? = ?"#, [3]),
        Case(score % 3 == 2, #""score" % ? = ?"#, [3]), Case(-score == -50, #"-"score" = ?"#, [3]),
        Case(-(-score) == 50, #"-(-"score") = ?"#, [3]),
        Case(-(score + 1) == -51, #"-("score" + ?) = ?"#, [3]),
        Case(1 + score * 2 == 101, #"? + "score" * ? = ?"#, [3]),
        Case((1 + score) * 2 == 102, #"(? + "score") * ? = ?"#, [3]),
        Case(score - (id - 1) == 48, #""score" - ("id" - ?) = ?"#, [3]),
        Case(score - id - 1 == 46, #""score" - "id" - ? = ?"#, [3]),
        Case(score & 2 == 2, #""score" & ? = ?"#, [2, 3, 4]), Case(score | 1 == 51, #""score" | ? = ?"#, [3]),
        Case(id << 2 == 12, #""id" << ? = ?"#, [3]), Case(score >> 1 == 25, #""score" >> ? = ?"#, [3]),
        Case(~id == -4, #"~"id" = ?"#, [3]), Case((id | 1) & 1 == 1, #""id" | ? & ? = ?"#, [1, 2, 3, 4, 5]),
        Case(1 - id < score && 2 * id < 8, #"? - "id" < "score" AND ? * "id" < ?"#, [1, 2, 3]),
    ]

    static let conditionCases: [Case] = [comparisons, logic, lists].flatMap { $0 }
    static let textCases: [Case] = [texts, others].flatMap { $0 }

    @Test("has the SQL with the fewest parentheses, and finds its rows", arguments: conditionCases)
    func conditions(_ test: Case) throws { try check(test) }

    @Test("of texts and functions has its SQL, and finds its rows", arguments: textCases)
    func texts(_ test: Case) throws { try check(test) }

    @Test("of numbers has its SQL, and finds its rows", arguments: arithmetic)
    func numbers(_ test: Case) throws { try check(test) }

    private func check(_ test: Case) throws {
        var ids: [Int64] = []
        let request = League.Player.filter(test.condition).select(Column("id"), as: Int64.self).order(
            Column("id"))
        let sql = try League.sql { ids = try request.fetchAll($0) }
        #expect(sql == [#"SELECT "id" FROM "player" WHERE \#(test.sql) ORDER BY "id""#])
        #expect(ids == test.ids)
    }
}
