import Foundation
import TestSupport
import Testing

@testable import Shellac

/// One seed, one schema, its rows, and relations that are joined: the results are those of joins by
/// hand.
@Suite("Random joins") struct RandomJoinsTests {
    @Test("give the rows, records, lists and counts that SQL by hand gives", .behaviour(68))
    func joins() throws {
        for seed in SeededGenerator.seeds("GRAPH", count: 150) {
            var graph = RandomGraph(seed: seed &* 7919)
            do {
                if let difference = try graph.join() {
                    Issue.record("seed \(seed): \(difference)\n\(graph.schema)")
                    return
                }
            } catch {
                Issue.record("seed \(seed): \(error)\n\(graph.schema)")
                return
            }
        }
    }
}

/// A row, and the row that is joined with it.
private struct Pair: Hashable, Comparable, CustomStringConvertible {
    let owner: Int64
    let other: Int64?
    static func < (a: Pair, b: Pair) -> Bool { (a.owner, a.other ?? -1) < (b.owner, b.other ?? -1) }
    var description: String { "\(owner)→\(other.map(String.init) ?? "-")" }
}

extension Way {
    /// The pairs of rows that the relation joins, by SQL of its own.
    fileprivate func pairs(_ db: Database) throws -> [Pair] {
        let parts = try parts(db)
        let (table, mine) = (parts[0], parts[3])
        let sql: String
        if parts[1] == "siblings" {
            let collation = try Self.collation(of: "k", in: "red", db)
            sql =
                "SELECT r.id, t.id FROM \(mine) AS r JOIN red AS b ON b.k = r.p "
                + "JOIN \(table) AS t ON t.p COLLATE \(collation) = b.k"
        } else {
            var condition = ""
            var isParameter = false
            for word in parts[1].split(separator: " ") {
                isParameter = word.hasPrefix(":")
                let isColumn = ["k", "l", "p", "q", "id"].contains(String(word))
                condition +=
                    (isParameter ? "r.\(word.dropFirst())" : isColumn ? "t.\(word)" : "\(word)") + " "
            }
            sql = "SELECT r.id, t.id FROM \(mine) AS r JOIN \(table) AS t ON \(condition)"
        }
        return try Row.fetchAll(db, sql: sql).map { Pair(owner: try $0[0], other: try $0[1]) }.sorted()
    }
}

extension RandomGraph {
    /// Returns what differs, or nil.
    mutating func join() throws -> String? {
        let queue = try DatabaseQueue()
        schema = makeSchema()
        let rows = makeRows()
        try queue.writeWithoutTransaction(Self.avoidFault)
        try queue.write { db in
            try db.execute(sql: schema)
            for (sql, arguments) in rows { try db.execute(sql: sql, arguments: arguments) }
            for table in ["red", "blue"] {
                schema += try Row.fetchAll(db, sql: "SELECT * FROM \(table)").map { "\n\(table) \($0)" }
                    .joined()
            }
        }
        let ways = Red.ways.filter { $0.name != "first" }
        let (way, nested) = (pick(ways), pick(["down", "pairs", "odd", "one", "up", "upward"]))
        let isRequired = Bool.random(using: &random)
        return try queue.read { db in
            try compareJoin(way, db) ?? compareNested(way, nested, isRequired, db) ?? compareLists(way, db)
                ?? compareObjects(way, db)
        }
    }

    private func differs(_ what: String, _ way: Way, _ found: [Pair], _ expected: [Pair]) -> String? {
        found.sorted() == expected.sorted()
            ? nil : "\(what) of \(way.name): \(found.sorted()) in place of \(expected.sorted())"
    }

    /// Pairs, with those that have no other row.
    private func outer(_ pairs: [Pair], _ owners: [Int64]) -> [Pair] {
        pairs + owners.filter { id in !pairs.contains { $0.owner == id } }.map { Pair(owner: $0, other: nil) }
    }

    private func compareJoin(_ way: Way, _ db: Database) throws -> String? {
        let expected = try way.pairs(db)
        let ids = try Int64.fetchAll(db, sql: "SELECT id FROM red")
        let key = way.relation.definition.scopeKey
        let relation = way.relation
        func found(_ request: QueryInterfaceRequest<Red>) throws -> [Pair] {
            try request.asRequest(of: Row.self).fetchAll(db).map {
                Pair(owner: try $0["id"], other: try $0.scopesTree[key]?["id"])
            }
        }
        if let difference = try differs("required", way, found(Red.including(required: relation)), expected) {
            return difference
        }
        let all = outer(expected, ids)
        if let difference = try differs("optional", way, found(Red.including(optional: relation)), all) {
            return difference
        }
        let counts = try (
            Red.joining(required: relation).fetchCount(db), Red.joining(optional: relation).fetchCount(db)
        )
        return counts == (expected.count, all.count) ? nil : "\(counts) rows of \(way.name)"
    }

