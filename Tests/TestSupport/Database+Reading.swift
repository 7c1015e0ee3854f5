public import Shellac

/// A way from a column of the database to a Swift value. All of them must read the same.
public enum ReadingWay: String, CaseIterable, Sendable, Codable {
    case fetchAll, fetchSet, fetchCursor, fetchOne
    case optionalAll, optionalCursor
    case liveRowByName, liveRowByIndex, ownedRowByName, ownedRowByIndex, copiedRow
    case optionalOfLiveRow, optionalOfOwnedRow
    case databaseValue, rowMadeByHand

    /// The ways that know the statement: their errors name its SQL.
    public static let withSQL: [ReadingWay] = allCases.filter { $0 != .databaseValue && $0 != .rowMadeByHand }

    /// The ways on which NULL is nil, and no error.
    public var isOptional: Bool {
        switch self {
        case .fetchOne, .optionalAll, .optionalCursor, .optionalOfLiveRow, .optionalOfOwnedRow: true
        default: false
        }
    }
}

extension Database {
    /// Reads the column `v`, the first one, of the first row of a query. There must be a row.
    ///
    /// - Returns: nil if the way returns nil for NULL.
    public func read<Value: DatabaseValueConvertible & Hashable>(
        _ type: Value.Type, by way: ReadingWay, sql: String
    ) throws -> Value? {
        func liveRow<T>(_ body: (Row) throws -> T) throws -> T {
            let rows = try Row.fetchCursor(self, sql: sql)
            guard let row = try rows.next() else { throw NoRow(sql: sql) }
            return try body(row)
        }
        func ownedRow() throws -> Row {
            guard let row = try Row.fetchOne(self, sql: sql) else { throw NoRow(sql: sql) }
            return row
        }
        switch way {
        case .fetchAll: return try Value.fetchAll(self, sql: sql)[0]
        case .fetchSet: return try Value.fetchSet(self, sql: sql).first
        case .fetchCursor: return try Value.fetchCursor(self, sql: sql).next()
        case .fetchOne: return try Value.fetchOne(self, sql: sql)
        case .optionalAll: return try Value?.fetchAll(self, sql: sql)[0]
        case .optionalCursor: return try Value?.fetchCursor(self, sql: sql).next() ?? nil
        case .liveRowByName: return try liveRow { row in try row["v"] as Value }
        case .liveRowByIndex: return try liveRow { row in try row[0] as Value }
        case .ownedRowByName: return try ownedRow()["v"] as Value
        case .ownedRowByIndex: return try ownedRow()[0] as Value
        case .copiedRow: return try liveRow { row in try row.copy()["v"] as Value }
        case .optionalOfLiveRow: return try liveRow { row in try row["v"] as Value? }
        case .optionalOfOwnedRow: return try ownedRow()["v"] as Value?
        case .databaseValue:
            let found = try DatabaseValue.fetchAll(self, sql: sql)[0]
            return try Row(["v": found])[0] as Value
        case .rowMadeByHand:
            let row = try ownedRow()
            return try Row(zip(row.columnNames, row.databaseValues).map { ($0, $1) })["v"] as Value
        }
    }

    /// Stores values in a table with one column, and returns the way back to them.
    ///
    /// - Parameter column: The declared type, which comes after the column's name.
    public func store(_ values: [some DatabaseValueConvertible], column: String = "") throws -> String {
        try execute(sql: "DROP TABLE IF EXISTS stored; CREATE TABLE stored (v \(column))")
        let statement = try makeStatement(sql: "INSERT INTO stored VALUES (?)")
        for value in values { try statement.execute(arguments: [value]) }
        return "SELECT v FROM stored ORDER BY rowid"
    }
}

/// The error of a query that returned no row although a row is needed.
public struct NoRow: Error, Sendable {
    public let sql: String

    public init(sql: String) { self.sql = sql }
}
