import TestSupport
import Testing

@testable import Shellac

@Suite("Numbers of integers") struct IntegerNumbersTests {
    /// The orders in which integers come.
    static let orders: [(name: String, integers: [Int64])] = [
        ("from below", Array(1...5000)),
        ("from above", (1...5000).reversed()),
        ("with gaps", (1...2000).map { $0 * 3 }),
        ("far apart", (0..<500).map { $0 &* 0x1234_5678_9ABC }),
        ("from both ends", [.min, .max, .min + 1, .max - 1, 0, -1, 1, .min + 300, .max - 300]),
        ("below the lowest ones", [.min + 2, .min + 1, .min] + (3...600).map { .min + $0 }),
        ("up to the highest ones", (0..<600).map { .max - 599 + $0 }),
        ("down from the highest ones", (0..<600).map { .max - $0 }),
        ("in two crowds", (0..<3000).map { $0 % 2 == 0 ? $0 : 1 << 40 - $0 }),
        ("shuffled", (0..<4000).map { ($0 &* 2_654_435_761) % 4001 }),
    ]

    @Test("are found again, and no others", arguments: orders.indices)
    func numbers(_ index: Int) {
        let integers = Self.orders[index].integers
        var numbers = IntegerNumbers()
        var known: [Int64: Int32] = [:]
        for integer in integers where known[integer] == nil {
            #expect(numbers.number(of: integer) == nil)
            let number = Int32(known.count)
            numbers.add(integer, as: number)
            known[integer] = number
        }
        let wrong = integers.flatMap { [$0, $0 &+ 1, $0 &- 1] }.filter {
            numbers.number(of: $0) != known[$0]
        }
        #expect(wrong == [], "\(Self.orders[index].name)")
    }

    @Test("take room for some times as many at most")
    func room() {
        var numbers = IntegerNumbers()
        for number in 0..<1000 { numbers.add(Int64(number) << 32, as: Int32(number)) }
        #expect(numbers.room <= 8 * 1000 + 512)
        for number in 0..<1000 { numbers.add(-Int64(number) * 5 - 1, as: Int32(number)) }
        #expect(numbers.room <= 8 * 2000 + 512)
    }
}
