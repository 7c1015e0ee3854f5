import TestSupport
import Testing

@testable import Shellac

@Suite("Records that save others when they are freed, at random")
struct RandomFarewellTests {
    @Test(
        "Whatever records do when they are freed, inside of whatever, all others know what the database holds",
        .behaviour(15), arguments: 1...12 as ClosedRange<UInt64>, RecordStyle.allCases)
    func random(_ seed: UInt64, style: RecordStyle) throws { try random(style.hero, style.farewell, seed) }

    private func random<Hero: HeroRecord, Farewell: FarewellHero>(
        _: Hero.Type, _: Farewell.Type, _ seed: UInt64
    ) throws {
        try DatabaseQueue.withHeroes().inDatabase { db throws in
            let run = RandomFarewells<Hero, Farewell>(seed: seed, db: db)
            for step in 0..<150 {
                run.takeStep(depth: 0)
                run.endTransaction()
                #expect(!db.isInsideTransaction, "seed \(seed), step \(step)")
                #if DEBUG
                let violations = db._violations + run.records.flatMap(\._violations)
                #expect(violations == [], "seed \(seed), step \(step), after \(run.operations)")
                #endif
                for record in run.records {
                    // A record that believes to be clean has a row, which is as the record is.
                    guard !record.hasDatabaseChanges else { continue }
                    let encoded = try record.databaseDictionary
                    let row = try Row.fetchOne(
                        db, sql: "SELECT * FROM hero WHERE id = ?", arguments: [record.id])
                    #expect(
                        try record.tellsTheTruth(on: db),
                        """
                        seed \(seed), step \(step), after \(run.operations): \(encoded) is \
                        \(row.map { "\($0)" } ?? "nowhere")
                        """)
                }
                run.operations = []
            }
            #expect(run.farewells > 100, "seed \(seed)")
        }
    }
}

/// Random histories: each record that is freed may go on with one of its own.
private final class RandomFarewells<Hero: HeroRecord, Farewell: FarewellHero> {
    private let db: Database
    private var generator: SeededGenerator
    private var names = 0
    private(set) var records: [Hero] = []
    private(set) var farewells = 0
    var operations: [String] = []

    init(seed: UInt64, db: Database) {
        self.db = db
        generator = SeededGenerator(seed: seed)
        records = (0..<8).map { _ in Hero(newName()) }
    }

    private struct Failure: Error {}

    private func newName() -> String {
        names += 1
        return "hero \(names)"
    }

    private func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Does something, and at no depth too much of it.
    func takeStep(depth: Int) {
        guard depth < 4 else { return save() }
        let count = 1 + number(3)
        func steps() { for _ in 0..<count { takeStep(depth: depth + 1) } }
        switch number(12) {
        case ..<3: save()
        case ..<6: leave(depth)
        case 6: scope("inTransaction or savepoint", commits: number(2) == 0, steps)
        case 7: function(reads: number(2) == 0, fails: number(3) == 0, steps)
        case 8: begin(steps)
        case 9: insertAll()
        case 10: lose(steps)
        default: steps()
        }
    }

    private func note(_ operation: String) { operations.append(operation) }

    private func save() {
        note("save")
        let record = records[number(records.count)]
        switch number(4) {
        case 0: record.score += 1
        case 1: record.name = newName()
        default: break
        }
        var how = "save"
        do {
            switch number(5) {
            case 0:
                how = "delete"
                _ = try record.delete(db)
            case 1:
                how = "updateChanges"
                _ = try record.updateChanges(db)
            default: try record.save(db)
            }
            note("…\(how) \(record.name) \(record.score) id \(record.id ?? -1) tx \(db.isInsideTransaction)")
        } catch { note("…\(how) \(record.name) threw \(error)") }
    }

    /// Saves a record that only a note may hold afterwards.
    private func leave(_ depth: Int) {
        note("leave")
        let farewell = Farewell(newName()) { [unowned self] in
            farewells += 1
            note("farewell")
            // Not for ever.
            if number(3) > 0 { takeStep(depth: depth + 1) }
        }
        try? farewell.insert(db)
    }

    private func scope(_ name: String, commits: Bool, _ steps: () -> Void) {
        note("\(name), \(commits)")
        try? db.inSavepoint {
            steps()
            if number(6) == 0 { throw Failure() }
            return commits ? .commit : .rollback
        }
    }

    private func function(reads: Bool, fails: Bool, _ steps: @escaping () -> Void) {
        note("function, reads: \(reads), fails: \(fails)")
        // A function cannot be replaced while a statement runs.
        let name = "f\(newName().dropFirst(5))"
        try? db.addFunction(name) {
            steps()
            if fails { throw Failure() }
        }
        let insertion = "INSERT INTO hero (name, score) VALUES ('\(newName())', \(name)())"
        try? db.execute(sql: reads ? "SELECT \(name)()" : insertion)
    }

    /// A transaction or a savepoint by raw SQL, whose end is chosen by chance.
    private func begin(_ steps: () -> Void) {
        if !db.isInsideTransaction, number(2) == 0 {
            note("BEGIN")
            try? db.execute(sql: "BEGIN")
            steps()
            note("end")
            try? db.execute(sql: ["COMMIT", "ROLLBACK"][number(2)])
        } else {
            let name = ["s", "t", "S"][number(3)]
            note("SAVEPOINT")
            try? db.execute(sql: "SAVEPOINT \(name)")
            steps()
            note("end")
            if number(2) == 0 { try? db.execute(sql: "ROLLBACK TO \(name)") }
            try? db.execute(sql: "RELEASE \(name)")
        }
    }

    private func insertAll() {
        note("insertAll")
        let new = (0..<3).map { _ in Hero(newName()) }
        for hero in new { records[number(records.count)] = hero }
        try? Hero.insertAll(db, new)
    }

    /// A statement that rolls back the transaction around it.
    private func lose(_ steps: () -> Void) {
        note("lose")
        try? db.inSavepoint {
            steps()
            try db.execute(sql: "INSERT OR ROLLBACK INTO hero (id, name, score) SELECT id, name, 0 FROM hero")
            return .commit
        }
    }

    /// Ends a transaction that raw SQL may have left open.
    func endTransaction() {
        while db.isInsideTransaction { try? db.rollback() }
        // One that was lost ends here, too: SQLite has nothing to roll back then.
        try? db.execute(sql: "ROLLBACK")
    }
}
