// The random values that the columns of a table may hold.

import Foundation
import Shellac

/// Makes random rows of a table.
struct RandomTable {
    /// A column that a record writes.
    private struct RandomColumn {
        let info: ColumnInfo
        /// The values to choose from. Nil means any of the declared type.
        let choices: [DatabaseValue]?
        /// Whether NULL is chosen now and then.
        let isOftenNull: Bool
    }

    private let columns: [RandomColumn]

    /// Reads the schema of a table.
    ///
    /// - Parameters:
    ///   - name: The name of the table.
    ///   - db: The connection.
    ///   - given: The values to choose from, by column.
    /// - Throws: a `DatabaseError` if there is no such table, or if it has no column of a given
    ///   name.
    init(_ name: String, _ db: Database, given: [String: [any DatabaseValueConvertible]]) throws {
        let rowID = try db.primaryKey(name).rowIDColumn
        var choices = given.mapValues { $0.map(\.databaseValue) }
        for key in try db.foreignKeys(on: name) {
            guard let (origin, destination) = key.mapping.first, key.mapping.count == 1,
                choices[origin] == nil
            else { continue }
            choices[origin] = try DatabaseValue.fetchAll(
                db, Table<Row>(key.destinationTable).select(Column(destination)).order(Column(destination)))
        }
        let all = try db.columns(in: name)
        for column in given.keys where !all.contains(where: { $0.name == column }) {
            throw DatabaseError(message: "RecordGenerator: the table \(name) has no column \(column)")
        }
        columns = all.filter { !$0.isGenerated && $0.name != rowID }.map { column in
            RandomColumn(
                info: column, choices: choices[column.name],
                isOftenNull: !column.isNotNull && column.primaryKeyIndex == 0 && given[column.name] == nil)
        }
        for column in columns where !column.isOftenNull && column.choices?.isEmpty == true {
            throw DatabaseError(
                message:
                    "RecordGenerator: there is no value to choose for \(name).\(column.info.name): insert rows into "
                    + "the table that it refers to, or pass values")
        }
    }

    /// Makes a row.
    func row(using random: inout SeededGenerator) -> Row {
        var values: [String: DatabaseValue] = [:]
        for column in columns {
            let isNull = column.isOftenNull && Int.random(in: 0..<5, using: &random) == 0
            values[column.info.name] =
                if isNull {
                    .null
                } else if let choices = column.choices {
                    choices.randomElement(using: &random) ?? .null
                } else {
                    column.info.randomValue(using: &random)
                }
        }
        return Row(values)
    }
}

extension ColumnInfo {
    /// A value of the declared type.
    fileprivate func randomValue(using random: inout SeededGenerator) -> DatabaseValue {
        let type = type.uppercased()
        if type.contains("BOOL") { return Bool.random(using: &random).databaseValue }
        if type.contains("DATE") || type.contains("TIMESTAMP") {
            let day = String(
                format: "%04d-%02d-%02d", Int.random(in: 1970...2099, using: &random),
                Int.random(in: 1...12, using: &random), Int.random(in: 1...28, using: &random))
            return (type == "DATE" ? day : day + " 12:00:00.000").databaseValue
        }
        switch affinity {
        case .integer, .numeric: return Self.randomInteger(using: &random).databaseValue
        case .real: return (Double(Self.randomInteger(using: &random)) / 4).databaseValue
        case .text: return Self.randomText(using: &random).databaseValue
        case .blob where type.contains("BLOB"):
            // (Sixteen bytes are a UUID.)
            let count = Bool.random(using: &random) ? 16 : Int.random(in: 0..<16, using: &random)
            return Data((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
                .databaseValue
        case .blob:
            return Bool.random(using: &random)
                ? Self.randomInteger(using: &random).databaseValue
                : Self.randomText(using: &random).databaseValue
        }
    }

    /// An integer, which is small most of the time.
    private static func randomInteger(using random: inout SeededGenerator) -> Int64 {
        let edges: [Int64] = [0, 1, -1, Int64(Int32.max), Int64(Int32.min), .max, .min]
        return Int.random(in: 0..<8, using: &random) == 0
            ? edges.randomElement(using: &random) ?? 0 : Int64.random(in: -1000...1000, using: &random)
    }

    private static func randomText(using random: inout SeededGenerator) -> String {
        let characters = Array("abcdefghijklmnopqrstuvwxyzABCDEF 0123456789'\"%_\\\n;éßΣжש漢字ไ👩‍🚀")
        let count = Int.random(in: 0...12, using: &random)
        return String((0..<count).compactMap { _ in characters.randomElement(using: &random) })
    }
}
