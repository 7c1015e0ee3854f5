import Foundation
import Shellac

/// The schema, and how it changes.
enum SchemaWorkloads {
    static let all = [
        Workload("migrations", gate: 1.3, goal: 1.1, sides: migrations)
    ]

    /// A hundred migrations of the fixture's database, of all sizes. Each creates or changes a
    /// small table, and some change the large one, which refers to another.
    ///
    /// By hand, each is a transaction that remembers its name, with foreign keys enforced by SQLite
    /// statement by statement. Shellac checks them at the end of each migration. The disk is left
    /// out on both sides.
    private static func migrations(_ fixture: Fixture) throws -> Sides {
        let migrations = (0..<100).map { (name: "migration \($0)", sql: sql($0)) }
        let pragmas = "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY"
        let folder = URL(fileURLWithPath: fixture.path).deletingLastPathComponent()
        func copy(_ name: String) throws -> String {
            let path = folder.appendingPathComponent(name).path
            try? FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
            return path
        }

        var connection: CConnection?
        func open() throws -> CConnection {
            guard let connection else { throw BenchmarkError("the database is not open") }
            return connection
        }
        let c = Side(
            setUp: {
                connection = nil
                connection = try CConnection(copy("c.sqlite"))
                try connection?.execute("PRAGMA foreign_keys = ON; \(pragmas)")
                _ = try connection?.integer(content)
            },
            keeping: {
                let connection = try open()
                try connection.execute(
                    "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
                for migration in migrations {
                    try connection.execute("BEGIN IMMEDIATE")
                    try connection.execute(migration.sql)
                    try connection.execute("INSERT INTO grdb_migrations VALUES ('\(migration.name)')")
                    try connection.execute("COMMIT")
                }
            },
            checksum: {
                let connection = try open()
                return try connection.integer(content) &+ connection.integer(Self.schema)
            })

        var migrator = DatabaseMigrator()
        for migration in migrations {
            migrator.registerMigration(migration.name) { db in try db.execute(sql: migration.sql) }
        }
        var queue: DatabaseQueue?
        func opened() throws -> DatabaseQueue {
            guard let queue else { throw BenchmarkError("the database is not open") }
            return queue
        }
        func integer(_ sql: String) throws -> UInt64 {
            UInt64(truncatingIfNeeded: try opened().read { try Int.fetchOne($0, sql: sql) } ?? 0)
        }
        let shellac = Side(
            setUp: {
                queue = nil
                var configuration = Configuration()
                configuration.prepareDatabase { db in try db.execute(sql: pragmas) }
                queue = try DatabaseQueue(path: copy("shellac.sqlite"), configuration: configuration)
                _ = try integer(content)
            },
            keeping: { try migrator.migrate(opened()) },
            checksum: { try integer(content) &+ integer(schema) })
        return Sides(operations: migrations.count, c: c, shellac: shellac)
    }

    /// The SQL of a checksum of the large table's contents.
    private static let content = "SELECT count(*) + sum(id + score) FROM player"
    /// The SQL that returns the declared schema and the remembered migrations.
    private static let schema = """
        SELECT (SELECT sum(length(sql)) FROM sqlite_master WHERE name NOT LIKE 'grdb%')
            + (SELECT sum(length(identifier)) FROM grdb_migrations)
            + (SELECT sum(playerId + score) FROM small99) + (SELECT sum(teamId) FROM player)
        """

    /// The SQL of a migration. One in twenty belongs to the large table.
    private static func sql(_ number: Int) -> String {
        let small = "small\(number - number % 5 + 4)"
        return switch number {
        case 0:
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            INSERT INTO team SELECT id, name FROM player WHERE id <= 100;
            ALTER TABLE player ADD COLUMN teamId INTEGER REFERENCES team(id);
            UPDATE player SET teamId = 1 + id % 100;
            """
        case 20: "CREATE INDEX playerByTeam ON player(teamId)"
        case 40: "ALTER TABLE player ADD COLUMN nickname TEXT"
        case 60: "UPDATE player SET nickname = upper(name) WHERE id % 2 = 0"
        case 80: "CREATE INDEX playerByScore ON player(score, name)"
        default:
            switch number % 5 {
            case 0: "CREATE TABLE log\(number) (id INTEGER PRIMARY KEY, text TEXT)"
            case 1:
                """
                CREATE TABLE \(small) (id INTEGER PRIMARY KEY, playerId INTEGER NOT NULL REFERENCES player(id),
                    name TEXT)
                """
            case 2: "CREATE INDEX \(small)ByPlayer ON \(small)(playerId)"
            case 3: "ALTER TABLE \(small) ADD COLUMN score INTEGER NOT NULL DEFAULT 0"
            default:
                "INSERT INTO \(small) (playerId, name, score) SELECT id, name, score FROM player WHERE id <= 200"
            }
        }
    }
}
