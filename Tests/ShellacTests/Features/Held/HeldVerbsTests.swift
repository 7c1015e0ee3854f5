import Foundation
import Shellac
import TestSupport
import Testing

@MainActor
@Suite("Everything that is done to records that stay with their owner", .serialized, .behaviour(101))
struct HeldVerbsTests {
    private let queue: DatabaseQueue

    init() throws { queue = try .withHeroes() }

    private func rows() async throws -> [String] {
        try await queue.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || name || ' ' || score FROM hero ORDER BY id")
        }
    }

    /// An operation on a record, inside of an access and outside of it.
    enum Verb: String, CaseIterable, Sendable {
        case save, insert, update, updateOne, updateChanges, delete, reload

        @MainActor
        func run(_ record: some HeroRecord, in queue: DatabaseQueue) async throws -> Bool {
            switch self {
            case .save: try await record.save(in: queue)
            case .insert: try await record.insert(in: queue)
            case .update: try await record.update(in: queue)
            case .updateOne: try await record.update(in: queue, columns: ["score"])
            case .updateChanges: return try await record.updateChanges(in: queue)
            case .delete: return try await record.delete(in: queue)
            case .reload: try await record.reload(in: queue)
            }
            return true
        }

        func run(_ record: some HeroRecord, _ db: Database) throws -> Bool {
            switch self {
            case .save: try record.save(db)
            case .insert: try record.insert(db)
            case .update: try record.update(db)
            case .updateOne: try record.update(db, columns: ["score"])
            case .updateChanges: return try record.updateChanges(db)
            case .delete: return try record.delete(db)
            case .reload: try record.reload(db)
            }
            return true
        }
    }

    /// All that can be seen of a record.
    private func state(_ record: some TravellingHero & HeroRecord) throws -> [String] {
        [
            "\(record.id.map(String.init) ?? "nil") \(record.name) \(record.score)",
            "\(record.hasDatabaseChanges)", "\(try record.databaseChanges.sorted { $0.key < $1.key })",
            "\(record.savedDatabaseChanges.sorted { $0.key < $1.key })", "\(record.told)",
        ]
    }

    // MARK: - Like its sister inside of an access

    @Test(
        "Any two of them, one after the other, leave record and row as their sisters inside of an access do",
        arguments: RecordStyle.allCases)
    func likeSisters(style: RecordStyle) async throws { try await likeSisters(style.traveller) }

    private func likeSisters<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        for first in Verb.allCases {
            for second in Verb.allCases {
                let (queue, other) = (try DatabaseQueue.withHeroes(), try DatabaseQueue.withHeroes())
                let (held, twin) = (Traveller("A", score: 1), Traveller("A", score: 1))
                for (number, verb) in [Verb.save, first, second].enumerated() {
                    let outcome = await result { try await verb.run(held, in: queue) }
                    let expected = await result {
                        try other.inTransaction { db in
                            _ = try verb.run(twin, db)
                            return .commit
                        }
                    }
                    #expect(outcome == expected, "\(first), \(second)")
                    let (state, twins) = (try state(held), try state(twin))
                    #expect(state == twins, "\(first), \(second)")
                    (held.score, twin.score) = (number * 10 + 2, number * 10 + 2)
                }
                let rows = try await queue.read { try $0.heroes() }
                #expect(try await other.read { try $0.heroes() } == rows, "\(first), \(second)")
            }
        }
    }

    /// The error of a function, as a text.
    private func result<T>(_ body: () async throws -> T) async -> String {
        do { _ = try await body() } catch { return "\(error)" }
        return "no error"
    }

    @Test("They tell whether anything was done")
    func results() async throws {
        let hero = ListedHero("A")
        try await hero.insert(in: queue)
        #expect(try await hero.updateChanges(in: queue) == false)
        hero.score = 4
        #expect(try await hero.updateChanges(in: queue) == true)
        #expect(try await rows() == ["1 A 4"])
        #expect(try await hero.delete(in: queue) == true)
        #expect(try await hero.delete(in: queue) == false)
        #expect(try await rows() == [])
    }

    @Test(
        "Callbacks of a deletion that are given a database are called where it is, and the last one where the record is"
    )
    func deletion() async throws {
        let hero = DeletedHero("A")
        try await hero.save(in: queue)
        DeletedHero.calls.removeAll()
        hero.isHeld = true
        try await hero.delete(in: queue)
        #expect(DeletedHero.calls.removeAll() == ["willDelete", "{", "}", "didDelete true held"])
        hero.name = ""
        await #expect(throws: TestError(5)) { try await hero.delete(in: queue) }
        #expect(DeletedHero.calls.removeAll() == [])
    }

    // MARK: - What its owner changes

    @Test(
        "What its owner changes meanwhile stays, and is a change", arguments: Verb.allCases,
        RecordStyle.allCases)
    func changesMeanwhile(verb: Verb, style: RecordStyle) async throws {
        try await changesMeanwhile(style.traveller, verb)
    }

    private func changesMeanwhile<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type, _ verb: Verb)
        async throws
    {
        let hero = Traveller("A", score: 1)
        if verb != .insert { try await hero.save(in: queue) }
        if verb == .updateChanges { hero.score = 3 }
        if verb == .reload {
            hero.score = 5
            try await queue.write { db in try db.execute(sql: "UPDATE hero SET score = 9") }
        }
        let queue = queue
        try await hero.whileOnItsWay(
            to: queue, { _ = try await verb.run(hero, in: queue) },
            meanwhile: {
                hero.name = "B"
            })
        #expect(hero.id == 1 && hero.name == "B" && hero.hasDatabaseChanges)
        if verb == .delete {
            #expect(try hero.databaseChanges == Traveller.allUnknown)
            #expect(try await rows() == [])
        } else {
            #expect(try hero.databaseChanges == ["name": "A".databaseValue])
            let score = verb == .reload ? 9 : verb == .updateChanges ? 3 : 1
            #expect(hero.score == score)
            #expect(try await rows() == ["1 A \(score)"])
        }
    }

    /// Runs an operation of another connection meanwhile, with a saved hero.
    private func savedElsewhere<Hero: HeroRecord>(
        _ hero: Hero, during verb: @escaping @MainActor (DatabaseQueue) async throws -> Void,
        _ change: @escaping (Database) throws -> Void
    ) async throws where Hero: TravellingHero {
        let file = try TemporaryDatabase()
        let (queue, other) = (try DatabaseQueue.withHeroes(path: file.path), try file.queue())
        try await hero.save(in: queue)
        try await hero.whileOnItsWay(
            to: queue, { try await verb(queue) },
            meanwhile: {
                try other.inDatabase { db in
                    hero.name = "B"
                    try hero.update(db)
                    try change(db)
                }
            })
    }

    @Test(
        "A record that is saved while it is reloaded takes what the database holds after that",
        arguments: RecordStyle.allCases)
    func savedWhileReloaded(style: RecordStyle) async throws { try await savedWhileReloaded(style.traveller) }

    private func savedWhileReloaded<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let hero = Traveller("A", score: 1)
        try await savedElsewhere(
            hero,
            during: { queue in
                hero.score = 2
                try await hero.reload(in: queue)
            }, { db in try db.execute(sql: "UPDATE hero SET name = 'C'") })
        // The change of its owner is the newer one, for all that is known.
        #expect(hero.name == "B" && hero.score == 2)
        #expect(try hero.databaseChanges == ["name": "C".databaseValue])
    }

    @Test(
        "An update without changes leaves a record as another save has left it meanwhile",
        arguments: RecordStyle.allCases)
    func nothingToUpdate(style: RecordStyle) async throws { try await nothingToUpdate(style.traveller) }

    private func nothingToUpdate<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let hero = Traveller("A", score: 1)
        try await savedElsewhere(
            hero,
            during: { queue in
                let isDone = try await hero.updateChanges(in: queue)
                #expect(!isDone)
            }, { _ in })
        #expect(hero.name == "B" && !hero.hasDatabaseChanges)
        #expect(hero.savedDatabaseChanges["name"] == .some("A".databaseValue))
    }

    @Test("A row that was read before a save of the record is not taken after it: another one is read")
    func readBeforeSave() async throws {
        let file = try TemporaryDatabase(journalMode: .wal)
        let (queue, other) = (try DatabaseQueue.withHeroes(path: file.path), try file.queue())
        let hero = SlowHero()
        try await hero.save(in: queue)
        try other.inDatabase { db in try db.execute(sql: "UPDATE hero SET name = 'slow'") }
        let (begun, end) = (Gate(), Gate())
        SlowHero.reading.withLock { $0 = (begun, end) }
        let reloading = Task { @MainActor in try await hero.reload(in: queue) }
        let isReading: @Sendable () -> Bool = { begun.isOpen }
        try await waitUntil(isReading)
        try other.inDatabase { db in
            hero.name = "B"
            try hero.update(db)
        }
        end.open()
        try await reloading.value
        #expect(hero.name == "B" && !hero.hasDatabaseChanges)
    }

    // MARK: - Errors

    @Test(
        "Where its row is gone, it throws and is as it was, or is inserted again by save",
        arguments: Verb.allCases,
        RecordStyle.allCases)
    func gone(verb: Verb, style: RecordStyle) async throws { try await gone(style.traveller, verb) }

    private func gone<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type, _ verb: Verb) async throws {
        let hero = Traveller("A", score: 1)
        try await hero.save(in: queue)
        try await queue.write { db in try db.execute(sql: "DELETE FROM hero") }
        (hero.score, hero.told) = (2, [])
        let before = try state(hero)
        let notFound = RecordError.recordNotFound(databaseTableName: "hero", key: ["id": 1])
        switch verb {
        case .save, .insert:
            _ = try await verb.run(hero, in: queue)
            #expect(try await rows() == ["1 A 2"])
            #expect(!hero.hasDatabaseChanges)
        case .delete: #expect(try await verb.run(hero, in: queue) == false)
        case .update, .updateOne, .updateChanges, .reload:
            await #expect(throws: notFound) { _ = try await verb.run(hero, in: queue) }
            #expect(try state(hero) == before)
        }
    }

    @Test(
        "Two insertions of a record at once insert one row, and the second one throws",
        arguments: RecordStyle.allCases)
    func doubleTap(style: RecordStyle) async throws { try await doubleTap(style.traveller) }

    private func doubleTap<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let hero = Traveller("A")
        let queue = queue
        let taps = (0..<2).map { _ in
            Task { @MainActor in await result { try await hero.insert(in: queue) } }
        }
        var results: [String] = []
        for tap in taps { results.append(await tap.value) }
        #expect(results.count { $0 == "no error" } == 1)
        #expect(results.count { $0.contains("UNIQUE constraint failed: hero.id") } == 1, "\(results)")
        #expect(try await rows() == ["1 A 0"])
        #expect(hero.id == 1 && !hero.hasDatabaseChanges)
    }

    @Test("A closed database throws a sentence, and the record is as it was", arguments: Verb.allCases)
    func closed(verb: Verb) async throws {
        let hero = ListedHero("A")
        try await queue.close()
        let error = await #expect(throws: DatabaseError.self) { _ = try await verb.run(hero, in: queue) }
        #expect(error?.message == "the database test is closed")
        #expect(hero.id == nil && hero.hasDatabaseChanges)
    }

    // MARK: - Several

    @Test(
        "Several records are saved in one transaction, and called back when it is committed",
        arguments: RecordStyle.allCases)
    func several(style: RecordStyle) async throws { try await several(style.traveller) }

    private func several<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let commits = Recorder<String>()
        let observer = CommitCounter(commits)
        queue.add(transactionObserver: observer, extent: .databaseLifetime)
        let heroes = [Traveller("A"), Traveller("B"), Traveller("C")]
        try await queue.save(heroes + [heroes[0]])
        #expect(commits.removeAll() == ["commit"])
        #expect(heroes.map(\.id) == [1, 2, 3])
        #expect(heroes.map(\.told) == (1...3).map { ["didInsert \($0)", "didSave"] })
        #expect(heroes.allSatisfy { !$0.hasDatabaseChanges })
        for hero in heroes { hero.score = 1 }
        heroes[2].score = 0
        #expect(try await queue.updateChanges(heroes))
        #expect(try await !queue.updateChanges(heroes))
        #expect(try await rows() == ["1 A 1", "2 B 1", "3 C 0"])
        for hero in heroes { hero.score = 5 }
        try await queue.update(heroes)
        #expect(try await rows() == ["1 A 5", "2 B 5", "3 C 5"])
        try await queue.write { db in try db.execute(sql: "UPDATE hero SET score = id") }
        try await queue.reload(heroes)
        #expect(heroes.map(\.score) == [1, 2, 3] && heroes.allSatisfy { !$0.hasDatabaseChanges })
        #expect(try await queue.delete([heroes[0], heroes[2]]) == 2)
        #expect(try await queue.delete(heroes) == 1)
        try await queue.insert(heroes)
        #expect(try await rows() == ["1 A 1", "2 B 2", "3 C 3"])
        try await queue.save([])
    }

    @Test(
        "Of several records, one that fails has nothing saved, and all as they were",
        arguments: RecordStyle.allCases)
    func oneFails(style: RecordStyle) async throws {
        try await oneFails(style.traveller, style.calledTraveller)
    }

    private func oneFails<Traveller: TravellingHero & HeroRecord, Called: CalledHero & HeroRecord>(
        _: Traveller.Type, _: Called.Type
    ) async throws {
        let old = Traveller("Old", score: 1)
        try await old.save(in: queue)
        (old.score, old.told) = (2, [])
        let (new, refusing) = (Traveller("New"), Called(""))
        let before = [try state(old), try state(new), try state(refusing)]
        // Its callback refuses a hero without a name.
        await #expect(throws: TestError(7)) { try await queue.save([old, new, refusing]) }
        #expect([try state(old), try state(new), try state(refusing)] == before)
        #expect(try await rows() == ["1 Old 1"])
        await #expect(throws: TestError(7)) { try await queue.insert([new, refusing]) }
        await expectError("UNIQUE constraint failed: hero.id") { try await queue.insert([new, old]) }
        let missing = RecordError.recordNotFound(databaseTableName: "hero", key: ["id": .null])
        await #expect(throws: missing) { try await queue.update([old, new]) }
        await #expect(throws: missing) { try await queue.reload([old, new]) }
        #expect([try state(old), try state(new)] == Array(before.prefix(2)))
        #expect(try await rows() == ["1 Old 1"])
    }

    @Test("Those who save the same records in another order do not wait for each other")
    func order() async throws {
        let queue = queue
        let heroes = (0..<6).map { ListedHero("\($0)") }
        let tasks = (0..<40).map { number in
            Task { @MainActor in
                try await queue.save(number.isMultiple(of: 2) ? heroes : heroes.reversed())
                if number.isMultiple(of: 3) { try await heroes[number % 6].save(in: queue) }
            }
        }
        for task in tasks { try await task.value }
        #expect(try await rows().count == 6)
        #expect(heroes.allSatisfy { $0.id != nil && !$0.hasDatabaseChanges })
    }

    @Test("Who is cancelled while waiting for one of several records leaves the others to those who come")
    func cancelledWaiting() async throws {
        let queue = queue
        let (a, b) = (ListedHero("A"), ListedHero("B"))
        let hold = try await Hold(queue)
        let first = Task { @MainActor in try await a.save(in: queue) }
        for _ in 0..<10 { await Task.yield() }
        let waiting = Task { @MainActor in try await queue.save([a, b]) }
        for _ in 0..<10 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let other = Task { @MainActor in try await b.save(in: queue) }
        try await hold.release()
        try await first.value
        try await other.value
        #expect(try await rows().count == 2)
    }

    // MARK: - A pool

    @Test("A record is saved in a pool, and reloaded from its readers and snapshots")
    func pool() async throws {
        let file = try TemporaryDatabase()
        _ = try DatabaseQueue.withHeroes(path: file.path)
        let pool = try file.pool()
        let hero = ListedHero("A", score: 1)
        try await hero.insert(in: pool)
        let snapshot = try pool.makeSnapshot()
        try await pool.write { db in try db.execute(sql: "UPDATE hero SET score = 2") }
        try await hero.reload(in: pool)
        #expect(hero.score == 2 && !hero.hasDatabaseChanges)
        try await hero.reload(in: snapshot)
        #expect(hero.score == 1)
        try await pool.reload([hero])
        #expect(hero.score == 2)
    }
}

