// Random records that fit their tables.

import Shellac

/// Inserts records with random values, which are the same for the same seed.
///
/// ```swift
/// var generator = RecordGenerator(seed: 1)
/// let teams = try generator.insert(3, of: Team.self, db)
/// let players = try generator.insert(
///     100, of: Player.self, values: ["state": ["open", "closed"]], db)
/// ```
///
/// The schema decides about the values: a column gets what its declared type and its NOT NULL
/// allow. A foreign key gets the key of a row that is in the other table already, so insert teams
/// before players. Texts are short, and many are odd: empty, with quotes, or in several scripts.
///
/// A record is made by `init(row:)`, and inserted with its callbacks. If its type cannot decode the
/// values, or the table refuses them, the generator tries others. Pass the values of columns for
/// which it does not find any, such as JSON or the cases of an enum.
public struct RecordGenerator {
    private var random: SeededGenerator

    /// Creates a generator.
    ///
    /// - Parameter seed: Any number. The same seed makes the same records for the same database.
    public init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Inserts random records.
    ///
    /// - Parameters:
    ///   - count: The number of records.
    ///   - type: The class or struct.
    ///   - values: The values to choose from, by column.
    ///   - db: The connection.
    /// - Returns: The records, as the insertions have left them.
    /// - Throws: the last error if 100 attempts at a record have failed. A `DatabaseError` if the
    ///   table lacks the column of a value, or if a required foreign key has no row to refer to.
    @discardableResult
    public mutating func insert<T: FetchableRecord & MutablePersistableRecord>(
        _ count: Int, of type: T.Type = T.self, values: [String: [any DatabaseValueConvertible]] = [:],
        _ db: Database
    ) throws -> [T] {
        let table = try RandomTable(T.databaseTableName, db, given: values)
        var records: [T] = []
        for _ in 0..<count { records.append(try insert(in: table, db)) }
        return records
    }

    private mutating func insert<T: FetchableRecord & MutablePersistableRecord>(
        in table: RandomTable, _ db: Database
    ) throws -> T {
        var attempt = 1
        while true {
            do {
                var record = try T(row: table.row(using: &random))
                try db.inSavepoint {
                    try record.insert(db)
                    return .commit
                }
                return record
            } catch let error where attempt < 100 && error.canBeAvoidedByOtherValues {
                attempt += 1
            }
        }
    }
}

extension Error {
    /// Whether other values may help: a value was not decoded, or violates a constraint.
    fileprivate var canBeAvoidedByOtherValues: Bool {
        guard let error = self as? DatabaseError else { return true }
        return [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH].contains(error.resultCode)
    }
}
