import Foundation
import Shellac
import TestSupport
import Testing

/// One that takes its row id where the family does, and needs it in a method.
private final class InsertedTraveller: Record {
    var id: Int64?
    var name = ""
    var seen: Int64?

    init(_ name: String) {
        self.name = name
        super.init()
    }
    required init(row: Row) throws {
        (id, name, seen) = (try row["id"], try row["name"], try row["score"])
        try super.init(row: row)
    }
    override class var databaseTableName: String { "hero" }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["id"], container["name"], container["score"]) = (id, name, seen ?? 0)
    }
    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    override func insert(_ db: Database) throws {
        try super.insert(db)
        try db.execute(sql: "UPDATE hero SET score = ? WHERE name = ?", arguments: [id, name])
    }
}

@MainActor
@Suite("Saving a record that stays with its owner", .serialized)
struct RecordHeldTests {
    private let queue: DatabaseQueue

    init() throws { queue = try .withHeroes() }

    private func row(_ id: Int64 = 1) async throws -> String? {
        try await queue.read { db in
            try String.fetchOne(
                db, sql: "SELECT id || ' ' || name || ' ' || score FROM hero WHERE id = ?", arguments: [id])
        }
    }

    /// Saves a record, whose owner does something while the save is on its way.
    private func save(
        _ record: some TravellingHero & HeroRecord, meanwhile: @MainActor () async throws -> Void
    ) async throws {
        let queue = queue
        try await record.whileOnItsWay(to: queue, { try await record.save(in: queue) }, meanwhile: meanwhile)
    }

    // MARK: - What its owner changes

    @Test(
        "A row that it merges meanwhile counts: it remembers that row, and has no changes",
        .behaviour(71, 101),
        arguments: RecordStyle.allCases)
    func mergesMeanwhile(style: RecordStyle) async throws { try await mergesMeanwhile(style.traveller) }

