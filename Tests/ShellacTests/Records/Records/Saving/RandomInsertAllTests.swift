import Shellac
import TestSupport
import Testing

@Suite("Inserting many records at random")
struct RandomInsertAllTests {
    /// A record that may lack a column.
    private struct Loose: MutablePersistableRecord {
        static let databaseTableName = "sailor"
        var id: Int64?
        var name: String
        var rank: Int?
        var encodesID: Bool

        func encode(to container: inout PersistenceContainer) {
            if encodesID { container["id"] = id }
            container["name"] = name
            if let rank { container["rank"] = rank }
        }
        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    private struct Draw {
        var id: Int64?
        var name: String
        var rank: Int?
        var encodesID: Bool

        init(_ number: Int, _ risk: Int, using generator: inout SeededGenerator) {
            encodesID = !Int.random(in: 0..<8, using: &generator).isMultiple(of: 8)
            if encodesID, Int.random(in: 0..<4, using: &generator) == 0 {
                id = Int64.random(in: -50...3000, using: &generator)
                if Int.random(in: 0..<400, using: &generator) == 0 { id = .max - Int64(number) }
            }
            name = Int.random(in: 0..<risk, using: &generator) == 0 ? "double" : "\(number)"
            rank = Bool.random(using: &generator) ? number : nil
        }
    }

    /// The result of an insertion: the error, the rows, the ids of the records.
    private struct Result: Equatable {
        var error: String?
        var rows: [String]
        var ids: [Int64?]
        var hasChanges: [Bool]
    }

    private func result(
        _ db: Database, _ insert: () throws -> Void, _ ids: () -> [Int64?],
        _ hasChanges: () -> [Bool] = { [] }
    ) throws -> Result {
        let error = thrownError(insert) as? DatabaseError
        return Result(error: error?.message, rows: try Crew.rows(db), ids: ids(), hasChanges: hasChanges())
    }

    @Test("does what inserting them one by one does", arguments: 0..<40, RecordStyle.allCases)
    func sameAsOneByOne(_ seed: UInt64, style: RecordStyle) throws { try sameAsOneByOne(style.mate, seed) }

    private func sameAsOneByOne<Mate: MateRecord>(_: Mate.Type, _ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let (one, many) = (try Crew.database(), try Crew.database())
        // SQLite's random ids are not the same twice: once one was given, only the records are
        // compared.
        for round in 0..<4 {
            let count = Int.random(in: 0...160, using: &generator)
            let risk = [50, 400, 100_000].randomElement(using: &generator) ?? 50
            let draws = (0..<count).map { Draw(round * 1000 + $0, risk, using: &generator) }
            let isClass = Bool.random(using: &generator)
            func run(_ queue: DatabaseQueue, atOnce: Bool) throws -> Result {
                try queue.inDatabase { db in
                    if isClass {
                        let mates = draws.map { Mate($0.name, id: $0.id, rank: $0.rank ?? 0) }
                        return try result(
                            db,
                            {
                                if atOnce { return try Mate.insertAll(db, mates) }
                                try db.inTransaction {
                                    for mate in mates { try mate.insert(db) }
                                    return .commit
                                }
                            }, { mates.map(\.id) }, { mates.map(\.hasDatabaseChanges) })
                    }
                    var loose = draws.map {
                        Loose(id: $0.id, name: $0.name, rank: $0.rank, encodesID: $0.encodesID)
                    }
                    return try result(
                        db,
                        {
                            if atOnce { return try Loose.insertAll(db, &loose) }
                            let before = loose
                            do {
                                try db.inTransaction {
                                    for index in loose.indices { try loose[index].insert(db) }
                                    return .commit
                                }
                            } catch {
                                loose = before
                                throw error
                            }
                        }, { loose.map(\.id) })
                }
            }
            let (expected, found) = (try run(one, atOnce: false), try run(many, atOnce: true))
            let isRandom = expected.rows.contains { $0.hasPrefix("\(Int64.max) ") }
            guard !isRandom else { return }
            #expect(found == expected, "seed \(seed), round \(round)")
            let isUsable = try many.inDatabase { try $0.isUsable() }
            #expect(isUsable)
        }
    }
}
