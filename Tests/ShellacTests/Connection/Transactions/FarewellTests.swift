import Shellac
import TestSupport
import Testing

/// A record that uses the database when it is freed.
protocol FarewellHero: HeroRecord {
    var last: (() -> Void)? { get set }
}

extension FarewellHero {
    init(_ name: String, last: @escaping () -> Void) {
        self.init(name)
        self.last = last
    }
}

final class PairFarewell: PairHero, FarewellHero {
    var last: (() -> Void)?
    deinit { last?() }
}

final class ListedFarewell: ListedHero, FarewellHero {
    var last: (() -> Void)?
    deinit { last?() }
}

final class CodedFarewell: CodedHero, FarewellHero {
    var last: (() -> Void)?
    deinit { last?() }

    // The columns that are not Codable's are listed: there are none here.
    override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
}

extension RecordStyle {
    var farewell: any FarewellHero.Type {
        choose(PairFarewell.self, ListedFarewell.self, CodedFarewell.self)
    }
}

/// The operations that release the notes of records that only the journal still holds.
enum LettingGo: String, CaseIterable {
    case commit, rollback, rollbackTo, savepoint, insertion, function, failedFunction, lostTransaction,
        leftOpen

    /// Whether what was saved inside of it stays.
    var keeps: Bool {
        switch self {
        case .commit, .savepoint, .insertion, .function: true
        case .rollback, .rollbackTo, .failedFunction, .lostTransaction, .leftOpen: false
        }
    }

    /// Runs a function that saves records, and lets go of their notes.
    func run(_ db: Database, _ save: @escaping () throws -> Void) throws {
        struct Failure: Error {}
        switch self {
        case .commit:
            try db.inTransaction {
                try save()
                return .commit
            }
        case .rollback:
            try db.inTransaction {
                try save()
                return .rollback
            }
        case .rollbackTo:
            try db.execute(sql: "BEGIN; SAVEPOINT a")
            try save()
            try db.execute(sql: "ROLLBACK TO a")
            try db.execute(sql: "COMMIT")
        case .savepoint:
            try db.execute(sql: "SAVEPOINT a; SAVEPOINT b")
            try save()
            try db.execute(sql: "RELEASE a")
        case .insertion:
            // A statement outside of a transaction that returns rows ends when its cursor does.
            try db.addFunction("save_all", save)
            let cursor = try Int.fetchCursor(
                db, sql: "INSERT INTO hero (name, score) VALUES ('row', save_all()) RETURNING id")
            while try cursor.next() != nil {}
        case .function:
            try db.addFunction("save_all", save)
            try db.execute(sql: "SELECT save_all()")
        case .failedFunction:
            try db.addFunction("save_all") {
                try save()
                throw Failure()
            }
            #expect(throws: Failure.self) {
                try db.execute(sql: "INSERT INTO hero (name, score) VALUES ('row', save_all())")
            }
        case .lostTransaction:
            let error = #expect(throws: DatabaseError.self) {
                try db.inTransaction {
                    try save()
                    try db.execute(
                        sql: "INSERT OR ROLLBACK INTO hero (id, name, score) SELECT id, name, 0 FROM hero")
                    return .commit
                }
            }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
        case .leftOpen:
            try db.execute(sql: "BEGIN")
            try save()
            try? db.rollback()
        }
    }
}

@Suite("Records that save others when they are freed")
struct FarewellTests {
    /// The action of a record on the others when it is freed.
    enum LastWill: String, CaseIterable {
        case savepoint, transaction, oneByOne, insertAll, rollback, function

        /// Whether the others are saved.
        var saves: Bool { self != .rollback }

        func run<Hero: HeroRecord>(_ db: Database, _ others: [Hero]) throws {
            switch self {
            case .savepoint:
                try db.inSavepoint {
                    for other in others { try other.save(db) }
                    return .commit
                }
            case .transaction:
                try db.execute(sql: db.isInsideTransaction ? "SAVEPOINT mine" : "BEGIN")
                for other in others { try other.save(db) }
                try db.execute(sql: db.isInsideTransaction && !others.isEmpty ? Self.end(db) : "COMMIT")
            case .oneByOne: for other in others { try other.save(db) }
            case .insertAll: try Hero.insertAll(db, others)
            case .rollback:
                try db.inSavepoint {
                    for other in others { try other.save(db) }
                    return .rollback
                }
            case .function:
                try db.addFunction("save_others") { for other in others { try other.save(db) } }
                try db.execute(sql: "SELECT save_others()")
            }
        }

        /// Ends what `transaction` has opened.
        private static func end(_ db: Database) -> String {
            do {
                try db.execute(sql: "RELEASE mine")
                return "SELECT 1"
            } catch { return "COMMIT" }
        }
    }

    @Test(
        "A record that only a transaction holds may save others when it is freed",
        arguments: RecordStyle.each(LettingGo.allCases), LastWill.allCases)
    func farewell(_ first: (style: RecordStyle, way: LettingGo), _ will: LastWill) throws {
        try farewell(first.style.hero, first.style.farewell, first.way, will)
    }

