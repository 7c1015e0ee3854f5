import Shellac

extension GrowthSeries {
    /// One connection that knows more and more classes.
    static let types = GrowthSeries(
        name: "growth.types", subject: "records that are found by their keys, of so many classes in turn",
        sizes: [1, 10, 100, 1_000, 10_000]
    ) { size in
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE digit (id INTEGER PRIMARY KEY); INSERT INTO digit VALUES (1)")
        }
        let digits: [any Digit.Type] = [
            D0.self, D1.self, D2.self, D3.self, D4.self, D5.self, D6.self, D7.self, D8.self, D9.self,
        ]
        func digit(_ number: Int, _ place: Int) -> any Digit.Type { digits[number / place % 10] }
        let types = (0..<size).map { number in
            numbered(digit(number, 1), digit(number, 10), digit(number, 100), digit(number, 1_000))
        }
        let passes = max(1, 20_000 / size)
        let bytes = try Machine.residentBytes()
        let cost = try Cost.median(units: passes * size) {
            try queue.read { db in
                for _ in 0..<passes {
                    for type in types { _ = try type.find(db, key: 1) }
                }
            }
        }
        let growth = try Machine.residentBytes() - bytes
        return Cost(nanoseconds: cost.nanoseconds, bytes: Double(growth) / Double(size))
    }

    /// The class of a number of four digits.
    private static func numbered<A: Digit, B: Digit, C: Digit, D: Digit>(
        _: A.Type, _: B.Type, _: C.Type, _: D.Type
    ) -> NumberedRecord.Type {
        Numbered<A, B, C, D>.self
    }
}

private protocol Digit {}
private enum D0: Digit {}
private enum D1: Digit {}
private enum D2: Digit {}
private enum D3: Digit {}
private enum D4: Digit {}
private enum D5: Digit {}
private enum D6: Digit {}
private enum D7: Digit {}
private enum D8: Digit {}
private enum D9: Digit {}

private class NumberedRecord: Record {
    var id: Int64?

    override class var databaseTableName: String { "digit" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
    }
}

private final class Numbered<A: Digit, B: Digit, C: Digit, D: Digit>: NumberedRecord {}
