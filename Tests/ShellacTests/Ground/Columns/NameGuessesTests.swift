import TestSupport
import Testing

@testable import Shellac

/// The ways to make the strings that values of a row are looked up by.
enum NameMaking: String, CaseIterable, Sendable {
    /// The same string for each row.
    case kept
    /// A new string for each look-up.
    case fresh
    /// A new string for each look-up, whose bytes are on the heap even if they are few.
    case freshWithCapacity
    /// One string, changed in place from look-up to look-up.
    case changedInPlace
    /// A piece of a longer string.
    case piece
    /// Any of these.
    case mixed
}

@Suite("Look-ups by name")
struct NameGuessesTests {
    /// Makes a string the way that a test asks for.
    struct Maker {
        let making: NameMaking
        var scratch = String(repeating: "x", count: 400)

        init(_ making: NameMaking) { self.making = making }

        mutating func with<T>(
            _ name: String, using generator: inout SeededGenerator, _ body: (String) throws -> T
        ) rethrows -> T {
            var making = making
            while making == .mixed { making = NameMaking.allCases.randomElement(using: &generator) ?? .kept }
            switch making {
            case .kept, .mixed: return try body(name)
            case .fresh: return try body(String(decoding: Array(name.utf8), as: UTF8.self))
            case .freshWithCapacity:
                var fresh = ""
                fresh.reserveCapacity(64)
                fresh += name
                return try body(fresh)
            case .changedInPlace:
                scratch.removeAll(keepingCapacity: true)
                scratch += name
                return try body(scratch)
            case .piece: return try body(String(("<" + name + ">").dropFirst().dropLast()))
            }
        }
    }

