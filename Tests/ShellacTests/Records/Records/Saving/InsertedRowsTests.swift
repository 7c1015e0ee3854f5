import TestSupport
import Testing

@testable import Shellac

/// Records that are inserted one after the other remember their rows in shared memory: see
/// ``RememberedRow``.
@Suite struct InsertedRowsTests {
    private static let kinds: [any Money.Type] = [
        Coin.self, ListedCoin.self, CodedCoin.self, Banknote.self, ListedBanknote.self, CodedBanknote.self,
    ]

    private static func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE coin (id INTEGER PRIMARY KEY, metal TEXT, weight INTEGER);
                    CREATE TABLE note (serial TEXT PRIMARY KEY, metal TEXT, weight INTEGER);
                    """)
            // From the first one on it is known how the class takes its row id.
            for coin in kinds.prefix(3) { try coin.init(0).insert(db) }
        }
        return queue
    }

    private static func makeMoney(_ type: any Money.Type, _ count: Int) -> [any Money] {
        (1...count).map { type.init($0) }
    }

    @Test("Records that are inserted in one transaction know their own changes", arguments: kinds)
    func eachForItself(kind: any Money.Type) throws {
        let queue = try Self.makeQueue()
        let money = Self.makeMoney(kind, 300)
        try queue.write { (db) throws in
            for one in money { try one.insert(db) }
            #expect(areNeighbours(money[1], money[2]))
            #expect(!areNeighbours(money[0], money[1]))
            for one in money {
                #expect(!one.hasDatabaseChanges)
                #expect(one.savedDatabaseChanges == one.allNew)
            }
        }
        var kept = money.enumerated().filter { $0.offset % 7 < 2 }.map(\.element)
        // Memory that was let go of too early would be used again.
        let others = Self.makeMoney(Coin.self, 100)
        try queue.write { (db) throws in
            for one in others { try one.insert(db) }
        }
        for one in kept {
            #expect(!one.hasDatabaseChanges)
            one.weight += 1
            #expect(try one.databaseChanges == ["weight": (one.weight - 1).databaseValue])
            #expect(one.savedDatabaseChanges == one.allNew)
            let copy = try one.copy()
            #expect(try copy.databaseChanges == ["weight": (one.weight - 1).databaseValue])
        }
        try queue.write { (db) throws in
            for one in kept {
                #expect(try one.updateChanges(db))
                #expect(!one.hasDatabaseChanges)
                #expect(one.savedDatabaseChanges == ["weight": (one.weight - 1).databaseValue])
            }
        }
        kept = []
        #expect(others.allSatisfy { !$0.hasDatabaseChanges })
    }

    @Test("What a transaction inserts and then changes is taken back with it", arguments: kinds)
    func rollback(kind: any Money.Type) throws {
        let queue = try Self.makeQueue()
        let money = Self.makeMoney(kind, 20)
        try queue.inTransaction { (db) throws in
            for one in money { try one.insert(db) }
            for one in money[..<10] {
                one.weight += 1
                try one.updateChanges(db)
            }
            #expect(money.allSatisfy { !$0.hasDatabaseChanges })
            return .rollback
        }
        for one in money {
            #expect(one.hasDatabaseChanges)
            #expect(try one.databaseChanges == one.allNew)
            #expect(one.savedDatabaseChanges.isEmpty)
        }
    }

    @Test(
        "What a savepoint changed in records that were inserted before it is taken back",
        arguments: kinds)
    func savepoint(kind: any Money.Type) throws {
        let queue = try Self.makeQueue()
        let (money, later) = (Self.makeMoney(kind, 20), Self.makeMoney(kind, 40)[20...])
        try queue.inTransaction { (db) throws in
            for one in money { try one.insert(db) }
            try db.inSavepoint { () throws in
                for one in later { try one.insert(db) }
                for one in money {
                    one.weight += 100
                    try one.updateChanges(db)
                    #expect(!one.hasDatabaseChanges)
                }
                try money[7].delete(db)
                return .rollback
            }
            for one in money {
                #expect(try one.databaseChanges == ["weight": (one.weight - 100).databaseValue])
            }
            #expect(later.allSatisfy { $0.hasDatabaseChanges })
            for one in money + later { try one.save(db) }
            return .commit
        }
        #expect((money + later).allSatisfy { !$0.hasDatabaseChanges })
        try queue.read { db in
            let table = kind.databaseTableName
            let weights = try Int.fetchSet(db, sql: "SELECT weight FROM \(table) WHERE weight > 0")
            #expect(weights == Set(101...120).union(21...40))
        }
    }

    @Test("The only record of a transaction, and one that is inserted outside of any, remembers alone")
    func alone() throws {
        let queue = try Self.makeQueue()
        let money = Self.makeMoney(Banknote.self, 40)
        for one in money[..<20] { try queue.write { try one.insert($0) } }
        try queue.writeWithoutTransaction { db in
            for one in money[20...] { try one.insert(db) }
        }
        for (one, next) in zip(money, money.dropFirst()) { #expect(!areNeighbours(one, next)) }
        #expect(money.allSatisfy { !$0.hasDatabaseChanges && $0.savedDatabaseChanges == $0.allNew })
    }

    @Test("A record that stands twice among those to insert is told from two records")
    func twice() throws {
        let queue = try Self.makeQueue()
        let money = Self.makeMoney(Coin.self, 20)
        expectError(
            "the same Coin occurs twice among the records to insert, but can have only one row in the table "
                + "coin"
        ) {
            try queue.write { try Coin.insertAll($0, (money + [money[10]]).map { $0 as? Coin ?? Coin(0) }) }
        }
        #expect(money.allSatisfy { $0.hasDatabaseChanges })
        try queue.write { try Coin.insertAll($0, Self.makeMoney(Coin.self, 20).compactMap { $0 as? Coin }) }
    }

    @Test("Records of several classes may be inserted in turns")
    func turns() throws {
        let queue = try Self.makeQueue()
        let (coins, notes) = (Self.makeMoney(Coin.self, 30), Self.makeMoney(Banknote.self, 30))
        try queue.write { (db) throws in
            for (coin, note) in zip(coins, notes) {
                try coin.insert(db)
                try note.insert(db)
            }
        }
        for (coin, note) in zip(coins, notes) {
            #expect(!coin.hasDatabaseChanges && !note.hasDatabaseChanges)
            coin.weight += 1
            #expect(coin.hasDatabaseChanges && !note.hasDatabaseChanges)
        }
    }

    /// Returns whether the remembered row of a record is right after that of another one in memory.
    private func areNeighbours(_ a: any Money, _ b: any Money) -> Bool {
        guard let a = RememberedRow.View(a)?.bytes, let b = RememberedRow.View(b)?.bytes else { return false }
        return b.start > a.start && b.start - a.start <= 48
    }
}

/// Records of two tables, in all styles.
protocol Money: Record, SendableMetatype {
    var metal: String { get set }
    var weight: Int { get set }
    /// All columns, of which nothing was known.
    var allNew: [String: DatabaseValue?] { get }

    init(_ weight: Int)
}

// MARK: - Coins

private class AnyCoin: Record {
    override class var databaseTableName: String { "coin" }
    final var allNew: [String: DatabaseValue?] { ["id": nil, "metal": nil, "weight": nil] }
}

/// It takes its row id in `didInsert`.
private final class Coin: AnyCoin, Money {
    var id: Int64?
    var metal: String
    var weight: Int

    init(_ weight: Int) {
        (metal, self.weight) = ("metal \(weight)", weight)
        super.init()
    }

    required init(row: Row) throws {
        (id, metal, weight) = (try row["id"], try row["metal"], try row["weight"])
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["metal"] = metal
        container["weight"] = weight
        container["id"] = id
    }

    override func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

private final class ListedCoin: AnyCoin, Money {
    var metal = ""
    var weight = 0
    var id: Int64?

    convenience init(_ weight: Int) {
        self.init()
        (metal, self.weight) = ("metal \(weight)", weight)
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("metal", metal) { metal = $0 }
        try column("weight", weight) { weight = $0 }
        try column("id", id) { id = $0 }
    }
}

private final class CodedCoin: AnyCoin, Money, Codable {
    var metal = ""
    var weight = 0
    var id: Int64?

    convenience init(_ weight: Int) {
        self.init()
        (metal, self.weight) = ("metal \(weight)", weight)
    }
}

// MARK: - Banknotes, whose key is known before they are inserted

private class AnyBanknote: Record {
    override class var databaseTableName: String { "note" }
    final var allNew: [String: DatabaseValue?] { ["serial": nil, "metal": nil, "weight": nil] }
}

private final class Banknote: AnyBanknote, Money {
    var metal: String
    var weight: Int

    init(_ weight: Int) {
        (metal, self.weight) = ("metal \(weight)", weight)
        super.init()
    }

    required init(row: Row) throws {
        (metal, weight) = (try row["metal"], try row["weight"])
        try super.init(row: row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["serial"] = "serial \(metal)"
        container["metal"] = metal
        container["weight"] = weight
    }
}

private final class ListedBanknote: AnyBanknote, Money {
    var metal = ""
    var weight = 0

    convenience init(_ weight: Int) {
        self.init()
        (metal, self.weight) = ("metal \(weight)", weight)
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("serial", "serial \(metal)") { _ in }
        try column("metal", metal) { metal = $0 }
        try column("weight", weight) { weight = $0 }
    }
}

private final class CodedBanknote: AnyBanknote, Money, Codable {
    var serial = ""
    var metal = ""
    var weight = 0

    convenience init(_ weight: Int) {
        self.init()
        (serial, metal, self.weight) = ("serial metal \(weight)", "metal \(weight)", weight)
    }
}
