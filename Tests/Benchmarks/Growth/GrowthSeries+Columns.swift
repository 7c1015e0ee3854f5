import Shellac

extension GrowthSeries {
    /// Class records of wider and wider tables.
    static let columns = GrowthSeries(
        name: "growth.columns", subject: "fetched class records of so many columns, per value",
        sizes: [1, 10, 100]
    ) { size in
        switch size {
        case 1: try fetch(Wide<One>.self)
        case 10: try fetch(Wide<Ten>.self)
        default: try fetch(Wide<Hundred>.self)
        }
    }

    private static func fetch<Width: TableWidth>(_ type: Wide<Width>.Type) throws -> Cost {
        let rows = 100_000 / Width.columns
        let queue = try DatabaseQueue()
        try queue.write { db in
            let list = Width.names.map { "\($0) INTEGER" }.joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE \(type.databaseTableName) (\(list))")
            let marks = Width.names.map { _ in "?" }.joined(separator: ", ")
            let statement = try db.makeStatement(
                sql: "INSERT INTO \(type.databaseTableName) VALUES (\(marks))")
            for row in 0..<rows {
                try statement.execute(arguments: StatementArguments(Width.names.indices.map { row + $0 }))
            }
        }
        return try .median(units: rows * Width.columns) {
            let count = try queue.read { db in try type.fetchAll(db).count }
            guard count == rows else { throw BenchmarkError("\(count) records of \(rows)") }
        }
    }
}

private protocol TableWidth {
    static var names: [String] { get }
}

extension TableWidth {
    static var columns: Int { names.count }
}

private enum One: TableWidth { static let names = ["c0"] }
private enum Ten: TableWidth { static let names = (0..<10).map { "c\($0)" } }
private enum Hundred: TableWidth { static let names = (0..<100).map { "c\($0)" } }

private final class Wide<Width: TableWidth>: Record {
    var values = [Int](repeating: 0, count: Width.columns)

    override class var databaseTableName: String { "wide\(Width.columns)" }

    override func columns(_ column: borrowing RecordColumns) throws {
        for index in values.indices {
            try column(Width.names[index], values[index]) { values[index] = $0 }
        }
    }
}
