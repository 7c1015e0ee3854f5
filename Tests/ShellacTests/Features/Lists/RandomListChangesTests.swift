import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one history: random changes of a table, whose list is fetched again and again. The
/// changes make the new list of the old one.
@Suite("Random histories of a list", .behaviour(77))
struct RandomListChangesTests {
    @Test("the changes make the new list of the old one, and are as few as can be")
    func law() throws {
        for seed in SeededGenerator.seeds("CHANGES", count: 300) {
            do {
                for problem in try Self.run(seed) { Issue.record("seed \(seed): \(problem)") }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    /// A row of the list, as its owner sees it.
    private struct Seen: Equatable {
        let id: DatabaseValue
        let values: [DatabaseValue]
    }

    /// Returns what is wrong.
    private static func run(_ seed: UInt64) throws -> [String] {
        var random = SeededGenerator(seed: seed &* 7919)
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        let queue = try DatabaseQueue()
        let hasTextKeys = number(0...3) == 0
        let hasSections = number(0...3) > 0
        let hasDuplicates = number(0...4) == 0
        try queue.inDatabase { db in
            try db.execute(
                sql:
                    "CREATE TABLE t (id \(hasTextKeys ? "TEXT" : "INTEGER") PRIMARY KEY, rank, section, note); "
                    + "CREATE TABLE u (n); INSERT INTO u VALUES (1), (2), (3)")
        }
        let order = ["rank, id", "section, rank, id", "section DESC, rank DESC, id", "id"][number(0...3)]
        let request = SQLRequest<ListRow>(
            sql: hasDuplicates
                ? "SELECT t.* FROM t JOIN u ON u.n <= 1 + abs(t.rank) % 3 ORDER BY \(order)"
                : "SELECT * FROM t ORDER BY \(order)")
        let sectionName: ListSource.SectionName = { row in
            let name: Int? = try row["section"]
            return name.map(String.init) ?? "none"
        }
        let source = ListSource(request, .primaryKey(ListRow.self), hasSections ? sectionName : nil)
        var old: ListContents?
        var problems: [String] = []
        var mirror: [[Seen]] = hasSections ? [] : [[]]
        var oldRecords: [ListRow] = []
        for step in 0..<number(2...8) {
            try queue.write { db in
                for _ in 0..<number(0...6) {
                    let id = number(1...12)
                    switch number(0...6) {
                    case 0, 1, 2:
                        try db.execute(
                            sql: "INSERT OR REPLACE INTO t VALUES (?, ?, ?, ?)",
                            arguments: [
                                hasTextKeys ? "k\(id)" : id, number(0...9),
                                number(0...4) == 0 ? nil : number(1...4), number(0...2),
                            ])
                    case 3: try db.execute(sql: "DELETE FROM t WHERE rank = ?", arguments: [number(0...9)])
                    case 4:
                        try db.execute(
                            sql: "UPDATE t SET rank = ? WHERE rank = ?",
                            arguments: [number(0...9), number(0...9)])
                    case 5:
                        try db.execute(
                            sql: "UPDATE t SET section = ? WHERE section IS ?",
                            arguments: [number(1...4), number(0...4) == 0 ? nil : number(1...4)])
                    default:
                        try db.execute(
                            sql: "UPDATE t SET note = note + 1 WHERE rank % 3 = ?", arguments: [number(0...2)]
                        )
                    }
                }
            }
            let update = try ListUpdate<ListRow>.makeNow(
                queue.read(source.fetch), from: old, source.sectionName)
            let new = update.contents
            let changes = update.difference.changes
            func seen(_ contents: ListContents) -> [[Seen]] {
                contents.sections.map { section in
                    (section.start..<section.start + section.count).map { place in
                        let values = Array(contents.row(at: place).databaseValues)
                        return Seen(id: values[0], values: values)
                    }
                }
            }
            let wanted = seen(new)
            let flat = wanted.map { Array($0) }
            let made = changes.applied(to: mirror) { flat[$0.section][$0.row] }
            if made != wanted {
                problems.append("step \(step): \(changes) made \(made) of \(mirror), not \(wanted)")
            }
            for change in changes.changes {
                switch change {
                case .move(let from, let to, let values):
                    let (before, after) = (mirror[from.section][from.row], wanted[to.section][to.row])
                    if before.id != after.id { problems.append("step \(step): \(change) is of two rows") }
                    if (values == nil) != (before == after)
                        || values.map({ Array($0.databaseValues) != before.values }) == true
                    {
                        problems.append("step \(step): \(change) has other old values")
                    }
                case .update(let from, let to, let values):
                    if mirror[from.section][from.row].id != wanted[to.section][to.row].id
                        || Array(values.databaseValues) != mirror[from.section][from.row].values
                        || mirror[from.section][from.row] == wanted[to.section][to.row]
                    {
                        problems.append("step \(step): \(change) is no update")
                    }
                case .insertion, .deletion: break
                }
            }
            if let old, !hasSections, !hasDuplicates {
                let moves = changes.changes.count { if case .move = $0 { true } else { false } }
                let least = fewestMoves(from: seen(old)[0].map(\.id), to: wanted[0].map(\.id))
                if moves != least { problems.append("step \(step): \(moves) moves, where \(least) do") }
            }
            // Records of unchanged rows stay, and all others are new.
            let records = update.records(after: oldRecords)
            for (place, record) in records.enumerated() {
                let row = Array(new.row(at: place).databaseValues)
                if record.values != row {
                    problems.append("step \(step): the record at \(place) is \(record.values)")
                }
            }
            let isKept = Set(oldRecords.map(ObjectIdentifier.init)).intersection(
                records.map(ObjectIdentifier.init)
            ).count
            let unchanged = update.difference.unchanged.count { $0 >= 0 }
            if isKept != unchanged {
                problems.append("step \(step): \(isKept) records are kept of \(unchanged)")
            }
            (old, mirror, oldRecords) = (new, wanted, records)
        }
        return problems
    }

    /// The number of rows of both lists, less those of a longest sequence in both: by the plain
    /// method.
    private static func fewestMoves(from old: [DatabaseValue], to new: [DatabaseValue]) -> Int {
        var lengths = Array(repeating: Array(repeating: 0, count: new.count + 1), count: old.count + 1)
        for (i, a) in old.enumerated() {
            for (j, b) in new.enumerated() {
                lengths[i + 1][j + 1] = a == b ? lengths[i][j] + 1 : max(lengths[i][j + 1], lengths[i + 1][j])
            }
        }
        return Set(old).intersection(new).count - lengths[old.count][new.count]
    }
}

/// Any row of the table.
final class ListRow: TableRecord, FetchableRecord {
    static let databaseTableName = "t"
    let values: [DatabaseValue]

    init(row: Row) throws { values = Array(row.databaseValues) }
}