/// An observer that counts commits.
private final class CommitCounter: TransactionObserver {
    let commits: Recorder<String>

    init(_ commits: Recorder<String>) { self.commits = commits }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { commits.record("commit") }
    func databaseDidRollback(_ db: Database) {}
}

/// A hero that records the callbacks of its deletion, and whether it is a copy. It refuses to be
/// deleted without a name.
private final class DeletedHero: ListedHero {
    static let calls = Recorder<String>()
    /// Whether it is the record itself: a copy has false.
    var isHeld = false

    override func willDelete(_ db: Database) throws {
        if name.isEmpty { throw TestError(5) }
        Self.calls.record("willDelete")
    }
    override func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        Self.calls.record("{")
        _ = try delete()
        Self.calls.record("}")
    }
    override func didDelete(deleted: Bool) {
        Self.calls.record("didDelete \(deleted) \(isHeld ? "held" : "copied")")
    }
}

/// One whose reading is held up where its name is slow.
private final class SlowHero: Record {
    static let reading = Shared<(begun: Gate, end: Gate)?>(nil)
    var id: Int64?
    var name = "A"
    var score = 0
    override class var databaseTableName: String { "hero" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("score", score) { score = $0 }
        try column("name", name) {
            name = $0
            guard name == "slow" else { return }
            let reading = Self.reading.withLock { $0 }
            reading?.begun.open()
            try? reading?.end.wait()
        }
    }
}
