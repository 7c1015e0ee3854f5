import CSQLite
import Foundation
import Shellac

/// Updates that triggers stamp, over the same triggers by hand.
enum StampWorkloads {
    static let all = [Workload("stamps.update", gate: 1.3, goal: 1.1, sides: update)]

    private static let table = """
        CREATE TABLE memo (id INTEGER PRIMARY KEY, title TEXT NOT NULL, score INTEGER NOT NULL,
            createdAt TEXT, updatedAt TEXT)
        """
    /// Each run begins with stamps that are older.
    private static let reset = "UPDATE memo SET score = 0, updatedAt = '2001-01-01 00:00:00.000'"
    private static let work = "UPDATE memo SET score = score + 1"
    private static let sum = """
        SELECT sum(score) + sum(length(updatedAt)) + sum(updatedAt > '2002-01-01' AND updatedAt < '2004-01-01') FROM memo
        """

    private static func rows(_ count: Int) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO memo SELECT i, 'title ' || i, 0, '2001-01-01 00:00:00.000', '2001-01-01 00:00:00.000' FROM n
        """
    }

    private static func update(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.insertions
        let connection = try CConnection(":memory:")
        try connection.execute(table)
        try connection.execute(rows(count))
        let code = sqlite3_create_function_v2(
            connection.pointer, "stamp", 0, SQLITE_UTF8, nil,
            { context, _, _ in
                sqlite3_result_text64(
                    context, "2003-01-01 00:00:00.000", 23, shellac_transient(), UInt8(SQLITE_UTF8))
            }, nil, nil, nil)
        guard code == SQLITE_OK else { throw BenchmarkError("there is no function stamp()") }
        try connection.execute(
            """
            CREATE TEMP TRIGGER stamps AFTER UPDATE ON main.memo FOR EACH ROW
            WHEN NEW.updatedAt IS OLD.updatedAt AND NEW.createdAt IS OLD.createdAt
                AND NEW.updatedAt IS NOT stamp() AND stamp() IS NOT NULL
            BEGIN UPDATE memo SET updatedAt = stamp() WHERE id = NEW.id; END
            """)
        let c = Side(
            setUp: { try connection.execute(reset) },
            keeping: {
                try connection.execute("BEGIN IMMEDIATE")
                try connection.execute(work)
                try connection.execute("COMMIT")
            },
            checksum: { try connection.integer(sum) })

        var configuration = Configuration()
        configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_041_379_200) }
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { db in
            try db.execute(sql: table)
            try db.execute(sql: rows(count))
        }
        try queue.register(DatabaseStamps(created: "createdAt", updated: "updatedAt"), on: "memo")
        let shellac = Side(
            setUp: { try queue.write { try $0.execute(sql: reset) } },
            keeping: { try queue.write { try $0.execute(sql: work) } },
            checksum: { UInt64(try queue.read { try Int.fetchOne($0, sql: sum) } ?? 0) })
        return Sides(operations: count, c: c, shellac: shellac)
    }
}
