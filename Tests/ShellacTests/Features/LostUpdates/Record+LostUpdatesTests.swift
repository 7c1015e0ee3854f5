import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Another connection's changes are not overwritten unseen.
@Suite("Lost updates", .behaviour(71))
struct RecordLostUpdatesTests {
    private let queue: DatabaseQueue

    init() throws {
        var configuration = Configuration()
        configuration.publicStatementArguments = true
        queue = try DatabaseQueue(configuration: configuration)
        try Self.create(in: queue)
    }

    private static func create(in writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE account (
                        id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE, score INTEGER NOT NULL DEFAULT 0,
                        ratio REAL, openedAt TEXT, note BLOB);
                    INSERT INTO account VALUES (1, 'Arthur', 10, 0.1, '2020-01-01 00:00:00.000', NULL);
                    """)
        }
    }

    /// Changes a column by another connection.
    private func change(_ assignment: String) throws {
        try queue.write { db in try db.execute(sql: "UPDATE account SET \(assignment) WHERE id = 1") }
    }

    private func row() throws -> Row {
        try queue.read { try #require(try Row.fetchOne($0, sql: "SELECT * FROM account")) }
    }

    private func account() throws -> Account { try queue.read { try Account.find($0, key: 1) } }

    // MARK: - What is compared

    @Test("One statement writes, and looks whether the row holds what the record remembers")
    func statement() throws {
        let account = try account()
        let statements = Recorder<String>()
        try queue.write { db in
            account.score = 11
            _ = try Account.fetchCount(db)
            db.trace { statements.record($0.description) }
            try #expect(account.update(db, checking: .changedColumns))
            #expect(
                statements.removeAll() == [
                    #"UPDATE "account" SET "score" = 11 WHERE "id" = 1 AND "score" IS 10"#
                ])
            (account.name, account.note) = ("Barbara", Data([1]))
            try #expect(account.update(db, checking: .columns(["name", "ratio", "NOTE"])))
            #expect(
                statements.removeAll() == [
                    #"UPDATE "account" SET "name" = 'Barbara', "note" = x'01' WHERE "id" = 1 "#
                        + #"AND "name" COLLATE BINARY IS 'Arthur' AND "ratio" IS 0.1 AND "note" IS NULL"#
                ])
            account.score = 12
            try #expect(account.update(db, checking: .all))
            #expect(
                statements.removeAll() == [
                    #"UPDATE "account" SET "score" = 12 WHERE "id" = 1 AND "name" COLLATE BINARY IS 'Barbara' "#
                        + #"AND "score" IS 11 AND "ratio" IS 0.1 AND "openedAt" IS '2020-01-01 00:00:00.000' AND "note" IS x'01'"#
                ])
            #expect(!account.hasDatabaseChanges)
            // Without a change, nothing is asked.
            try #expect(!account.update(db, checking: .all))
            #expect(statements.removeAll() == [])
        }
        #expect(
            try row() == [
                "id": 1, "name": "Barbara", "score": 12, "ratio": 0.1, "openedAt": "2020-01-01 00:00:00.000",
                "note": Data([1]),
            ])
    }

    @Test(
        "What somebody else has written to the same column is found, whatever it was and is",
        arguments: [
            ("score = 11", "score"), ("name = 'ARTHUR'", "name"), ("name = NULL", "name"),
            ("name = 'Arthur '", "name"),
            ("ratio = 0.1 + 1e-17 + 1e-16", "ratio"), ("ratio = NULL", "ratio"),
            ("openedAt = '2020-01-01 00:00:00.001'", "openedAt"), ("openedAt = '2020-01-01'", "openedAt"),
            ("note = x''", "note"), ("note = 'a'", "note"),
        ])
    func stale(assignment: String, column: String) throws {
        for unchanged in [
            ConflictCheck.changedColumns, .all, .columns([column]), .columns([Column(column)]),
        ] {
            try change(
                "name = 'Arthur', score = 10, ratio = 0.1, openedAt = '2020-01-01 00:00:00.000', note = NULL")
            let account = try account()
            try change(assignment)
            let before = try row()
            (account.name, account.score, account.ratio) = ("Mine", 99, 9.9)
            (account.openedAt, account.note) = (Date(timeIntervalSince1970: 0), Data([9]))
            let changes = try account.databaseChanges
            let error = #expect(throws: RecordError.self) {
                try queue.write { db in try account.update(db, checking: unchanged) }
            }
            guard case .stale([column], let row)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(row.row == before && row.databaseTableName == "account")
            #expect(
                "\(try #require(error))".contains(
                    "row of the table account differs from what the record remembers, in \(column):"))
            // Nothing was written, and the record is as it was.
            #expect(try self.row() == before)
            #expect(try account.databaseChanges == changes)
        }
    }

    @Test("What somebody else has written to another column stays, and is looked at where that is asked")
    func otherColumns() throws {
        let account = try account()
        try change("name = 'Barbara'")
        account.score = 11
        let error = #expect(throws: RecordError.self) {
            try queue.write { db in try account.update(db, checking: .all) }
        }
        guard case .stale(["name"], let row)? = error else { throw try #require(error) }
        let name: String = try row["name"]
        #expect(name == "Barbara")
        #expect(throws: RowDecodingError.self) { let _: Int = try row["name"] }
        #expect(throws: RowDecodingError.self) { let _: Int = try row["missing"] }
        #expect(try queue.write { db in try account.update(db, checking: .changedColumns) })
        #expect(try self.row()["name"] == "Barbara")
        #expect(try self.row()["score"] == 11)
        // The record still knows nothing of it.
        #expect(account.name == "Arthur" && !account.hasDatabaseChanges)
    }

    @Test("A row that is gone is told from one that is stale")
    func gone() throws {
        let account = try account()
        account.score = 11
        try queue.write { db in try db.execute(sql: "DELETE FROM account") }
        for unchanged in [ConflictCheck.changedColumns, .all, .columns(["name"])] {
            #expect(throws: RecordError.recordNotFound(databaseTableName: "account", key: ["id": 1])) {
                try queue.write { db in try account.update(db, checking: unchanged) }
            }
            #expect(throws: RecordError.recordNotFound(databaseTableName: "account", key: ["id": 1])) {
                try queue.write { db in try account.updateChanges(db, retrying: 3) }
            }
        }
        let new = Account()
        #expect(throws: RecordError.recordNotFound(databaseTableName: "account", key: ["id": .null])) {
            try queue.write { db in try new.update(db, checking: .all) }
        }
        #expect(account.hasDatabaseChanges && account.score == 11)
    }

    @Test("A column that the record has never read is stale once it is written, and not before")
    func neverRead() throws {
        let account = try queue.read {
            try #require(try Account.fetchOne($0, sql: "SELECT id, name FROM account"))
        }
        account.name = "Barbara"
        #expect(try queue.write { try account.update($0, checking: .all) })
        account.score = 5
        let error = #expect(throws: RecordError.self) {
            try queue.write { try account.update($0, checking: .changedColumns) }
        }
        guard case .stale(["score"], let row)? = error else { throw try #require(error) }
        try account.merge(row)
        #expect(account.score == 5 && account.ratio == 0.1)
        #expect(try account.databaseChanges == ["score": 10.databaseValue])
        #expect(try queue.write { try account.update($0, checking: .all) })
        #expect(try self.row()["score"] == 5)

        // One that was made by hand knows nothing of its row.
        let other = Account()
        (other.id, other.name) = (1, "Craig")
        let unknown = #expect(throws: RecordError.self) {
            try queue.write { try other.update($0, checking: .changedColumns) }
        }
        guard case .stale(let columns, _)? = unknown else { throw try #require(unknown) }
        #expect(columns == ["name", "score", "ratio", "openedAt", "note"])
        // One whose key was changed means another row.
        try queue.write { try $0.execute(sql: "INSERT INTO account (id, name) VALUES (2, 'Barbara')") }
        account.id = 2
        #expect(throws: RecordError.self) { try queue.write { try account.update($0, checking: .all) } }
        #expect(
            try queue.read { try String.fetchOne($0, sql: "SELECT name FROM account WHERE id = 2") }
                == "Barbara")
    }

    @Test("A column that is not there throws, and names it")
    func missingColumn() throws {
        let account = try account()
        account.score = 11
        #expect(throws: RecordError.columnNotEncoded(databaseTableName: "account", column: "scor")) {
            try queue.write { try account.update($0, checking: .columns(["scor"])) }
        }
        #expect(try row()["score"] == 10)
    }

    @Test("A stamp is compared only where it is named")
    func stamps() throws {
        try queue.write { db in
            try db.create(table: "stamped") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text)
                t.column("updatedAt", .text)
            }
        }
        let account = Stamped()
        try queue.write { try account.insert($0) }
        try queue.write { try $0.execute(sql: "UPDATE stamped SET updatedAt = '2001-01-01 00:00:00.000'") }
        account.name = "B"
        #expect(throws: RecordError.self) {
            try queue.write { try account.update($0, checking: .columns(["updatedAt"])) }
        }
        #expect(try queue.write { try account.update($0, checking: .all) })
        #expect(!account.hasDatabaseChanges)
        let stored = try queue.read { try String.fetchOne($0, sql: "SELECT updatedAt FROM stamped") }
        #expect(
            stored != "2001-01-01 00:00:00.000"
                && stored == account.updatedAt?.databaseValue.description.replacing("'", with: ""))
    }

    @Test("A conflict that is ignored is no stale row, and the row of a view is looked at, too")
    func ignoredAndViews() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER refusal BEFORE UPDATE ON account WHEN NEW.score = 13 BEGIN SELECT RAISE(IGNORE); END;
                    CREATE VIEW accountView AS SELECT * FROM account;
                    CREATE TRIGGER viewUpdate INSTEAD OF UPDATE ON accountView
                    BEGIN UPDATE account SET score = NEW.score WHERE id = NEW.id; END;
                    """)
        }
        let account = try account()
        account.score = 13
        try queue.write { db in try account.update(db, checking: .changedColumns) }
        #expect(try row()["score"] == 10)
        let viewed = try queue.read { try ViewedAccount.find($0, key: 1) }
        viewed.score = 20
        try change("score = 11")
        #expect(throws: RecordError.self) {
            try queue.write { try viewed.update($0, checking: .changedColumns) }
        }
        #expect(try row()["score"] == 11)
        #expect(try queue.write { try viewed.updateChanges($0, retrying: 1) })
        #expect(try row()["score"] == 20)
    }

    @Test("The arguments of an error are those of the statement, what is expected among them")
    func arguments() throws {
        try queue.write { db in
            try db.execute(
                sql:
                    "CREATE UNIQUE INDEX one ON account(score); INSERT INTO account (id, score) VALUES (2, 20)"
            )
        }
        let account = try account()
        account.score = 20
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { try account.update($0, checking: .changedColumns) }
        }
        #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE)
        #expect(error?.sql == #"UPDATE "account" SET "score" = ? WHERE "id" = ? AND "score" IS ?"#)
        #expect(error?.arguments == [20, 1, 10])
    }

    // MARK: - Callbacks and transactions

    @Test("Methods and callbacks of a class are called, and what they change is looked at as well")
    func callbacks() throws {
        let account = try queue.read { try CalledAccount.find($0, key: 1) }
        account.score = 11
        try change("name = 'Barbara'")
        // Its callback writes the name.
        let error = #expect(throws: RecordError.self) {
            try queue.write { try account.update($0, checking: .changedColumns) }
        }
        guard case .stale(["name"], _)? = error else { throw try #require(error) }
        #expect(account.calls.removeAll() == ["update score", "willSave"])
        #expect(try row()["score"] == 10)
        #expect(try queue.write { try account.updateChanges($0, retrying: 1) })
        #expect(
            account.calls.removeAll() == [
                "update name score", "willSave", "update name score", "willSave", "didSave",
            ])
        #expect(try row()["name"] == "saved")
        #expect(try row()["score"] == 11)
        // The writes of the callback of the failed attempt are absent.
        #expect(
            try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM account WHERE id > 1") } == 1)
    }

    @Test("A rollback gives the record back what it remembered")
    func rollback() throws {
        let account = try account()
        account.score = 11
        try queue.inTransaction { db in
            try account.update(db, checking: .all)
            #expect(!account.hasDatabaseChanges)
            return .rollback
        }
        #expect(try account.databaseChanges == ["score": 10.databaseValue])
        #expect(try queue.write { try account.update($0, checking: .all) })
    }

    // MARK: - Again

    @Test("Retrying takes what others have changed, and writes what the record has changed")
    func retrying() throws {
        let account = try account()
        account.score = 11
        try change("name = 'Barbara', score = 50")
        #expect(throws: RecordError.self) { try queue.write { try account.updateChanges($0, retrying: 0) } }
        #expect(try queue.write { try account.updateChanges($0, retrying: 1) })
        #expect(account.name == "Barbara" && account.score == 11 && !account.hasDatabaseChanges)
        #expect(try row()["score"] == 11)
        #expect(try queue.write { try !account.updateChanges($0, retrying: 1) })
        // A value that the row has already needs no writing.
        account.score = 12
        try change("score = 12")
        #expect(try queue.write { try !account.updateChanges($0, retrying: 1) })
    }

    @Test("A function runs again with what others have written")
    func modifying() throws {
        let account = try account()
        account.note = Data([7])
        try change("name = 'Barbara', score = 50")
        var calls = 0
        let isUpdated = try queue.write { db in
            try account.updateChanges(db, retrying: 3) {
                calls += 1
                $0.score += 1
            }
        }
        #expect(isUpdated && calls == 2)
        #expect(account.score == 51 && account.name == "Barbara")
        #expect(try row()["score"] == 51)
        // An earlier change is not written, and remains a change.
        #expect(try account.databaseChanges == ["note": .null])
        #expect(throws: TestError(1)) {
            try queue.write { try account.updateChanges($0, retrying: 3) { _ in throw TestError(1) } }
        }
        #expect(try queue.write { try !account.updateChanges($0, retrying: 3) { _ in } })
    }

    @Test("The stale row of another record, which a callback saves, is not taken for the record's own")
    func staleInCallback() throws {
        try queue.write { db in
            try db.execute(sql: "INSERT INTO account (id, name, score) VALUES (2, 'Other', 5)")
        }
        let (account, other) = try queue.read { db in
            (try SavingAccount.find(db, key: 1), try Account.find(db, key: 2))
        }
        try queue.write { db in try db.execute(sql: "UPDATE account SET score = 6 WHERE id = 2") }
        other.score = 7
        (account.other, account.score) = (other, 11)
        let error = #expect(throws: RecordError.self) {
            try queue.write { try account.updateChanges($0, retrying: 9) }
        }
        guard case .stale(["score"], let row)? = error else { throw try #require(error) }
        #expect(try row["id"] == 2)
        #expect(account.score == 11 && account.name == "Arthur")
    }

    @MainActor
    @Test("A record that stays with its owner is updated in the same way")
    func held() async throws {
        let account = try await queue.read { try Account.find($0, key: 1) }
        account.score = 11
        try await queue.write { try $0.execute(sql: "UPDATE account SET score = 12, name = 'Barbara'") }
        let error = await #expect(throws: RecordError.self) {
            try await account.update(in: queue, checking: .changedColumns)
        }
        guard case .stale(["score"], let row)? = error else { throw try #require(error) }
        #expect(account.score == 11 && account.name == "Arthur")
        try account.merge(row)
        #expect(account.score == 11 && account.name == "Barbara")
        #expect(try await account.update(in: queue, checking: .all))
        #expect(!account.hasDatabaseChanges)
        account.score = 20
        try await queue.write { try $0.execute(sql: "UPDATE account SET score = 30, name = 'Craig'") }
        #expect(try await account.updateChanges(in: queue, retrying: 1))
        #expect(account.score == 20 && account.name == "Craig" && !account.hasDatabaseChanges)
    }

    // MARK: - Histories

    @Test(
        "Random histories of two connections lose no update",
        arguments: [ConflictCheck.changedColumns, .all])
    func histories(unchanged: ConflictCheck) async throws {
        try await onThread {
            let file = try TemporaryDatabase(journalMode: .wal)
            let queues = try (0..<2).map { _ in
                try file.queue { $0.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = OFF") } }
            }
            try Self.create(in: queues[0])
            let seed = UInt64.random(in: 0..<(.max))
            var random = SeededGenerator(seed: seed)
            /// The acknowledged changes.
            var (scores, notes, stale) = (10, 0, 0)
            try queues[0].inDatabase { first in
                try queues[1].inDatabase { second in
                    let connections = [first, second]
                    try first.execute(sql: "UPDATE account SET ratio = 0")
                    let records = try (0..<4).map { try Account.find(connections[$0 % 2], key: 1) }
                    for _ in 0..<50_000 {
                        let number = Int.random(in: 0..<4, using: &random)
                        let (db, record) = (connections[number % 2], records[number])
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0: try record.reload(db)
                        case 1:
                            let isDone = try record.updateChanges(db, retrying: 1) { $0.score += 1 }
                            if isDone { scores += 1 }
                        default:
                            let isScore = Bool.random(using: &random)
                            if isScore { record.score += 1 } else { record.ratio = (record.ratio ?? 0) + 1 }
                            do {
                                try record.update(db, checking: unchanged)
                                if isScore { scores += 1 } else { notes += 1 }
                            } catch RecordError.stale(_, let row) {
                                stale += 1
                                // Its own change is given up.
                                if isScore {
                                    record.score -= 1
                                } else {
                                    record.ratio = (record.ratio ?? 0) - 1
                                }
                                try record.merge(row)
                            }
                        }
                    }
                    let row = try #require(try Row.fetchOne(second, sql: "SELECT score, ratio FROM account"))
                    try #expect(row["score"] == scores && row["ratio"] == Double(notes), "seed \(seed)")
                    #expect(scores > 5_000 && notes > 5_000 && stale > 5_000, "seed \(seed)")
                }
            }
        }
    }

    @Test("A row that is changed, and changed back, before it is looked at is written all the same")
    func changedBack() throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        try Self.create(in: file.queue())
        let (first, second) = try (file.queue(), file.queue())
        try first.inDatabase { db in
            let account = try Account.find(db, key: 1)
            let score = account.score
            try second.write { try $0.execute(sql: "UPDATE account SET score = -1") }
            account.score = score + 5
            db.trace { event in
                guard event.sql.hasPrefix("SELECT \"score\"") else { return }
                try? second.write { try $0.execute(sql: "UPDATE account SET score = ?", arguments: [score]) }
            }
            #expect(try account.update(db, checking: .changedColumns))
            db.trace(nil)
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM account") == score + 5)
        }
    }

    @Test("What will-callbacks have made of the record is made again of the new values")
    func callbacksAgain() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE edited (id INTEGER PRIMARY KEY, text TEXT, edits INTEGER); INSERT INTO edited VALUES (1, 'a', 1)"
            )
            let edited = try Edited.find(db, key: 1)
            try db.execute(sql: "UPDATE edited SET edits = 3")
            try edited.updateChanges(db, retrying: 1) { $0.text = "b" }
            #expect(edited.edits == 4)
            #expect(try Int.fetchOne(db, sql: "SELECT edits FROM edited") == 4)
            try db.execute(sql: "UPDATE edited SET edits = 8")
            edited.text = "c"
            try edited.updateChanges(db, retrying: 1)
            #expect(try Int.fetchOne(db, sql: "SELECT edits FROM edited") == 9)
        }
    }

    @Test("A record that cannot be given back what it was throws, and loses nothing")
    func cannotGiveBack() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE fixed (id INTEGER PRIMARY KEY, score INTEGER); INSERT INTO fixed VALUES (1, 10)"
            )
            let fixed = try Fixed.find(db, key: 1)
            try db.execute(sql: "UPDATE fixed SET score = 50")
            let error = #expect(throws: RecordError.self) {
                try fixed.updateChanges(db, retrying: 3) { $0.score += 1 }
            }
            guard case .rowNotTaken = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try Int.fetchOne(db, sql: "SELECT score FROM fixed") == 50)
        }
    }

    @Test("Generated columns follow their record, and the texts of a view are compared byte by byte")
    func generatedColumnsAndViews() throws {
        let queue = try DatabaseQueue()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE edited (id INTEGER PRIMARY KEY, text TEXT COLLATE NOCASE, edits INTEGER, loud AS (text || '!'));
                    INSERT INTO edited VALUES (1, 'a', 1);
                    CREATE VIEW shown AS SELECT id, text FROM edited;
                    CREATE TRIGGER t INSTEAD OF UPDATE ON shown BEGIN UPDATE edited SET text = new.text WHERE id = new.id; END;
                    """)
            let edited = try #require(try Edited.fetchOne(db, sql: "SELECT * FROM edited"))
            for text in ["b", "c"] {
                edited.text = text
                #expect(try edited.update(db, checking: .all))
            }
            let shown = try Shown.find(db, key: 1)
            try db.execute(sql: "UPDATE edited SET text = 'C'")
            shown.text = "d"
            #expect(throws: RecordError.self) { try shown.update(db, checking: .changedColumns) }
            #expect(try String.fetchOne(db, sql: "SELECT text FROM edited") == "C")
        }
    }

    @MainActor
    @Test("A record that stays with its owner takes the row also where that leaves nothing to write")
    func heldWithoutChanges() async throws {
        let queue = try DatabaseQueue()
        try Self.create(in: queue)
        let account = try await queue.read { db in try Account.find(db, key: 1) }
        try await queue.write { try $0.execute(sql: "UPDATE account SET score = 12, name = 'Barbara'") }
        account.score = 12
        _ = try await account.updateChanges(in: queue, retrying: 1)
        #expect(account.name == "Barbara" && !account.hasDatabaseChanges)
    }

    @Test("Threads that add to the same column, each on its own connection, lose nothing")
    func threads() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        try Self.create(in: file.queue())
        let threads = try (0..<3).map { _ in
            let queue = try file.queue { $0.busyMode = .timeout(60) }
            return RunningThread {
                try queue.inDatabase { db in
                    let account = try Account.find(db, key: 1)
                    for _ in 0..<200 { try account.updateChanges(db, retrying: .max) { $0.score += 1 } }
                }
            }
        }
        for thread in threads { try await onThread { try thread.join() } }
        let last = try file.queue { $0.busyMode = .timeout(60) }
        #expect(try await last.read { try Int.fetchOne($0, sql: "SELECT score FROM account") } == 610)
    }
}

private class Account: Record {
    var id: Int64?
    var name: String?
    var score = 0
    var ratio: Double?
    var openedAt: Date?
    var note: Data?

    override class var databaseTableName: String { "account" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("ratio", ratio) { ratio = $0 }
        try column("openedAt", openedAt) { openedAt = $0 }
        try column("note", note) { note = $0 }
    }
}

private final class ViewedAccount: Account {
    override class var databaseTableName: String { "accountView" }
    override class var databasePrimaryKey: [String]? { ["id"] }
}

private final class CalledAccount: Account {
    let calls = Recorder<String>()

    override func update(_ db: Database, columns: Set<String>) throws {
        calls.record("update \(columns.sorted().joined(separator: " "))")
        try super.update(db, columns: columns)
    }
    override func willSave(_ db: Database) throws {
        calls.record("willSave")
        name = "saved"
        try db.execute(sql: "INSERT INTO account (name) VALUES ('audit')")
    }
    override func didSave(_ saved: PersistenceSuccess) { calls.record("didSave") }
}

private final class SavingAccount: Account {
    var other: Account?

    override func willSave(_ db: Database) throws { try other?.update(db, checking: .changedColumns) }
}

private final class Stamped: Record {
    var id: Int64?
    var name = "A"
    var updatedAt: Date?

    override class var databaseTableName: String { "stamped" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }
}

private final class Edited: Record {
    var id: Int64?
    var text = ""
    var edits = 0

    override class var databaseTableName: String { "edited" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("text", text) { text = $0 }
        try column("edits", edits) { edits = $0 }
    }
    override func willUpdate(_ db: Database, columns: Set<String>) throws { edits += 1 }
}

private final class Shown: Record {
    var id: Int64?
    var text = ""

    override class var databaseTableName: String { "shown" }
    override class var databasePrimaryKey: [String]? { ["id"] }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("text", text) { text = $0 }
    }
}

/// It is read by its initializer alone.
private final class Fixed: Record {
    let id: Int64
    var score: Int

    override class var databaseTableName: String { "fixed" }
    required init(row: Row) throws {
        (id, score) = try (row["id"], row["score"])
        try super.init(row: row)
    }
    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["score"] = score
    }
}
