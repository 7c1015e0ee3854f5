import Dispatch
import TestSupport
import Testing

@testable import Shellac

/// Records that are fetched together remember their rows in shared memory: see ``RememberedRow``.
@Suite struct RememberedRowTests {
    private static func makeQueue(rows: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE card (id INTEGER PRIMARY KEY, title TEXT, count INTEGER)")
            for row in 0..<rows {
                try db.execute(
                    sql: "INSERT INTO card (title, count) VALUES (?, ?)", arguments: ["card \(row)", row])
            }
        }
        return queue
    }

    @Test(
        "Records of one fetch know their own changes, and what is left does when the others are gone",
        arguments: RecordStyle.allCases)
    func eachForItself(style: RecordStyle) throws { try eachForItself(style.card) }

    private func eachForItself<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 300)
        try queue.write { db in
            var cards = try Card.fetchAll(db, sql: "SELECT * FROM card ORDER BY id")
            for (row, card) in cards.enumerated() where row % 3 == 0 { card.count += 1 }
            cards = cards.enumerated().filter { $0.offset % 7 < 2 }.map(\.element)
            // Memory that was let go of too early would be used again.
            let others = try Card.fetchAll(
                db, sql: "SELECT id, upper(title) AS title, -count AS count FROM card")
            for card in cards {
                let row = Int(card.id ?? 0) - 1
                #expect(card.hasDatabaseChanges == (row % 3 == 0))
                #expect(try card.databaseChanges == (row % 3 == 0 ? ["count": row.databaseValue] : [:]))
            }
            for card in cards {
                let row = Int(card.id ?? 0) - 1
                #expect(try card.updateChanges(db) == (row % 3 == 0))
                #expect(!card.hasDatabaseChanges)
                #expect(card.savedDatabaseChanges == (row % 3 == 0 ? ["count": row.databaseValue] : [:]))
            }
            #expect(others.allSatisfy { !$0.hasDatabaseChanges })
            #expect(others.count == 300)
        }
    }

    @Test(
        "The first record, the only one as a rule, and large ones have memory of their own",
        arguments: RecordStyle.allCases)
    func sharing(style: RecordStyle) throws { try sharing(style.card) }

    private func sharing<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 30)
        try queue.write { db in
            try db.execute(
                sql: "UPDATE card SET title = ? WHERE id = 10",
                arguments: [String(repeating: "x", count: 5000)])
            try db.execute(
                sql: "UPDATE card SET title = ? WHERE id = 11",
                arguments: [String(repeating: "y", count: 300)])
            let cards = try Card.fetchAll(db, sql: "SELECT * FROM card ORDER BY id")
            let addresses = cards.map(\.address)
            #expect(!areNeighbours(addresses[0], addresses[1]))
            #expect(areNeighbours(addresses[1], addresses[2]))
            #expect(areNeighbours(addresses[8], addresses[11]))
            #expect(!areNeighbours(addresses[8], addresses[9]))
            #expect(!areNeighbours(addresses[8], addresses[10]))
            #expect(cards.allSatisfy { !$0.hasDatabaseChanges })
            cards[9].title = "short"
            #expect(
                try cards[9].databaseChanges["title"] == String(repeating: "x", count: 5000).databaseValue)
            // A record that is saved gets memory of its own, and remembers the same. Questions
            // change nothing.
            cards[2].title = "new"
            #expect(try cards[2].databaseChanges == ["title": "card 2".databaseValue])
            #expect(cards[2].savedDatabaseChanges.isEmpty)
            #expect(cards[2].address == addresses[2])
            let copy = try cards[2].copy()
            try cards[2].updateChanges(db)
            #expect(cards[2].address != addresses[2])
            #expect(cards[2].savedDatabaseChanges == ["title": "card 2".databaseValue])
            #expect(!cards[2].hasDatabaseChanges)
            #expect(try copy.databaseChanges == ["title": "card 2".databaseValue])
        }
    }

    /// Returns whether the memory of a small row is right after that of another one. An object
    /// would begin with more bytes than such a row has.
    private func areNeighbours(_ a: UInt, _ b: UInt) -> Bool { b > a && b - a < 40 }

    @Test(
        "Records of two types that are read from the same rows remember them, each by its own table",
        arguments: RecordStyle.allCases)
    func twoTypes(style: RecordStyle) throws { try twoTypes(style.card, style.sticker) }

    private func twoTypes<Card: CardRecord, Sticker: CardRecord>(_: Card.Type, _: Sticker.Type) throws {
        let queue = try Self.makeQueue(rows: 50)
        try queue.read { db in
            var (cards, stickers): ([Card], [Sticker]) = ([], [])
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM card ORDER BY id")
            while let row = try rows.next() {
                cards.append(try Card(row: row))
                stickers.append(try Sticker(row: row))
            }
            for (card, sticker) in zip(cards, stickers) {
                #expect(!card.hasDatabaseChanges && !sticker.hasDatabaseChanges)
                card.count += 1
                #expect(card.hasDatabaseChanges && !sticker.hasDatabaseChanges)
            }
        }
    }

    @Test("The shared memory goes with the last record that stands in it", arguments: RecordStyle.allCases)
    func endOfChunks(style: RecordStyle) throws { try endOfChunks(style.card) }

    private func endOfChunks<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 40)
        weak var layout: RowLayout?
        try queue.write { db in
            // (A kept statement would keep the layout.)
            var cards = try Card.fetchAll(db.makeStatement(sql: "SELECT * FROM card"))
            layout = cards[20].heldLayout
            #expect(layout != nil)
            let kept = cards[20]
            cards = []
            #expect(layout != nil && kept.heldLayout === layout)
            #expect(!kept.hasDatabaseChanges)
        }
        #expect(layout == nil)
    }

    @Test(
        "A fetch that throws in the middle, and one whose cursor is let go of, free what they have shared",
        arguments: RecordStyle.allCases)
    func interruptedFetches(style: RecordStyle) throws { try interruptedFetches(style.card) }

    private func interruptedFetches<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 40)
        weak var layout: RowLayout?
        try queue.write { db in
            let statement = try db.makeStatement(
                sql: "SELECT id, iif(id = 30, NULL, title) AS title, count FROM card")
            #expect(throws: RowDecodingError.self) { try Card.fetchAll(statement) }
            let cursor = try Card.fetchCursor(statement)
            var cards: [Card] = []
            while cards.count < 20, let card = try cursor.next() { cards.append(card) }
            layout = cards[19].heldLayout
            #expect(layout != nil)
        }
        #expect(layout == nil)
    }

    @Test(
        "Records that were fetched together can be let go of by many threads at once",
        arguments: RecordStyle.allCases)
    func manyThreads(style: RecordStyle) throws { try manyThreads(style.card) }

    private func manyThreads<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 2000)
        weak var layout: RowLayout?
        let (slots, count) = try queue.write { db in
            let cards = try Card.fetchAll(db.makeStatement(sql: "SELECT * FROM card"))
            layout = cards[1].heldLayout
            let slots = UnsafeMutablePointer<Card?>.allocate(capacity: cards.count)
            for (slot, card) in cards.enumerated() { (slots + slot).initialize(to: card) }
            return (slots, cards.count)
        }
        nonisolated(unsafe) let shared = slots  // each is touched by one thread
        let changed = Lock(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for slot in stride(from: thread, to: count, by: 8) {
                if shared[slot]?.hasDatabaseChanges != false { changed.withLock { $0 += 1 } }
                shared[slot] = nil
            }
        }
        #expect(changed.withLock { $0 } == 0)
        slots.deinitialize(count: count).deallocate()
        #expect(layout == nil)
    }

    // MARK: - What encoding does to the record

    /// A card that was fetched, among others in shared memory or alone.
    private func withCard<Card: CardRecord>(
        _: Card.Type, isShared: Bool, _ body: (Database, Card) throws -> Void
    ) throws {
        try Self.makeQueue(rows: 20).write { db in
            let sql = isShared ? "SELECT * FROM card ORDER BY id DESC" : "SELECT * FROM card WHERE id = 5"
            try body(db, #require(try Card.fetchAll(db, sql: sql).first { $0.id == 5 }))
        }
    }

    @Test(
        "A record may forget, and be saved, while it is encoded to find out whether it has changed",
        arguments: RecordStyle.allCases, [true, false])
    func meddling(style: RecordStyle, isShared: Bool) throws { try meddling(style.card, isShared: isShared) }

    private func meddling<Card: CardRecord>(_: Card.Type, isShared: Bool) throws {
        try withCard(Card.self, isShared: isShared) { (db, card) throws in
            card.meddle = { $0.hasDatabaseChanges = true }
            #expect(!card.hasDatabaseChanges, "this is about what was remembered when it was asked")
            #expect(card.hasDatabaseChanges)
            card.hasDatabaseChanges = false

            card.count += 1
            card.meddle = { try? $0.update(db) }
            #expect(card.hasDatabaseChanges)
            #expect(!card.hasDatabaseChanges)

            // Asked inside, and changed inside of that.
            card.meddle = { card in
                card.meddle = { $0.hasDatabaseChanges = true }
                #expect(!card.hasDatabaseChanges)
                #expect(card.hasDatabaseChanges)
            }
            #expect(!card.hasDatabaseChanges)
            #expect(card.hasDatabaseChanges)

            // A rollback brings the replaced row back.
            try card.update(db)
            card.meddle = { card in
                try? db.inSavepoint {
                    try card.update(db)
                    return .rollback
                }
            }
            #expect(!card.hasDatabaseChanges)
            #expect(!card.hasDatabaseChanges)
            #expect(try card.databaseChanges.isEmpty)
        }
    }

    @Test(
        "What a record remembers may change while it is encoded to have its changes saved",
        arguments: RecordStyle.allCases, [true, false])
    func meddlingWithUpdate(style: RecordStyle, isShared: Bool) throws {
        try meddlingWithUpdate(style.card, isShared: isShared)
    }

    private func meddlingWithUpdate<Card: CardRecord>(_: Card.Type, isShared: Bool) throws {
        try withCard(Card.self, isShared: isShared) { (db, card) throws in
            var stored: [Int] {
                get throws { try Int.fetchAll(db, sql: "SELECT count FROM card WHERE id = 5") }
            }
            #expect(try card.updateChanges(db) == false)

            // It was not known any more, and all is written.
            card.count = 50
            card.meddle = { $0.hasDatabaseChanges = true }
            #expect(try card.updateChanges(db))
            #expect(try !card.hasDatabaseChanges && stored == [50])

            // It was saved meanwhile, and nothing is left to write.
            card.count = 51
            card.meddle = { try? $0.update(db) }
            #expect(try card.updateChanges(db) == false)
            #expect(try !card.hasDatabaseChanges && stored == [51])

            // Another column was saved meanwhile.
            card.title = "another"
            card.count = 52
            card.meddle = { try? $0.update(db, columns: ["title"]) }
            #expect(try card.updateChanges(db))
            #expect(try !card.hasDatabaseChanges && stored == [52])
            #expect(card.savedDatabaseChanges == ["count": 51.databaseValue])

            // It was given back what it was, and all is different again.
            card.count = 53
            card.meddle = { card in
                try? db.inSavepoint {
                    try card.update(db)
                    return .rollback
                }
            }
            #expect(try card.updateChanges(db))
            #expect(try !card.hasDatabaseChanges && stored == [53])
        }
    }

    @Test(
        "A record that has not changed stays in the shared memory when its changes are saved",
        arguments: RecordStyle.allCases)
    func unchanged(style: RecordStyle) throws { try unchanged(style.card) }

    private func unchanged<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 20)
        try queue.write { db in
            let cards = try Card.fetchAll(db, sql: "SELECT * FROM card")
            let addresses = cards.map(\.address)
            for card in cards { #expect(try !card.updateChanges(db)) }
            #expect(cards.map(\.address) == addresses)
            cards[7].count += 1
            #expect(try cards[7].updateChanges(db))
            #expect(cards[7].address != addresses[7] && cards[8].address == addresses[8])
        }
    }

    @Test(
        "A record that is encoded, and throws after it has changed what it remembers, has changes",
        arguments: RecordStyle.allCases)
    func throwingMeddler(style: RecordStyle) throws { try throwingMeddler(style.card) }

    private func throwingMeddler<Card: CardRecord>(_: Card.Type) throws {
        let queue = try Self.makeQueue(rows: 20)
        try queue.write { db in
            let card = try Card.fetchAll(db, sql: "SELECT * FROM card")[9]
            card.meddle = {
                $0.hasDatabaseChanges = true
                $0.failure = DatabaseError(message: "no")
            }
            #expect(card.hasDatabaseChanges)
            card.failure = nil
            card.hasDatabaseChanges = false
            #expect(!card.hasDatabaseChanges)
        }
    }
}