    private func compareNested(_ way: Way, _ name: String, _ isRequired: Bool, _ db: Database) throws
        -> String?
    {
        let below = try #require((way.target == Red.self ? Red.ways : Blue.ways).first { $0.name == name })
        let (first, second) = try (way.pairs(db), below.pairs(db))
        let ids = try Int64.fetchAll(db, sql: "SELECT id FROM red")
        // Joined pairs of both: what is required below must be there for the pair above to be.
        var expected: [Pair] = []
        for id in ids {
            var found: [Pair] = []
            for pair in first where pair.owner == id {
                let matches = second.filter { $0.owner == pair.other }
                if matches.isEmpty, !isRequired { found.append(Pair(owner: id, other: nil)) }
                found += matches.map { Pair(owner: id, other: $0.other) }
            }
            expected += found.isEmpty ? [Pair(owner: id, other: nil)] : found
        }
        func joined(_ relation: some Relation) -> any Relation {
            let renamed = forKey(below.relation)
            return isRequired ? relation.including(required: renamed) : relation.including(optional: renamed)
        }
        func forKey(_ relation: some Relation) -> some Relation { relation.forKey("below") }
        func optional(_ relation: some Relation) -> QueryInterfaceRequest<Red> {
            Red.including(optional: relation)
        }
        let request = optional(joined(way.relation)).asRequest(of: Row.self)
        let rows = try request.fetchAll(db)
        let found = try rows.map { Pair(owner: try $0["id"], other: try $0.scopesTree["below"]?["id"]) }
        let sql = try request.makePreparedRequest(db, forSingleResult: false).statement.sql
        return differs("\(name) below, by \(sql),", way, found, expected)
    }

    private func compareLists(_ way: Way, _ db: Database) throws -> String? {
        let reds = try Red.order(Column("id")).fetchAll(db)
        func request(_ relation: some Relation, _ red: Red) throws -> [Int64] {
            try red.request(for: relation).asRequest(of: Row.self).fetchAll(db).map { try $0["id"] }
        }
        for red in reds {
            let expected = try way.ids(of: red, db)
            var found = try request(way.relation, red)
            if !way.relation.definition.isMany { found = Array(found.prefix(1)) }
            if way.name == "siblings" ? Set(found) != Set(expected) : found != expected {
                return "request for \(way.name) of \(red.id ?? 0): \(found) in place of \(expected)"
            }
        }
        guard way.relation.definition.isMany else { return nil }
        let count = (way.relation as? HasMany<Red>)?.count ?? (way.relation as? HasMany<Blue>)?.count
        let isEmpty = (way.relation as? HasMany<Red>)?.isEmpty ?? (way.relation as? HasMany<Blue>)?.isEmpty
        guard let count, let isEmpty else { return "no aggregate" }
        let pairs = try way.pairs(db)
        let rows = try Red.all().including([way.relation]).annotated(
            with: count.forKey("c"), isEmpty.forKey("e")
        )
        .order(Column("id")).asRequest(of: Row.self).fetchAll(db)
        for (row, red) in zip(rows, reds) {
            let expected = pairs.filter { $0.owner == red.id }.count
            if try row["c"] as Int != expected || row["e"] as Bool != (expected == 0) {
                return "\(row) counts \(way.name), in place of \(expected)"
            }
            let list = try row.prefetchedRows[way.relation.definition.key]?.map { try $0["id"] as Int64 }
            let ids = try way.ids(of: red, db)
            if way.name == "siblings" ? list?.sorted() != ids : list != ids {
                return "list of \(way.name): \(list ?? []) in place of \(ids)"
            }
        }
        let empty = try Red.having(isEmpty).fetchAll(db).compactMap(\.id)
        return empty == reds.compactMap(\.id).filter { id in !pairs.contains { $0.owner == id } }
            ? nil : "having no \(way.name): \(empty)"
    }

    private func compareObjects(_ way: Way, _ db: Database) throws -> String? {
        guard !way.relation.definition.isMany else { return nil }
        let reds = try Red.including(optional: way.relation).fetchAll(db)
        let ids = try Int64.fetchAll(db, sql: "SELECT id FROM red")
        var found: [Pair] = []
        var objects: [Int64: Knot] = [:]
        let isShared = way.relation.definition.steps[0].direction == .up
        for red in reds {
            let knots = try way.read(red)
            found.append(Pair(owner: red.id ?? 0, other: knots.first?.id))
            for knot in knots where isShared {
                if objects[knot.id ?? 0].map({ $0 !== knot }) ?? false { return "two objects for one row" }
                objects[knot.id ?? 0] = knot
            }
            if red.hasDatabaseChanges || knots.contains(where: \.hasDatabaseChanges) { return "a change" }
        }
        return differs("objects", way, found, outer(try way.pairs(db), ids))
    }
}
