import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one history: tables, writers and observations at random. Each observed value is that
/// of a committed state, in the order of the states, and the last one is the newest.
@Suite("Random histories of live values")
struct RandomLiveTests {
    @Test(
        "give committed states in order, and the newest one at last", .behaviour(74, 75, 76),
        arguments: LiveKind.allCases)
    func histories(kind: LiveKind) async throws {
        for seed in SeededGenerator.seeds("LIVE", count: 60) {
            var history = try LiveHistory(seed: seed, kind)
            do {
                if let difference = try await history.run() {
                    Issue.record("seed \(seed): \(difference)\n\(history.log.joined(separator: "\n"))")
                    return
                }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(history.log.joined(separator: "\n"))")
                return
            }
        }
    }
}

/// A request that is followed, and its expected results.
private struct Followed {
    let name: String
    let request: QueryInterfaceRequest<Row>
    let seen = Recorder<[[DatabaseValue]]>()
    /// The results of the request after each commit.
    var expected: [[[DatabaseValue]]] = []
    var task: Task<Void, any Error>?
}

private struct LiveHistory {
    private var random: SeededGenerator
    private let live: LiveDatabase
    private var queue: any DatabaseWriter { live.writer }
    private var followed: [Followed] = []
    private(set) var log: [String] = []
    private var columnCount = 0
    private var isWithoutRowID: Bool

    init(seed: UInt64, _ kind: LiveKind) throws {
        var random = SeededGenerator(seed: seed &* 7919)
        let encoding = ["UTF-8", "UTF-16le", "UTF-16be"].randomElement(using: &random) ?? "UTF-8"
        isWithoutRowID = Int.random(in: 0..<5, using: &random) == 0
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA encoding = '\(encoding)'") }
        live = try LiveDatabase(kind, configuration: configuration)
        self.random = random
        let types = [
            "INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB", "", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM",
        ]
        let key =
            isWithoutRowID
            ? "id INTEGER PRIMARY KEY NOT NULL"
            : pick(["id INTEGER PRIMARY KEY", "id INTEGER PRIMARY KEY", "id UNIQUE"])
        let schema = """
            CREATE TABLE p (id INTEGER PRIMARY KEY);
            CREATE TABLE t (\(key), a \(pick(types)), b \(pick(types)), c \(pick(types)),
                p INTEGER REFERENCES p(id) ON DELETE \(pick(["CASCADE", "SET NULL"])) ON UPDATE CASCADE,
                g AS (a || b) \(pick(["STORED", "VIRTUAL"])))\(isWithoutRowID ? " WITHOUT ROWID" : "");
            \(pick(["", "CREATE UNIQUE INDEX u ON t(b, c);", "CREATE TRIGGER r AFTER UPDATE OF a ON t BEGIN UPDATE t SET c = NEW.a WHERE id = NEW.id - 1; END;"]))
            INSERT INTO p VALUES (1), (2), (3);
            """
        log.append(encoding)
        log.append(schema)
        try queue.inDatabase { db in try db.execute(sql: schema) }
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private mutating func value() -> String {
        pick([
            "NULL", "0", "1", "2", "3", "1.0", "2.5", "'1'", "'2.0'", "'a'", "'A'", "'a '", "'ab'", "x'61'",
            "''",
            "x''", "'é'", "9007199254740993", "-1", "1e300", "CAST(x'ff' AS TEXT)",
        ])
    }

    private mutating func literal() -> DatabaseValue {
        pick([
            0.databaseValue, 1.databaseValue, 2.databaseValue, 2.5.databaseValue, 1.0.databaseValue,
            "1".databaseValue,
            "a".databaseValue, "A".databaseValue, "ab".databaseValue, Data([0x61]).databaseValue,
            "".databaseValue,
            9_007_199_254_740_993.databaseValue, "2.0".databaseValue,
        ])
    }

    private mutating func condition() -> SQLExpression {
        let column = Column(pick(["id", "a", "b", "c", "p", "g"]))
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2: return column == literal()
        case 3: return column > literal()
        case 4: return column <= literal()
        case 5: return [literal(), literal()].contains(column)
        case 6: return column == nil
        case 7: return (column == literal()) && (Column(pick(["a", "b", "c"])) >= literal())
        case 8: return (column == literal()) || (Column(pick(["a", "b", "c"])) == literal())
        case 9: return SQL("typeof(\(sql: column.name)) = 'text'").sqlExpression
        case 10: return SQL("a < b").sqlExpression
        default: return column != literal()
        }
    }

    private mutating func request() -> QueryInterfaceRequest<Row> {
        var request = Table<Row>("t").all()
        if Int.random(in: 0..<8, using: &random) > 0 { request = request.filter(condition()) }
        switch Int.random(in: 0..<7, using: &random) {
        case 0: request = request.select(Column("a"), Column("id"))
        case 1: request = request.select(max(Column("b")), count(Column("id")))
        case 2: request = request.order(Column("b"), Column("id")).limit(2)
        case 3:
            request = request.select(Column("p"), count(Column("id"))).group(Column("p")).order(Column("p"))
        case 4:
            request = request.select(
                SQL("hex(a)").sqlExpression, SQL("typeof(c)").sqlExpression, Column("id").sqlExpression)
        default: break
        }
        return request.order(Column("id"))
    }

