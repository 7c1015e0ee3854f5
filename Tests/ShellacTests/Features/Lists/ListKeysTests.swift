import Testing

@testable import Shellac

@Suite("What tells the rows of a list apart", .behaviour(77))
struct ListKeysTests {
    @Test(
        "is found in the old list whatever bits the keys have in common"
    )
    func commonBits() {
        for shift in [0, 12, 22, 32, 43] {
            let old = (0..<100_000).map { Int64($0) << Int64(shift) }
            let places = ListKeys.integers(old.reversed() + [-1]).places(in: .integers(old))
            #expect(places == (0..<100_000).reversed() + [-1])
        }
    }

    @Test("is matched in its order, where many rows have the same key")
    func sameKeys() {
        let count = 50_000
        // All of one key, and then all of the other; or in turns.
        let old = [Int64](repeating: 0, count: count) + [Int64](repeating: 1, count: count)
        var (new, wanted): ([Int64], [Int32]) = ([7], [-1])
        for number in 0..<Int32(count) {
            new += [1, 0]
            wanted += [Int32(count) + number, number]
        }
        new.append(0)
        wanted.append(-1)
        #expect(ListKeys.integers(new).places(in: .integers(old)) == wanted)
        let values = new.map { [$0.databaseValue, .null] }
        #expect(ListKeys.values(values).places(in: .values(old.map { [$0.databaseValue, .null] })) == wanted)
    }
}