    private func mergesMeanwhile<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let hero = Traveller("Arthur", score: 1)
        try await hero.save(in: queue)
        hero.score = 2
        try await save(hero) {
            // As it will be after the save, and as another connection has changed it.
            try hero.merge(Row(["id": 1, "name": "Art", "score": 2]))
        }
        #expect(hero.name == "Art" && hero.score == 2 && !hero.hasDatabaseChanges)
        #expect(hero.savedDatabaseChanges["score"] == .some(1.databaseValue))
        hero.score = 3
        try await save(hero) {
            // As it was before the save.
            try hero.merge(Row(["id": 1, "name": "Art", "score": 2]))
            hero.name = "Arthur"
        }
        try #expect(hero.databaseChanges == ["name": "Art".databaseValue, "score": 2.databaseValue])
        try hero.merge(Row(["id": 1, "name": "Art", "score": 3]))
        try #expect(hero.databaseChanges == ["name": "Art".databaseValue])
    }

    @Test(
        "What its owner changes meanwhile is kept, and dirty: first and later insertions, and updates",
        .behaviour(101), arguments: [false, true], RecordStyle.allCases)
    func changesMeanwhile(isCalled: Bool, style: RecordStyle) async throws {
        let traveller: any (TravellingHero & HeroRecord).Type =
            isCalled ? style.calledTraveller : style.traveller
        try await changesMeanwhile(traveller, isCalled: isCalled)
    }

    private func changesMeanwhile<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type, isCalled: Bool)
        async throws
    {
        for round in 1...3 {
            let record = Traveller("A\(round)", score: isCalled ? 1 : 0)
            try await save(record) { record.name = "B" }
            #expect(record.id == Int64(round))
            #expect(record.name == "B" && record.hasDatabaseChanges)
            #expect(try record.databaseChanges == ["name": "A\(round)".databaseValue])
            try await save(record) { record.score = 9 }
            #expect(try record.databaseChanges == ["score": (isCalled ? 1 : 0).databaseValue])
            try await save(record) {}
            #expect(!record.hasDatabaseChanges)
            #expect(try await row(Int64(round)) == "\(round) B 9")
            record.score = round
            record.name = "C\(round)"
            try await record.save(in: queue)
        }
    }

    @Test(
        "A record that was given another id meanwhile keeps it, and has changes", .behaviour(101),
        arguments: RecordStyle.allCases)
    func otherID(style: RecordStyle) async throws { try await otherID(style.traveller) }

    private func otherID<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let record = Traveller("A")
        try await save(record) { record.id = 77 }
        #expect(record.id == 77 && record.hasDatabaseChanges)
        #expect(try await row() == "1 A 0")
    }

    @Test(
        "A record that is told otherwise of its row meanwhile knows nothing of it", .behaviour(101),
        arguments: [0, 1], RecordStyle.allCases)
    func savedMeanwhile(way: Int, style: RecordStyle) async throws {
        try await savedMeanwhile(style.traveller, way: way)
    }

    private func savedMeanwhile<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type, way: Int)
        async throws
    {
        let record = Traveller("A")
        try await record.save(in: queue)
        record.score = 1
        try await save(record) {
            if way == 0 { record.hasDatabaseChanges = true } else { record.hasDatabaseChanges = false }
        }
        #expect(try record.databaseChanges == Traveller.allUnknown)
        #expect(try await row() == "1 A 1")
    }

    // MARK: - Callbacks

    @Test(
        "All callbacks are called once, those that get no database where the record is", .behaviour(101),
        arguments: RecordStyle.allCases)
    func callbacks(style: RecordStyle) async throws {
        try await callbacks(style.calledTraveller, style.traveller)
    }

    private func callbacks<Called: CalledHero & HeroRecord, Plain: TravellingHero & HeroRecord>(
        _: Called.Type, _: Plain.Type
    ) async throws {
        let record = Called("a")
        CalledHero.calls.removeAll()
        try await record.save(in: queue)
        #expect(
            CalledHero.calls.removeAll() == [
                "willSave", "willInsert", "aroundSave {", "}", "didInsert 0", "didSave 0",
            ])
        #expect(record.id == 1 && record.name == "A" && !record.hasDatabaseChanges)
        #expect(record.savedDatabaseChanges == Called.allUnknown)
        record.score = 5
        try await save(record) { record.score = 6 }
        #expect(
            CalledHero.calls.removeAll() == [
                "willSave", "willUpdate", "aroundSave {", "}", "didUpdate 6", "didSave 6",
            ])
        #expect(try await row() == "1 A 5")
        #expect(record.savedDatabaseChanges == ["score": 0])
        #expect(try record.databaseChanges == ["score": 5])
        try await queue.write { db in _ = try Called.deleteOne(db, key: 1) }
        try await record.save(in: queue)
        #expect(
            CalledHero.calls.removeAll() == [
                "willSave", "willUpdate", "aroundSave {", "willInsert", "}", "didInsert 6", "didSave 6",
            ])
        #expect(!record.hasDatabaseChanges)

        let plain = Plain("b")
        try await plain.save(in: queue)
        plain.score = 1
        try await plain.save(in: queue)
        #expect(plain.told == ["didInsert 2", "didSave", "didUpdate", "didSave"])
    }

    @Test(
        "What a callback throws is thrown, nothing is saved, and the record is as it was", .behaviour(101),
        arguments: RecordStyle.allCases)
    func refusal(style: RecordStyle) async throws { try await refusal(style.calledTraveller) }

    private func refusal<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let record = Traveller("", score: 3)
        await #expect(throws: TestError(7)) { try await record.save(in: queue) }
        #expect(record.id == nil && record.name.isEmpty && record.hasDatabaseChanges)
        #expect(record.told.isEmpty)
        record.name = "A"
        try await record.save(in: queue)
        #expect(try await row() == "1 A 3")
    }

    @Test(
        "A class that takes its row id in didInsert has it, and so has the copy where a method needs it",
        .behaviour(101))
    func idInDidInsert() async throws {
        for round in 1...3 {
            let record = InsertedTraveller("A\(round)")
            try await record.save(in: queue)
            #expect(record.id == Int64(round))
            #expect(try await row(Int64(round)) == "\(round) A\(round) \(round)")
        }
    }

    @Test(
        "A conflict that is ignored leaves the record as it was", .behaviour(101),
        arguments: RecordStyle.allCases)
    func ignored(style: RecordStyle) async throws { try await ignored(style.ignoring) }

    private func ignored<Ignoring: IgnoringHero & HeroRecord>(_: Ignoring.Type) async throws {
        try await Ignoring("A").save(in: queue)
        let record = Ignoring("A")
        try await record.save(in: queue)
        #expect(record.id == nil && record.hasDatabaseChanges)
        record.name = "B"
        try await record.save(in: queue)
        record.name = "A"
        try await record.save(in: queue)
        #expect(try record.databaseChanges == ["name": "B"])
    }

    // MARK: - Stamps

    @Test(
        "It is stamped, and has its stamps, whether the class is registered", .behaviour(38, 101),
        arguments: RecordStyle.allCases, [true, false])
    func stamps(style: RecordStyle, isRegistered: Bool) async throws {
        try await stamps(style.memo, isRegistered: isRegistered)
    }

    private func stamps<Memo: MemoRecord>(_: Memo.Type, isRegistered: Bool) async throws {
        let memos = try MemoDatabase(registers: isRegistered)
        let memo = Memo("a")
        try await memo.save(in: memos.queue)
        #expect(memo.stamps == "0 0 -" && !memo.hasDatabaseChanges)
        for number in 1...2 {
            memos.clock.advance()
            memo.title = "\(number)"
            try await memo.save(in: memos.queue)
            #expect(try await memos.queue.read { try $0.memoStamps() }.hasPrefix("0 \(number) "))
            #expect(memo.stamps.hasPrefix("0 \(number) ") && !memo.hasDatabaseChanges)
        }
        try await memos.queue.write { db in try db.execute(sql: "UPDATE memo SET updatedAt = NULL") }
        memos.clock.advance()
        try await memo.save(in: memos.queue)
        #expect(try await memos.queue.read { try $0.memoStamps() }.hasPrefix("0 3 "))
    }

    // MARK: - Copies

    @Test(
        "A copy that cannot be made, or has other values, throws what to do, and saves nothing",
        arguments: RecordStyle.allCases)
    func notCopied(style: RecordStyle) async throws { try await notCopied(style.uncopied) }

    private func notCopied<Failing: UncopiedHero & HeroRecord>(_: Failing.Type) async throws {
        let way =
            "It is saved by a copy: have WriteOnly list its columns in columns(_:), or read all that it encodes in "
            + "updateFromRow(_:) or init(row:), or override copy()"
        let writeOnly = WriteOnly()
        writeOnly.name = "B"
        let lost = RecordError.notCopied(
            recordType: "WriteOnly", reason: "its copy encodes other values in name. \(way)")
        await #expect(throws: lost) { try await writeOnly.save(in: queue) }
        #expect("\(lost)" == "a WriteOnly could not be copied: its copy encodes other values in name. \(way)")
        let failing = RecordError.notCopied(
            recordType: "\(Failing.self)",
            reason: "copy() threw \(TestError(3)). "
                + way.replacingOccurrences(of: "WriteOnly", with: "\(Failing.self)"))
        await #expect(throws: failing) { try await Failing("A").save(in: queue) }
        #expect(try await queue.read { try $0.heroes() } == [])
    }

    @Test(
        "A record that never encodes the same values is saved, and has changes as ever",
        arguments: RecordStyle.allCases)
    func restless(style: RecordStyle) async throws { try await restless(style.restless) }

    private func restless<Restless: HeroRecord>(_: Restless.Type) async throws {
        let record = Restless("A")
        try await record.save(in: queue)
        #expect(record.id == 1 && record.hasDatabaseChanges)
        #expect(try record.databaseChanges.keys.sorted() == ["score"])
    }

    @Test("A copy of a record that is held is handed over", arguments: RecordStyle.allCases)
    func heldCopy(style: RecordStyle) async throws { try await heldCopy(style.hero) }

    private func heldCopy<Hero: HeroRecord>(_: Hero.Type) async throws {
        let model = Model<Hero>()
        try await model.hero.save(in: queue)
        model.hero.score = 4
        model.hero = try await queue.write(sending: model.hero.copy()) { db, hero in
            try hero.updateChanges(db)
            return hero
        }
        #expect(try await row() == "1 A 4")
        #expect(model.hero.id == 1 && !model.hero.hasDatabaseChanges)
    }

    // MARK: - Several at once

    @Test("Several saves of one new record at once insert one row", arguments: RecordStyle.allCases)
    func severalAtOnce(style: RecordStyle) async throws { try await severalAtOnce(style.traveller) }

    private func severalAtOnce<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let record = Traveller("A")
        let hold = try await Hold(queue)
        let queue = queue
        let saves = (0..<4).map { _ in Task { @MainActor in try await record.save(in: queue) } }
        while !record.isEncoded { await Task.yield() }
        record.score = 2
        try await hold.release()
        for save in saves { try await save.value }
        #expect(try await queue.read { try $0.heroes() } == ["A"])
        #expect(record.id == 1 && !record.hasDatabaseChanges)
        #expect(record.told.filter { $0.hasPrefix("didInsert") } == ["didInsert 1"])
        #expect(try await row() == "1 A 2")
    }

    @Test(
        "A save that waits for another one of the record is cancelled, and the others go on",
        arguments: RecordStyle.allCases)
    func cancelledWaiting(style: RecordStyle) async throws { try await cancelledWaiting(style.traveller) }

    private func cancelledWaiting<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        let record = Traveller("A")
        let hold = try await Hold(queue)
        let queue = queue
        let first = Task { @MainActor in try await record.save(in: queue) }
        while !record.isEncoded { await Task.yield() }
        let waiting = (0..<3).map { _ in Task { @MainActor in try await record.save(in: queue) } }
        waiting[1].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[1].value }
        try await hold.release()
        try await first.value
        try await waiting[0].value
        try await waiting[2].value
        #expect(try await queue.read { try $0.heroes() } == ["A"])
        let cancelled = Task { @MainActor in
            withUnsafeCurrentTask { $0?.cancel() }
            try await record.save(in: queue)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        try await record.save(in: queue)
    }

    @Test(
        "A record that refuses what its copy was given is told what threw: what its class encodes and sets by",
        arguments: RecordStyle.allCases)
    func refused(style: RecordStyle) async throws {
        let coder = style.choose("encode or updateFromRow", "columns(_:)", "encoding or setting it")
        try await refused(style.refusingHero, coder)
    }

    private func refused<Refusing: RefusingHero & HeroRecord>(_: Refusing.Type, _ coder: String) async throws
    {
        let record = Refusing("A")
        record.refuses = true
        let refusal = RecordError.rowNotTaken(
            recordType: "\(Refusing.self)", reason: "\(coder) threw \(TestError(9))")
        await #expect(throws: refusal) { try await record.save(in: queue) }
        #expect(record.id == nil)
    }

    @Test(
        "A save that fails leaves the turn to the next one, and the record as it was",
        arguments: RecordStyle.allCases)
    func failing(style: RecordStyle) async throws { try await failing(style.traveller) }

    private func failing<Traveller: TravellingHero & HeroRecord>(_: Traveller.Type) async throws {
        try await Traveller("A").save(in: queue)
        let record = Traveller("A")
        await expectError("UNIQUE constraint failed: hero.name") { try await record.save(in: queue) }
        #expect(record.id == nil && record.hasDatabaseChanges && record.told.isEmpty)
        record.name = "B"
        try await record.save(in: queue)
        #expect(record.id == 2 && !record.hasDatabaseChanges)
    }
}

/// One that cannot be read.
private final class WriteOnly: Record {
    var name = "A"
    override class var databaseTableName: String { "hero" }
    override func encode(to container: inout PersistenceContainer) throws {
        (container["name"], container["score"]) = (name, 0)
    }
}

@MainActor
private final class Model<Hero: HeroRecord> {
    var hero = Hero("A")
}
