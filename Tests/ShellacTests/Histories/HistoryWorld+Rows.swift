import TestSupport

@testable import Shellac

extension HistoryWorld {
    /// Runs an operation on rows, which no record takes part in.
    func runRows(
        _ operation: History.Operation, _ db: Database, _ both: (() throws -> Void, () throws -> Void) -> Void
    ) throws {
        switch operation {
        case .rawInsert(let values):
            both {
                _ = try model.insertRow(values.encoded(id: nil, isStamped: false), .abort)
            } _: {
                try db.execute(
                    literal: """
                        INSERT INTO hero (name, score, rating, mood, teamID) VALUES \
                        (\(values.name), \(values.score), \(values.rating), \(values.mood), \(values.teamID))
                        """)
            }
        case .rawUpdate(let id, let values):
            guard model.rows.heroes[Int64(id)] != nil else { return }
            both {
                let columns = values.encoded(id: Int64(id), isStamped: false)
                try model.updateRow(Int64(id), columns.filter { $0.key != "id" })
            } _: {
                try db.execute(
                    literal: """
                        UPDATE hero SET name = \(values.name), score = \(values.score), rating = \(values.rating),
                        mood = \(values.mood), teamID = \(values.teamID) WHERE id = \(id)
                        """)
            }
        case .rawUpdateAll(let score):
            model.updateRows {
                $0["score"] = score.databaseValue
                return true
            }
            try db.execute(literal: "UPDATE hero SET score = \(score)")
        case .rawDelete(let id):
            _ = model.deleteRow(Int64(id))
            try db.execute(literal: "DELETE FROM hero WHERE id = \(id)")
        case .requestUpdate(let score):
            model.updateRows {
                guard $0["score"] == score.databaseValue else { return false }
                $0["score"] = (score + 1).databaseValue
                return true
            }
            _ = try heroType.filter(Column("score") == score).updateAll(db) { _ in Column("score") += 1 }
        case .requestDelete(let score):
            model.deleteRows { $0["score"] == score.databaseValue }
            _ = try heroType.filter(Column("score") == score).deleteAll(db)
        case .insertTeam(let id):
            model.insertTeam(Int64(id))
            try db.execute(literal: "INSERT OR IGNORE INTO team VALUES (\(id))")
        case .deleteTeam(let id):
            model.deleteTeam(Int64(id))
            try db.execute(literal: "DELETE FROM team WHERE id = \(id)")
        case .failingStatement:
            both {
                throw HistoryModel.Failure.constraint
            } _: {
                try db.execute(sql: "INSERT INTO hero (name) VALUES ('new'), ('newer'), ('new')")
            }
        case .interruptedStatement:
            if isRaw || model.rows.heroes.isEmpty { return }
            both {
                throw HistoryModel.Failure.interrupted
            } _: {
                try db.execute(
                    sql: """
                        UPDATE hero SET score = (
                            WITH RECURSIVE n(x) AS (SELECT stop() UNION ALL SELECT x + 1 FROM n LIMIT 1000)
                            SELECT max(x) FROM n)
                        """)
            }
            if let start {
                model.rollBack(to: start)
                isLost = true
            }
        default: break
        }
    }
}