    static func randomName(using generator: inout SeededGenerator) -> String {
        let lengths = [1, 2, 3, 8, 14, 15, 15, 16, 16, 17, 24, 40]
        let length = lengths.randomElement(using: &generator) ?? 1
        let letters = Array("abcXYZ_0".utf8)
        var bytes = (0..<length).map { _ in letters.randomElement(using: &generator) ?? 97 }
        if length > 2, Int.random(in: 0..<6, using: &generator) == 0 {
            bytes.replaceSubrange(1...2, with: "é".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The leftmost columns by name, found in the plainest way.
    static func leftmost(_ names: [String]) -> [[UInt8]: Int] {
        Dictionary(names.enumerated().map { (folded($1), $0) }, uniquingKeysWith: { leftmost, _ in leftmost })
    }

    static func folded(_ name: String) -> [UInt8] { name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 } }

    static func varied(_ name: String, using generator: inout SeededGenerator) -> String {
        switch Int.random(in: 0...3, using: &generator) {
        case 0: String(decoding: name.utf8.map { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 }, as: UTF8.self)
        case 1: String(decoding: name.utf8.map { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 }, as: UTF8.self)
        default: name
        }
    }

    @Test(
        "Random look-ups by name give what stands at the leftmost position of the name", .behaviour(41),
        arguments: NameMaking.allCases, Array(1...6) as [UInt64])
    func random(_ making: NameMaking, _ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var maker = Maker(making)
        try DatabaseQueue().read { db in
            for _ in 0..<4 {
                var names: [String] = []
                for _ in 0..<Int.random(in: 1...60, using: &generator) {
                    let repeated = names.randomElement(using: &generator)
                    let isRepeated = Int.random(in: 0..<8, using: &generator) == 0
                    names.append(
                        isRepeated
                            ? Self.varied(repeated ?? "a", using: &generator)
                            : Self.randomName(using: &generator))
                }
                let leftmost = Self.leftmost(names)
                let columns = names.enumerated().map { "i * 1000 + \($0) AS \($1.quotedDatabaseIdentifier)" }
                let sql = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
                    SELECT \(columns.joined(separator: ", ")) FROM n
                    """
                var order = (names + (0..<3).map { _ in Self.randomName(using: &generator) })
                // Twice, with one cached statement.
                for _ in 1...2 {
                    let rows = try Row.fetchCursor(db, sql: sql)
                    var i = 0
                    while let row = try rows.next() {
                        i += 1
                        // From row to row, the order is the same, or changes a little, or
                        // altogether.
                        switch Int.random(in: 0...5, using: &generator) {
                        case 0: order.shuffle(using: &generator)
                        case 1: order.swapAt(0, order.count / 2)
                        case 2: order.append(Self.randomName(using: &generator))
                        case 3: order.append(order[Int.random(in: 0..<order.count, using: &generator)])
                        default: break
                        }
                        let kept = row.copy()
                        var wrong: [String] = []
                        for asked in order {
                            let name = Self.varied(asked, using: &generator)
                            let column = leftmost[Self.folded(name)]
                            let expected = column.map { i * 1000 + $0 }
                            let how = Int.random(in: 0...4, using: &generator)
                            let isRight = try maker.with(name, using: &generator) { name in
                                switch how {
                                case 0: row.hasColumn(name) == (column != nil)
                                case 1: row.databaseValue(named: name) == expected?.databaseValue
                                case 2: try kept[name] as Int? == expected
                                default: try row[name] as Int? == expected
                                }
                            }
                            if !isRight { wrong.append(name) }
                        }
                        #expect(wrong.isEmpty, "seed \(seed), row \(i) of \(names)")
                        #expect(kept == row)
                    }
                    #expect(i == 12)
                }
            }
        }
    }

    @Test(
        "The leftmost of duplicate columns wins at the first look-up and at all others", .behaviour(41),
        arguments: 2...14
    )
    func duplicates(_ width: Int) throws {
        try DatabaseQueue().read { db in
            for name in ["id", "a_name_of_more_than_15_bytes"] {
                let columns = (0..<width).map { "\($0) AS \(name)" }.joined(separator: ", ")
                let rows = try Row.fetchCursor(db, sql: "SELECT \(columns) UNION ALL SELECT \(columns)")
                while let row = try rows.next() {
                    for lookup in 0..<2 * width { #expect(try row[name] == 0, "look-up \(lookup)") }
                }
            }
        }
    }

    @Test("A column is the leftmost of its name, whatever was looked up before it in a join", .behaviour(41))
    func join() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT 1 AS id, 'Arthur' AS name, 2 AS id, 'Reds' AS name")
            let row = try #require(try rows.next())
            #expect(row.hasColumn("id"))
            #expect(row.hasColumn("name"))
            #expect(try row["id"] == 1)
            #expect(try row["name"] == "Arthur")
        }
    }

    @Test(
        "A short name that was changed in place is another name", .behaviour(41), arguments: [4, 15, 16, 30])
    func changedInPlace(_ length: Int) throws {
        try DatabaseQueue().read { db in
            let stem = String(repeating: "n", count: length - 1)
            let rows = try Row.fetchCursor(
                db, sql: "SELECT 1 AS \(stem)a, 2 AS \(stem)b UNION ALL SELECT 1, 2")
            var name = stem
            name.reserveCapacity(100)
            name += "b"
            let first = try #require(try rows.next())
            #expect(try first[name] == 2)
            name.removeLast()
            name += "a"
            let second = try #require(try rows.next())
            #expect(try second[name] == 1)
            name.removeLast()
            name += "c"
            #expect(!second.hasColumn(name))
        }
    }

    @Test("A short name whose memory is used again is another name", .behaviour(41))
    func reusedMemory() throws {
        /// Returns a string of four bytes that is on the heap.
        func heapString(_ text: String) -> String {
            var string = ""
            string.reserveCapacity(48)
            string += text
            return string
        }
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT value, 1 AS aaaa, 2 AS bbbb, 3 AS cccc FROM json_each('[1,2,3,4,5,6,7,8,9]')"
            )
            while let row = try rows.next() {
                let i: Int = try row[0]
                let name = ["aaaa", "bbbb", "cccc"][i % 3]
                #expect(try row[heapString(name)] == i % 3 + 1, "row \(i)")
            }
        }
    }

    @Test("Thousands of different names are looked up, and forgotten past a bound", arguments: [10, 40])
    func dynamicNames(_ length: Int) throws {
        try DatabaseQueue().read { db in
            let columns = (0..<50).map { "\($0) AS c\($0)" }.joined(separator: ", ")
            let stem = String(repeating: "x", count: length)
            let rows = try Row.fetchCursor(
                db, sql: "SELECT \(columns), 50 AS \(stem)1 FROM json_each('[1,2,3]')")
            while let row = try rows.next() {
                #expect((2..<6000).filter { row.hasColumn(stem + "\($0)") } == [])
                for i in 0..<50 { #expect(try row["c" + "\(i)"] == i) }
                #expect(try row[stem + "1"] == 50)
            }
        }
    }

    @Test("Thousands of look-ups of one row are right, and those of the next row too")
    func manyLookups() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a, 2 AS a_long_name_of_a_column UNION ALL SELECT 3, 4")
            var sum = 0
            while let row = try rows.next() {
                for _ in 0..<5000 {
                    sum += try row["a"] + row["a_long_name_of_a_column"]
                    if row.hasColumn("another_long_name") { sum += 1_000_000 }
                }
            }
            #expect(sum == 5000 * 10)
        }
    }

    @Test("What is remembered is bounded, and one bounded memory holds for each statement")
    func memory() {
        var guesses = NameGuesses(RowLayout(names: ["a", "a_name_of_sixteen_bytes"], sql: nil))
        #expect(guesses.guesses[0].name == NameBits("a"))
        #expect(guesses.guesses[2].name == NameBits())
        let isRemembered = guesses.remember("b", column: -1, asLookup: 2)
        #expect(isRemembered)
        let isTooFar = !guesses.remember("c", column: 5, asLookup: 4)
        #expect(isTooFar)
        #expect(guesses.guesses[2].column == -1)
        #expect(guesses.guesses[3].name == NameBits())
        let areRemembered = (3..<2048).map { k in guesses.remember("n\(k)", column: k, asLookup: k) }
        #expect(!areRemembered.contains(false))
        let isTooMuch = !guesses.remember("n2048", column: 0, asLookup: 2048)
        #expect(isTooMuch)
        #expect(guesses.guesses[2047].column == 2047)
        #expect(guesses.guesses[2048].name == NameBits())
    }

    @Test("A name of the empty string is a name", .behaviour(41))
    func emptyName() throws {
        try DatabaseQueue().read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
            while let row = try rows.next() {
                #expect(!row.hasColumn(""))
                #expect(!row.hasColumn(""))
                #expect(try row[""] as Int? == nil)
            }
        }
    }
}
