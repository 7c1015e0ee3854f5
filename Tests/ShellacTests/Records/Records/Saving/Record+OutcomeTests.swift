import TestSupport
import Testing

@testable import Shellac

@Suite("What an insertion leaves in a record")
struct RecordOutcomeTests {
    private func withOdd(_ body: (Database) throws -> Void) throws {
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE odd (id INTEGER PRIMARY KEY, name TEXT, score INTEGER)")
            try body(db)
        }
    }

    // MARK: - Row ids

    @Test(
        "Each record has its id, whatever that is encoded as, and loses it in a rollback", .behaviour(19),
        arguments: RecordStyle.allCases)
    func oddIDs(style: RecordStyle) throws {
        let (texts, numbers) = (
            (1...3).map { TextID(text: "\($0)") }, (1...3).map { RealID(number: Double($0)) }
        )
        try oddIDs(style.odd(TextID.self), style.oddInserted(TextID.self), texts)
        try oddIDs(style.odd(RealID.self), style.oddInserted(RealID.self), numbers)
    }

    private func oddIDs<ID: OddID, Odd: OddRecord<ID>, OddInserted: OddRecord<ID>>(
        _: Odd.Type, _: OddInserted.Type, _ ids: [ID]
    ) throws {
        try withOdd { db in
            for id in ids {
                let record = Odd()
                try record.insert(db)
                #expect(record.id == id && !record.hasDatabaseChanges)
            }
            let last = Odd()
            try db.inTransaction {
                try last.insert(db)
                #expect(last.id != nil)
                return .rollback
            }
            #expect(last.id == nil && last.hasDatabaseChanges)
            let many = [Odd(), Odd(), Odd()]
            try Odd.insertAll(db, many)
            #expect(many.allSatisfy { $0.id != nil && !$0.hasDatabaseChanges })
        }
        try withOdd { db in
            for id in ids {
                let record = OddInserted()
                try record.insert(db)
                #expect(record.id == id && !record.hasDatabaseChanges)
            }
        }
    }

    @Test(
        "A first record that cannot be encoded again, or does not take its id, takes no ids away from the others",
        .behaviour(19), arguments: RecordStyle.allCases)
    func badFirst(style: RecordStyle) throws { try badFirst(style.fickleOdd) }

    private func badFirst<Fickle: FickleOdd & OddRecord<TextID>>(_: Fickle.Type) throws {
        try withOdd { db in
            let first = Fickle()
            first.failsAfterwards = true
            try first.insert(db)
            let second = Fickle()
            second.takes = false
            try second.insert(db)
            #expect(second.id == nil && second.hasDatabaseChanges)
            for id in 3...4 {
                let record = Fickle()
                try record.insert(db)
                #expect(record.id == TextID(text: "\(id)") && !record.hasDatabaseChanges)
            }
        }
    }

    @Test(
        "A rolled-back insertion is undone by the name of the row id, in whatever order the record encodes by now",
        .behaviour(15), arguments: [RecordStyle.pair, .list])
    func otherOrder(style: RecordStyle) throws {
        if let wild = style.wildOdd { try otherOrder(wild) }
    }

    private func otherOrder(_ type: WildOdd.Type) throws {
        try withOdd { db in
            for score in [5, 1] {
                for order in [["name", "score", "id"], ["score", "name", "id"], ["id", "score"], ["id"]] {
                    let wild = type.init()
                    wild.values["score"] = score.databaseValue
                    try db.inTransaction {
                        try wild.insert(db)
                        #expect(wild.values["id"] == 1.databaseValue)
                        wild.order = order
                        return .rollback
                    }
                    #expect(wild.values["id"] == .null && wild.values["score"] == score.databaseValue)
                    #expect(wild.hasDatabaseChanges)
                }
            }
        }
    }

    // MARK: - Batches

    @Test(
        "What a didInsert changes in a later record of the same statement is kept, and dirty",
        .behaviour(101),
        arguments: RecordStyle.allCases, [nil, 100])
    func laterChanges(style: RecordStyle, id: Int64?) throws { try laterChanges(style.node, id: id) }

    private func laterChanges<Node: NodeRecord>(_: Node.Type, id: Int64?) throws {
        try withOdd { db in
            for round in 0..<2 {
                let (root, child, other) = (Node(), Node(), Node())
                root.children = [child]
                child.id = id.map { $0 * Int64(round + 1) }
                try Node.insertAll(db, [root, child, other])
                #expect(child.id != nil && root.id != nil && child.score == root.id)
                #expect(try child.databaseChanges == ["score": .null])
                #expect(!root.hasDatabaseChanges && !other.hasDatabaseChanges)
                try child.updateChanges(db)
                let stored = try Int64.fetchOne(
                    db, sql: "SELECT score FROM odd WHERE id = ?", arguments: [child.id])
                #expect(stored == root.id)
            }
        }
    }

    @Test(
        "A later record of a batch that was changed has its stamps and its id, and keeps the change",
        .behaviour(38, 101), arguments: RecordStyle.allCases)
    func laterStamped(style: RecordStyle) throws { try laterStamped(style.chainedMemo) }

    private func laterStamped<Chained: ChainedMemo>(_: Chained.Type) throws {
        let memos = try MemoDatabase(registers: false)
        try memos.queue.inDatabase { db in
            let (first, second) = (Chained(), Chained())
            first.next = second
            try Chained.insertAll(db, [first, second])
            #expect(first.createdAt == minute(0) && !first.hasDatabaseChanges)
            #expect(second.id == 2 && second.title == "changed" && second.updatedAt == minute(0))
            #expect(second.createdAt == minute(5))
            #expect(
                try second.databaseChanges == [
                    "title": "".databaseValue, "createdAt": minute(0).databaseValue,
                ])
        }
    }

    // MARK: - Reloading

    @Test(
        "A record that saves itself while it is encoded to be reloaded tells the truth afterwards",
        .behaviour(22), arguments: RecordStyle.allCases)
    func savingReload(style: RecordStyle) throws { try savingReload(style.meddlingHero) }

    private func savingReload<Meddler: MeddlingHero & HeroRecord>(_: Meddler.Type) throws {
        try DatabaseQueue.withHeroes().inDatabase { db in
            for saves in 1...6 {
                let hero = Meddler("\(saves)")
                try hero.insert(db)
                try db.execute(sql: "UPDATE hero SET score = 5 WHERE id = ?", arguments: [hero.id])
                (hero.db, hero.saves) = (db, saves)
                try hero.reload(db)
                hero.saves = 0
                #expect(try hero.tellsTheTruth(on: db), "at encoding \(saves)")
            }
        }
    }
}
