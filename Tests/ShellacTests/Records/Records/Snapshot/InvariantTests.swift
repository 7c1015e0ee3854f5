import TestSupport
import Testing

@testable import Shellac

#if DEBUG
@Suite("Invariants")
struct InvariantTests {
    // MARK: - Rows

    private func violations(_ bytes: [UInt8], count: Int) -> [String] {
        // Eight bytes in front of a row can be read, and some behind it.
        (bytes + [0]).withUnsafeBytes {
            PackedBytes(start: $0.baseAddress!, count: count, byteCount: bytes.count)._violations
        }
    }

    @Test("of packed bytes are told from their tags and lengths")
    func packedBytes() {
        #expect(violations([], count: 0) == [])
        #expect(violations([0, 0], count: 2) == [])
        #expect(violations([1, 11, 7, 2, 65, 66], count: 2) == [])
        #expect(violations([0], count: 2) == ["2 columns are packed in 1 bytes"])
        #expect(violations([3, 1, 1, 1], count: 1) == ["column 0 has the tag 3, which does not exist"])
        #expect(violations([0, 16], count: 2) == ["column 1 has the tag 16, which does not exist"])
        #expect(violations([2, 1], count: 1) == ["the payload of column 0 ends behind the row"])
        #expect(violations([11, 2, 65], count: 1) == ["the payload of column 0 ends behind the row"])
        #expect(violations([12, 2, 0], count: 1) == ["the payload of column 0 ends behind the row"])
        #expect(violations([1, 5, 5], count: 1) == ["the payloads end 1 bytes in front of the row's end"])
        #expect(violations([2, 5, 0], count: 1) == ["column 0 holds 5 in 2 bytes"])
        #expect(
            violations([15, 1, 0, 0, 0, 65], count: 1) == ["column 0 holds 1 bytes behind a long length"])
    }

    @Test("of rows hold for all kinds of values")
    func values() {
        let values: [DatabaseValue] = [
            .null, 0, -1, 127, 128, 32_768, 2_147_483_648, Int64.min.databaseValue, 1.5, "", "text",
            String(repeating: "x", count: 255).databaseValue,
            String(repeating: "x", count: 256).databaseValue,
        ]
        let layout = RowLayout(names: values.indices.map { "c\($0)" }, sql: nil)
        #expect(PackedRow.make(layout, values: values)._violations == [])
        let short = RowLayout(names: ["a", "b"], sql: nil, affinities: [.integer])
        #expect(
            PackedRow.make(short, values: [1, 2])._violations == ["a layout of 2 columns has 1 affinities"])
        #expect(PackedRow.make(short, values: [1])._violations.count == 2)
    }

    @Test("of long rows hold around the length from which lengths take four bytes", arguments: 254...258)
    func longRows(length: Int) throws {
        try DatabaseQueue().read { db in
            let sql =
                "SELECT substr(hex(zeroblob(200)), 1, ?1) AS t, zeroblob(?1) AS b, zeroblob(100000) AS z"
            let row = try #require(try Row.fetchOne(db, sql: sql, arguments: [length]))
            #expect(row.owned._violations == [])
        }
    }

    @Test(
        "of what a record remembers are broken by columns that are read and unread, and by times to come",
        arguments: RecordStyle.allCases)
    func records(style: RecordStyle) { records(style.hero) }

    private func records<Hero: HeroRecord>(_: Hero.Type) {
        let record = Hero("Arthur")
        #expect(record._violations == [])
        let unread = UnreadColumns([(name: "A", value: 1)])
        record.snapshot = .make(
            RowLayout(names: ["a"], sql: "SELECT a", affinities: [], unread: unread), values: [1])
        #expect(record._violations == [#"["A"] are noted as unread, but are among the columns ["a"]"#])
        let layout = RowLayout(names: ["a"], sql: nil)
        let row = PackedRow.make(layout, values: [1])
        record.snapshot = row.copy(layout, previous: .init(memory: .nothing, moment: .max))
        #expect(record._violations == ["a row was saved at the moment \(UInt64.max), which is in the future"])
        var previous = row
        for _ in 0..<4 { previous = row.copy(layout, previous: .init(memory: .row(previous), moment: 0)) }
        record.snapshot = previous
        #expect(record._violations == ["the previous state of a row has a previous state of its own"])
        record.snapshot = nil
        #expect(record._violations == [])
    }

    @Test("of rows in chunks are told from their bytes", arguments: RecordStyle.allCases)
    func chunks(style: RecordStyle) throws { try chunks(style.hero) }

    private func chunks<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        try queue.write { db in
            for name in ["a", "b", "c", "d"] { try Hero(name).insert(db) }
            let heroes = try Hero.fetchAll(db)
            let row = try #require(heroes.compactMap { $0.rememberedRow.memory.chunked }.first)
            #expect(heroes.flatMap(\._violations) == [] && row._violations == [])
            let tag = UnsafeMutableRawBufferPointer(mutating: row.bytes.buffer)
            let old = exchange(&tag[0], with: 7)
            #expect(heroes.flatMap(\._violations) == ["column 0 has the tag 7, which does not exist"])
            tag[0] = old
        }
    }

    // MARK: - The transaction

    @Test("of a log are broken by marks that are not in order, or behind its end")
    func markedLog() {
        var log = MarkedLog<Int>()
        log.append(1, after: 0)
        log.append(contentsOf: [2, 3], after: 4)
        #expect(log._violations == [])
        #expect(log.takeElements(since: 5) == [] && log.takeElements(since: 1) == [2, 3])
        log.append(4, after: 4)
        #expect(log._violations == [])
        log.append(5, after: 2)
        #expect(log._violations == ["the marks are those of the savepoints [0, 4, 2]: not in order"])
        #expect(log.takeAll() == [1, 4, 5] && log._violations == [])
    }

    @Test("of a journal are broken by marks and depths that are not in order")
    func journal() {
        func note(_ depth: Int) -> Journal.Note {
            Journal.Note(object: PairHero("Arthur"), state: nil, rowID: nil, depth: depth)
        }
        var journal = Journal()
        journal.add(note(0), after: 1)
        journal.add(note(1), after: 2)
        #expect(journal._violations == [])
        journal.add(note(0), after: 2)
        #expect(
            journal._violations
                == [
                    "the depths of notes are [0, 1, 0]: those made from inside of statements are not the last"
                ])
        journal = Journal()
        journal.add(note(0), after: 2)
        journal.add(note(0), after: 1)
        #expect(journal._violations == ["the marks are those of the savepoints [2, 1]: not in order"])
    }

    @Test(
        "of the transaction are broken by notes and savepoints that outlive it",
        arguments: RecordStyle.allCases)
    func transactions(style: RecordStyle) throws { try transactions(style.hero) }

    private func transactions<Hero: HeroRecord>(_: Hero.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        try queue.inDatabase { db in
            let log = db.transactionLog
            #expect(db._violations == [])
            let note = Journal.Note(object: Hero("Arthur"), state: nil, rowID: nil, depth: 1)
            log.journal.add(note, after: 7)
            #expect(
                db._violations == [
                    "notes were made since the savepoints [7], of 0",
                    "a note was made 1 functions deep, and 0 are running",
                    "1 notes have outlived their transaction",
                ])
            log.journal.removeAll()
            #expect(db._violations == ["notes that have ended were not released"])
            log.releaseDeferred()
            log.openScopes -= 1
            #expect(db._violations == ["-1 scopes are open"])
            log.openScopes += 1
            try db.inTransaction {
                #expect(db._violations == [])
                try Hero("Arthur").insert(db)
                try db.inSavepoint {
                    try Hero("Bors").insert(db)
                    #expect(db._violations == [])
                    return .rollback
                }
                #expect(db._violations == [])
                return .commit
            }
            #expect(db._violations == [])
        }
    }

    @Test(
        "of the transaction hold where a savepoint was open at its end", arguments: ["COMMIT", "ROLLBACK"],
        RecordStyle.allCases)
    func openSavepoints(end: String, style: RecordStyle) throws { try openSavepoints(style.hero, end: end) }

    private func openSavepoints<Hero: HeroRecord>(_: Hero.Type, end: String) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            for saves in [false, true] {
                try db.execute(sql: "BEGIN; SAVEPOINT a; SAVEPOINT b")
                if saves { try Hero("Arthur \(end)").insert(db) }
                try db.execute(sql: end)
                #expect(db._violations == [])
                db._checkInvariants()
            }
        }
    }

    @Test(
        "of the transaction hold where a function has saved a record, and its statement fails outside of one",
        arguments: RecordStyle.allCases)
    func loneFailure(style: RecordStyle) throws { try loneFailure(style.hero) }

    private func loneFailure<Hero: HeroRecord>(_: Hero.Type) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            let hero = Hero("Arthur")
            try db.addFunction("save") {
                try hero.save(db)
                throw TestError(1)
            }
            #expect(throws: TestError(1)) {
                try db.execute(sql: "INSERT INTO hero (name, score) SELECT 'Bors', save()")
            }
            #expect(db._violations == [])
            #expect(throws: TestError(1)) { try db.execute(sql: "SELECT save()") }
            #expect(db._violations == [])
        }
    }

    // MARK: - Statements

    @Test("of the statement cache are broken by a statement that is kept for another SQL, or twice")
    func statementCache() throws {
        try DatabaseQueue().inDatabase { db in
            let statement = try db.cachedStatement(sql: "SELECT 1")
            #expect(db._violations == [])
            db.statementCache._corrupt(statement, for: "SELECT 2")
            #expect(
                Set(db._violations) == [
                    "the statement SELECT 1 is kept for the SQL SELECT 2",
                    "the last use of the statement SELECT 2 is in the future",
                    "the statement SELECT 1 is kept twice",
                ])
            let small = StatementCache(capacity: 1)
            small._corrupt(statement, for: "SELECT 1")
            small._corrupt(try db.makeStatement(sql: "SELECT 3"), for: "SELECT 3")
            #expect(small._violations.contains("2 statements are kept in a cache of 1"))
        }
    }

    // MARK: - Observers

    @Test("of the broker are broken by marks, runs and hooks that are not where they should be")
    func broker() throws {
        let queue = try DatabaseQueue.withHeroes()
        let spy = ObserverSpy()
        queue.add(transactionObserver: spy, extent: .databaseLifetime)
        try queue.inDatabase { db in
            let broker = try #require(db.broker)
            try PairHero("Arthur").insert(db)
            #expect(db._violations == [])
            let audience = Audience([])
            let event = RowEvent(
                audience: Unretained(audience), rowID: 1, table: 99, kind: .insert)
            let last = db.transactionLog.savepoints.lastNumber
            broker._corrupt { held, _, _ in held.append(event, after: last + 3) }
            #expect(
                db._violations == [
                    "events are held since the savepoints [\(last + 3)], of \(last)",
                    "1 events are held, and no savepoint is open",
                    "an event is held of a table that has no name",
                    "an audience is referenced that may no longer exist",
                ])
            broker._corrupt { held, _, _ in held.removeAll() }
            let statement = try db.makeStatement(sql: "DELETE FROM hero")
            broker._corrupt { _, runs, _ in
                runs.add().use { $0.begin(statement, depth: 0, isInside: true, isSilent: false, nil) }
            }
            #expect(
                db._violations == [
                    "1 runs have begun, and no statement is running",
                    "the hooks are not those that the audience of the only run wants",
                ])
            broker._corrupt { _, runs, _ in runs.removeAll() }
            broker._corrupt { _, runs, _ in _ = runs.add() }
            #expect(db._violations.contains("a run has begun that belongs to no statement"))
            broker._corrupt { _, runs, _ in runs.removeAll() }
            broker._corrupt { _, runs, _ in runs.spare?.use { $0.events.append(event) } }
            #expect(db._violations == ["events have outlived their run"])
            broker._corrupt { _, runs, _ in runs.spare?.use { $0.events.removeAll() } }
            broker.ends.keepLoss(isSilent: true)
            #expect(db._violations == ["no observer was notified of a transaction that was lost"])
            _ = broker.ends.takeLoss()
            broker._corrupt { _, _, hooks in hooks.hasUpdateHook.toggle() }
            #expect(db._violations == ["the update hook is not the expected one"])
            broker._corrupt { _, _, hooks in hooks.hasUpdateHook.toggle() }
            db.hooks.commit.formSymmetricDifference(.changes)
            #expect(db._violations == ["the commit hook is not the expected one"])
            db.hooks.commit.formSymmetricDifference(.changes)
            db.fill(.tellingBroker, with: nil)
            #expect(db._violations.contains("observers are wanted, and receive statements: false"))
            db.fill(.tellingBroker, with: broker)
            // Looking has left all as it was.
            try PairHero("Bors").insert(db)
            #expect(db._violations == [])
        }
    }

    @Test("that do not hold stop the program, with a sentence")
    func trap() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            try DatabaseQueue().inDatabase { db in
                db._checkInvariants()
                db.transactionLog.openScopes = -1
                db._checkInvariants()
            }
        }
        let said = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(said.contains("Shellac is broken: -1 scopes are open"))
    }
}
#endif
