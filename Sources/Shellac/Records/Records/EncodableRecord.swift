// The protocol of types that encode themselves into columns, and comparison by those columns.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that encodes itself into the columns of a table.
///
/// An `Encodable` type needs no code for this: each property is a column. A property that is not a
/// ``DatabaseValueConvertible``, and does not encode itself as a single value, is stored as JSON.
/// The static members of this protocol can change that.
///
/// Any other type implements the method:
///
/// ```swift
/// struct Player: EncodableRecord {
///     var name: String
///     var score: Int
///
///     func encode(to container: inout PersistenceContainer) throws {
///         container["name"] = name
///         container["score"] = score
///     }
/// }
/// ```
public protocol EncodableRecord: DatabaseEncodingContext, _KeyStoring {
    /// Encodes all columns that are stored, including the primary key.
    ///
    /// - Parameter container: The container that receives the values, by column name. If a column
    ///   is set twice, the last value counts.
    /// - Throws: an error that prevents the record from being saved.
    func encode(to container: inout PersistenceContainer) throws
    /// Encodes all columns, including the ones that a class lists in ``Record/columns(_:)``. Do not
    /// implement this.
    func _encodeColumns(to container: inout PersistenceContainer) throws

    /// Returns the strategy by which an `Encodable` record stores the dates of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy
    /// Returns the strategy by which an `Encodable` record stores the data of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy
    /// Returns the strategy by which an `Encodable` record stores the UUIDs of a column.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy
    /// The strategy that maps the coding keys of an `Encodable` record to column names.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
    /// Returns the encoder that makes the JSON of a column.
    ///
    /// Let it sort keys. Equal values should have equal texts, or else the record looks changed
    /// when it is not.
    ///
    /// - Parameter column: The name of the column, not of the coding key.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder
    /// The `userInfo` that an `Encodable` record finds in its encoder. A type may also declare it
    /// as `[CodingUserInfoKey: Any]`.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: any Sendable] { get }
}

extension EncodableRecord {
    @inlinable @inline(__always)
    public func _encodeColumns(to container: inout PersistenceContainer) throws {
        try encode(to: &container)
    }

    /// The columns that are stored, with their values.
    ///
    /// - Throws: any error that encoding the record throws.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws {
            let row = try encoded().row()
            return Dictionary(
                zip(row.layout.names, row.databaseValues), uniquingKeysWith: { _, last in last })
        }
    }

    /// Whether two records store the same values.
    ///
    /// - Parameter other: The record to compare with. If it cannot be encoded, it is not equal.
    public func databaseEquals(_ other: Self) -> Bool {
        (try? databaseChanges(from: other).isEmpty) ?? false
    }

    /// Returns the columns in which this record differs from another one, with the other one's
    /// values.
    ///
    /// ```swift
    /// let changes = try newPlayer.databaseChanges(from: oldPlayer)
    /// for (column, oldValue) in changes { print("\(column) was \(oldValue)") }
    /// ```
    ///
    /// - Parameter other: The record to compare with, which may be of another type. A column that
    ///   it does not encode counts as changed, with the old value NULL.
    /// - Throws: any error that encoding one of the records throws.
    public func databaseChanges(from other: some EncodableRecord) throws -> [String: DatabaseValue] {
        try encoded().changedValues(from: other.encoded())
    }

    /// Modifies the record, and returns the changed columns with their old values.
    ///
    /// ```swift
    /// let changes = try player.databaseChanges { $0.score += 100 }
    /// // ["score": 1000]
    /// ```
    ///
    /// - Parameter modify: A function that changes the record. It is called once.
    /// - Throws: any error that encoding the record throws, and any error of the function.
    @discardableResult
    public mutating func databaseChanges(
        modify: (inout Self) throws -> Void
    ) throws -> [String: DatabaseValue] {
        let old = try encoded()
        try modify(&self)
        return try encoded().changedValues(from: old)
    }

    /// Returns the columns that the record encodes.
    func encoded() throws -> PackedColumns {
        let columns = PackedColumns()
        try columns.pack(makeLayout: { RowLayout(names: $0, sql: nil) }, { try _encodeColumns(to: &$0) })
        return columns
    }
}

extension PackedColumns {
    /// Returns the columns whose values differ from the other columns, with the other values.
    fileprivate func changedValues(from old: PackedColumns) -> [String: DatabaseValue] {
        let old = old.row()
        return oldValues(of: changes(from: old), in: old).mapValues { $0 ?? .null }
    }
}
