import Shellac
import TestSupport
import Testing

@Suite("Random expressions")
struct RandomExpressionTests {
    /// An expression, and what it is: computed by Swift, by the rules of SQLite, on integers and
    /// NULL.
    private struct Sample {
        let expression: SQLExpression
        let value: Int?
    }

    private static let columns: [(name: String, value: Int?)] = [("a", 7), ("b", -3), ("c", 0), ("d", nil)]

    private static func truth(_ value: Int?) -> Bool? { value.map { $0 != 0 } }
    private static func number(_ value: Bool?) -> Int? { value.map { $0 ? 1 : 0 } }

    private static func sample(_ depth: Int, _ random: inout SeededGenerator) -> Sample {
        if depth == 0 {
            if Bool.random(using: &random) {
                let column = columns[Int.random(in: 0..<columns.count, using: &random)]
                return Sample(expression: Column(column.name).sqlExpression, value: column.value)
            }
            let value = Int.random(in: -9...9, using: &random)
            return Sample(expression: value.sqlExpression, value: value)
        }
        let a = sample(Int.random(in: 0..<depth, using: &random), &random)
        let b = sample(depth - 1, &random)
        let c = sample(0, &random)
        let (x, y) = (a.expression, b.expression)
        func both(_ operation: (Int, Int) -> Int?) -> Int? {
            guard let first = a.value, let second = b.value else { return nil }
            return operation(first, second)
        }
        func compared(_ operation: (Int, Int) -> Bool) -> Int? { both { operation($0, $1) ? 1 : 0 } }
        let (p, q) = (truth(a.value), truth(b.value))
        switch Int.random(in: 0..<25, using: &random) {
        case 0: return Sample(expression: x + y, value: both { $0 &+ $1 })
        case 1: return Sample(expression: x - y, value: both { $0 &- $1 })
        case 2: return Sample(expression: x * y, value: both { $0 &* $1 })
        case 3: return Sample(expression: x / y, value: both { $1 == 0 ? nil : $0 / $1 })
        case 4: return Sample(expression: x % y, value: both { $1 == 0 ? nil : $0 % $1 })
        case 5: return Sample(expression: x & y, value: both { $0 & $1 })
        case 6: return Sample(expression: x | y, value: both { $0 | $1 })
        case 7: return Sample(expression: ~x, value: a.value.map { ~$0 })
        case 8: return Sample(expression: -x, value: a.value.map { 0 &- $0 })
        case 9: return Sample(expression: x < y, value: compared(<))
        case 10: return Sample(expression: x <= y, value: compared(<=))
        case 11: return Sample(expression: x > y, value: compared(>))
        case 12: return Sample(expression: x >= y, value: compared(>=))
        case 13: return Sample(expression: x == y, value: compared(==))
        case 14: return Sample(expression: x != y, value: compared(!=))
        case 15: return Sample(expression: !x, value: number(p.map { !$0 }))
        case 16:
            let value: Bool? = p == false || q == false ? false : p == nil || q == nil ? nil : true
            return Sample(expression: x && y, value: number(value))
        case 17:
            let value: Bool? = p == true || q == true ? true : p == nil || q == nil ? nil : false
            return Sample(expression: x || y, value: number(value))
        case 18: return Sample(expression: x == nil, value: a.value == nil ? 1 : 0)
        case 19: return Sample(expression: y != nil, value: b.value == nil ? 0 : 1)
        case 20: return Sample(expression: y.isSame(as: x), value: a.value == b.value ? 1 : 0)
        case 21:
            let value: Bool? = a.value.map { (-2...5).contains($0) }
            return Sample(expression: (-2...5).contains(x), value: number(value))
        case 22:
            let value = b.value.map { [1, 7, 0].contains($0) }
            return Sample(expression: ![1, 7, 0].contains(y), value: number(value.map { !$0 }))
        case 23:
            return Sample(
                expression: when(x, then: y).otherwise(c.expression), value: p == true ? b.value : c.value)
        default: return Sample(expression: coalesce(x, y, 4), value: a.value ?? b.value ?? 4)
        }
    }

    @Test(
        "are rendered with the fewest parentheses, and mean in SQLite what they mean in Swift",
        arguments: 0..<40)
    func evaluation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let spy = SQLSpy()
        try DatabaseQueue(configuration: spy.configuration()).write { db in
            try db.execute(sql: "CREATE TABLE t (a, b, c, d)")
            try db.execute(sql: "INSERT INTO t VALUES (7, -3, 0, NULL)")
            for depth in [1, 2, 2, 3, 3, 4, 5, 6] {
                for _ in 0..<4 {
                    let sample = Self.sample(depth, &random)
                    let found = try Table("t").select(sample.expression, as: DatabaseValue.self).fetchAll(db)
                        .first
                    // An integer that overflows becomes a real number in SQLite.
                    if case .double? = found?.storage { continue }
                    #expect(found == sample.value.databaseValue, "seed \(seed): \(spy.sql.last ?? "")")
                }
            }
        }
    }
}