    private mutating func statement() -> String {
        let column = pick(["a", "b", "c", "p", "id"])
        let value =
            column == "p"
            ? pick(["1", "2", "3", "NULL"])
            : column == "id" ? "\(Int.random(in: 1...12, using: &random))" : value()
        let target = pick([
            "id = \(Int.random(in: 1...12, using: &random))", "a = \(self.value())", "p = 2", "b IS NULL",
        ])
        let row =
            "(\(Int.random(in: 1...12, using: &random)), \(self.value()), \(self.value()), \(self.value()), \(pick(["1", "2", "3", "NULL"])))"
        switch Int.random(in: 0..<14, using: &random) {
        case 0, 1, 2: return "INSERT OR IGNORE INTO t (id, a, b, c, p) VALUES \(row)"
        case 3, 4: return "REPLACE INTO t (id, a, b, c, p) VALUES \(row)"
        case 5, 6, 7, 8:
            return
                "UPDATE OR \(pick(["IGNORE", "REPLACE", "FAIL", "ABORT"])) t SET \(column) = \(value) WHERE \(target)"
        case 9: return "DELETE FROM t WHERE \(target)"
        case 10: return pick(["DELETE FROM t", "UPDATE t SET a = a", "UPDATE OR IGNORE t SET id = id + 1"])
        case 11:
            return
                "UPDATE OR IGNORE p SET id = \(Int.random(in: 1...5, using: &random)) WHERE id = \(Int.random(in: 1...5, using: &random))"
        case 12: return "DELETE FROM p WHERE id = \(Int.random(in: 1...5, using: &random))"
        default: return "INSERT OR IGNORE INTO p VALUES (\(Int.random(in: 1...5, using: &random)))"
        }
    }

    /// Runs a transaction at random. Its failures are a part of it.
    private mutating func transaction() -> [String] {
        switch Int.random(in: 0..<24, using: &random) {
        case 0:
            columnCount += 1
            return [
                "ALTER TABLE t ADD COLUMN d\(columnCount) \(pick(["", "INTEGER", "TEXT"])) DEFAULT \(pick(["NULL", "1", "'a'", "2.5"]))"
            ]
        case 1: return ["VACUUM"]
        case 2: return ["CREATE INDEX IF NOT EXISTS i ON t(\(pick(["a", "b", "c"])))"]
        case 3, 4, 5: return [statement()]
        case 6:
            return [
                "BEGIN", statement(), "SAVEPOINT s", statement(), statement(),
                pick(["ROLLBACK TO s", "RELEASE s"]), statement(), pick(["COMMIT", "COMMIT", "ROLLBACK"]),
            ]
        default:
            return ["BEGIN"] + (0..<Int.random(in: 1...4, using: &random)).map { _ in statement() } + [
                "COMMIT"
            ]
        }
    }

    private func results(_ request: QueryInterfaceRequest<Row>, _ db: Database) throws -> [[DatabaseValue]] {
        try request.fetchAll(db).map { Array($0.databaseValues) }
    }

    /// Returns what is wrong, or nil.
    mutating func run() async throws -> String? {
        for number in 0..<Int.random(in: 2...6, using: &random) {
            let request = request()
            log.append(
                "request \(number): \(try await queue.read { db in try request.makePreparedRequest(db, forSingleResult: false).statement.sql })"
            )
            followed.append(Followed(name: "request \(number)", request: request))
        }
        defer { for one in followed { one.task?.cancel() } }
        for index in followed.indices {
            let (queue, request, seen) = (queue, followed[index].request, followed[index].seen)
            // A follower that starts late may miss the first states.
            followed[index].expected.append(
                try await queue.read { db in try request.fetchAll(db).map { Array($0.databaseValues) } })
            followed[index].task = Task {
                for try await rows in queue.values(of: request, bufferingPolicy: .unbounded) {
                    seen.record(rows.map { Array($0.databaseValues) })
                }
            }
        }
        let waits = Bool.random(using: &random)
        if waits {
            for one in followed { try await waitUntil { !one.seen.elements.isEmpty } }
        }
        for _ in 0..<Int.random(in: 5...25, using: &random) {
            let statements = transaction()
            log.append(statements.joined(separator: "; "))
            let requests = followed.map(\.request)
            // The results after a commit are fetched in its own access.
            let results = try await queue.writeWithoutTransaction { db in
                for sql in statements {
                    do { try db.execute(sql: sql) } catch let error as DatabaseError
                        where error.resultCode == .SQLITE_CONSTRAINT
                    {}
                }
                return try requests.map { try $0.fetchAll(db).map { Array($0.databaseValues) } }
            }
            for index in followed.indices { followed[index].expected.append(results[index]) }
            if Int.random(in: 0..<3, using: &random) == 0 { await Task.yield() }
            if waits, Int.random(in: 0..<2, using: &random) == 0 { try await queue.settle() }
        }
        for one in followed {
            let last = one.expected.last ?? []
            let end = ContinuousClock.now + .seconds(20)
            while one.seen.elements.last != last, ContinuousClock.now < end { try await queue.settle() }
            let seen = one.seen.elements
            guard seen.last == last else {
                return
                    "\(one.name): the last value is \(String(describing: seen.last)), and should be \(last)"
            }
            var state = one.expected[...]
            for value in seen {
                guard let index = state.firstIndex(of: value) else {
                    return "\(one.name): \(value) is no state, or came late: \(seen), of \(one.expected)"
                }
                state = state[index...]
            }
        }
        return nil
    }
}