    private func farewell<Hero: HeroRecord, Farewell: FarewellHero>(
        _: Hero.Type, _: Farewell.Type, _ way: LettingGo, _ will: LastWill
    ) throws {
        let queue = try DatabaseQueue.withHeroes()
        let others = (0..<6).map { Hero("other \($0)") }
        let bystanders = (0..<6).map { Hero("bystander \($0)") }
        var failures: [any Error] = []
        try queue.inDatabase { db in
            try way.run(db) {
                do {
                    let farewell = Farewell("farewell") {
                        do { try will.run(db, others) } catch { failures.append(error) }
                    }
                    try farewell.insert(db)
                }  // only the journal holds it now
                for bystander in bystanders { try bystander.insert(db) }
            }
            #expect(!db.isInsideTransaction)
        }
        // As long as its scope is open, a lost transaction refuses all writes.
        let isObeyed = way != .lostTransaction
        #expect(failures.isEmpty == isObeyed)
        #expect(isObeyed || (failures.first as? DatabaseError)?.resultCode == .SQLITE_CONSTRAINT)
        try queue.inDatabase { db in
            for record in others + bystanders { #expect(try record.tellsTheTruth(on: db), "\(record.name)") }
            let names = try Set(db.heroes())
            #expect(names.contains("bystander 0") == way.keeps)
            #expect(names.contains("farewell") == way.keeps)
            #expect(names.contains("other 5") == (will.saves && isObeyed))
            #expect(others[0].hasDatabaseChanges == !(will.saves && isObeyed))
            #expect(bystanders[0].hasDatabaseChanges == !way.keeps)
        }
    }

    @Test(
        "Everybody has heard of the end of a transaction before its records are freed",
        arguments: RecordStyle.allCases)
    func order(style: RecordStyle) throws { try order(style.hero, style.farewell) }

    private func order<Hero: HeroRecord, Farewell: FarewellHero>(_: Hero.Type, _: Farewell.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let listener = Listener()
        queue.add(transactionObserver: listener)
        for commits in [true, false] {
            try queue.inDatabase { db in
                try db.inTransaction {
                    let farewell = Farewell("farewell \(commits)") {
                        listener.heard.append("freed")
                        #expect(throws: Never.self) { try Hero("other \(commits)").insert(db) }
                    }
                    try farewell.insert(db)
                    return commits ? .commit : .rollback
                }
            }
        }
        #expect(
            listener.heard == [
                "insert 1", "commit", "freed", "insert 2", "commit",
                "insert 3", "rollback", "freed", "insert 3", "commit",
            ])
    }

    @Test(
        "Records that hold each other by their notes alone are freed one after the other, however many they are",
        arguments: RecordStyle.allCases)
    func chain(style: RecordStyle) throws { try chain(style.hero, style.farewell) }

    private func chain<Hero: HeroRecord, Farewell: FarewellHero>(_: Hero.Type, _: Farewell.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        var freed = 0
        func make(_ rest: Int, _ db: Database) -> Farewell {
            Farewell("hero \(rest)") {
                freed += 1
                if rest > 0 {
                    try? db.inTransaction {
                        try make(rest - 1, db).insert(db)
                        return .commit
                    }
                }
            }
        }
        try queue.inDatabase { db in
            try db.inTransaction {
                try make(20_000, db).insert(db)
                return .commit
            }
        }
        #expect(freed == 20_001)
        #expect(try queue.read { db in try Hero.fetchCount(db) } == 20_001)
    }

    @Test(
        "A transaction that a record leaves open when it is freed is rolled back at the end of the access",
        arguments: RecordStyle.allCases)
    func leftOpen(style: RecordStyle) throws { try leftOpen(style.hero, style.farewell) }

    private func leftOpen<Hero: HeroRecord, Farewell: FarewellHero>(_: Hero.Type, _: Farewell.Type) throws {
        let queue = try DatabaseQueue.withHeroes()
        let error = #expect(throws: DatabaseError.self) {
            try queue.write { db in
                try Farewell("farewell") {
                    try? db.execute(sql: "BEGIN; INSERT INTO hero (name, score) VALUES ('lost', 1)")
                }.insert(db)
            }
        }
        #expect(
            error?.message == "a transaction was still open at the end of an access to test, and was "
                + "rolled back: commit it inside the access, or use write or inTransaction, which commit it")
        #expect(try queue.read { db in try db.heroes() } == ["farewell"])
    }
}

private final class Listener: TransactionObserver {
    var heard: [String] = []
    func databaseDidChange(with event: DatabaseEvent) { heard.append("insert \(event.rowID)") }
    func databaseDidCommit(_ db: Database) { heard.append("commit") }
    func databaseDidRollback(_ db: Database) { heard.append("rollback") }
}
