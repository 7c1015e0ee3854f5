import Shellac
import TestSupport
import Testing

@Suite("What cursors can do")
struct CursorOperationsTests {
    private func cursor(_ elements: [Int] = [3, 1, 2, 5, 4]) -> AnyCursor<Int> { AnyCursor(elements) }

    private func failing() -> AnyCursor<Int> {
        var rest = [2, 1]
        return AnyCursor {
            guard let next = rest.popLast() else { throw Boom() }
            return next
        }
    }

    @Test("Cursors are made of sequences, iterators and cursors")
    func making() throws {
        try #expect(Array(AnyCursor(1...3)) == [1, 2, 3])
        var iterator = [1, 2, 3].makeIterator()
        _ = iterator.next()
        try #expect(Array(AnyCursor(iterator: iterator)) == [2, 3])
        let erased: AnyCursor<Int> = AnyCursor(cursor())
        try #expect(Array(erased) == [3, 1, 2, 5, 4])
    }

    @Test("They give single elements")
    func single() throws {
        try #expect(cursor().first() == 3)
        try #expect(cursor([]).first() == nil)
        try #expect(cursor().contains(5))
        try #expect(!cursor().contains(9))
        try #expect(cursor().min() == 1)
        try #expect(cursor().max() == 5)
        try #expect(cursor([]).max() == nil)
        let least = try cursor().min { $0 > $1 }
        #expect(least == 5)
        let greatest = try cursor().max { $0 > $1 }
        #expect(greatest == 1)
        let allPositive = try cursor().allSatisfy { $0 > 0 }
        #expect(allPositive)
        let allSmall = try cursor().allSatisfy { $0 < 5 }
        #expect(!allSmall)
    }

    @Test("They give ends as arrays, of any length", arguments: [0, 1, 3, 5, 8, 40])
    func ends(count: Int) throws {
        let elements = Array(0..<37)
        try #expect(cursor(elements).suffix(count) == elements.suffix(count))
        try #expect(cursor(elements).dropLast(count) == elements.dropLast(count))
        try #expect(Array(cursor(elements).dropFirst(count)) == Array(elements.dropFirst(count)))
        try #expect(Array(cursor(elements).prefix(count)) == Array(elements.prefix(count)))
    }

    @Test("They become other cursors, lazily")
    func derived() throws {
        let numbered = try Array(cursor().enumerated().map { "\($0.offset):\($0.element)" })
        #expect(numbered == ["0:3", "1:1", "2:2", "3:5", "4:4"])
        let dropped = try Array(cursor().drop { $0 < 5 })
        #expect(dropped == [5, 4])
        let taken = cursor().prefix { $0 < 5 }
        try #expect(Array(taken) == [3, 1, 2])
        try #expect(taken.next() == nil)
        let flat = try Array(cursor([2, 0, 3]).flatMap { Array(repeating: $0, count: $0) })
        #expect(flat == [2, 2, 3, 3, 3])
        let cursors = try Array(cursor([2, 0, 3]).flatMap { AnyCursor(0..<$0) })
        #expect(cursors == [0, 1, 0, 1, 2])
        let lists: AnyCursor<[Int]> = cursor([1, 2]).map { [$0, $0] }
        try #expect(Array(lists.joined()) == [1, 1, 2, 2])
        let texts: MapCursor<AnyCursor<Int>, String> = cursor([1, 2]).map { "\($0)" }
        try #expect(texts.joined(separator: ", ") == "1, 2")
        try #expect(cursor().dropFirst().next() == 1)
        try #expect(cursor([]).dropFirst(2).next() == nil)
    }

    @Test("They fill collections")
    func collections() throws {
        try #expect(Array(cursor(), minimumCapacity: 10) == [3, 1, 2, 5, 4])
        try #expect(Set(cursor([1, 1, 2]), minimumCapacity: 10) == [1, 2])
        let groups = try Dictionary(grouping: cursor(), by: { $0 % 2 })
        #expect(groups == [0: [2, 4], 1: [3, 1, 5]])
        let squares = try Dictionary(uniqueKeysWithValues: cursor([1, 2]).map { ($0, $0 * $0) })
        #expect(squares == [1: 1, 2: 4])
        var list = [0]
        try list.append(contentsOf: cursor([1, 2]))
        #expect(list == [0, 1, 2])
        var set: Set = [0]
        try set.formUnion(cursor([1, 0]))
        #expect(set == [0, 1])
    }

    @Test("Two equal keys throw, and name the key")
    func duplicateKeys() throws {
        let error = #expect(throws: DatabaseError.self) {
            try Dictionary(uniqueKeysWithValues: cursor([1, 1]).map { ($0, $0) })
        }
        #expect(error?.message?.contains("the key 1") == true)
    }

    @Test("An error comes out of each of them")
    func errors() throws {
        #expect(throws: Boom()) { try failing().max() }
        #expect(throws: Boom()) { try failing().contains(9) }
        #expect(throws: Boom()) { try failing().suffix(1) }
        #expect(throws: Boom()) { try failing().dropLast() }
        #expect(throws: Boom()) { try Array(failing(), minimumCapacity: 1) }
        #expect(throws: Boom()) { try Array(failing().flatMap { [$0] }) }
        #expect(throws: Boom()) { try Dictionary(grouping: failing(), by: { $0 }) }
        var list: [Int] = []
        #expect(throws: Boom()) { try list.append(contentsOf: failing()) }
        #expect(list == [1, 2])
    }

    @Test("They work on what a statement gives")
    func database() throws {
        try withMovers { db in
            let names: DatabaseValueCursor<String> = try String.fetchCursor(
                db, sql: "SELECT name FROM mover ORDER BY id")
            try #expect(names.dropFirst().joined(separator: "+") == "Barbara+Craig")
            let movers: RecordCursor<Mover> = try Mover.fetchCursor(db)
            let teams = try Dictionary(grouping: movers, by: \.teamId)
            #expect(teams[1]?.count == 2)
            let best = try Mover.fetchCursor(db).max { $0.score < $1.score }
            #expect(best?.name == "Barbara")
        }
    }

    @Test("A negative count stops the program, with a sentence")
    func negative() async {
        await #expect(processExitsWith: .failure) { _ = AnyCursor([1]).dropFirst(-1) }
    }
}
