// Encodes and decodes all columns of a class record, inherited ones included, for JSON.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// All columns of a record as one Encodable value. The coding that Swift synthesizes has the properties of one class, and
// none of its superclasses.

extension Record {
    /// All columns of the record with their values, as an Encodable value: the ones of its superclasses, too.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(reminder.jsonColumns)
    /// // {"dueDate":null,"id":1,"tags":"[]","title":"Milk"}
    /// ```
    ///
    /// A value is encoded as the database stores it. (What Swift synthesizes for a `Codable` class has the properties of
    /// that class alone, without the `id` that a superclass lists.)
    public final var jsonColumns: RecordJSONColumns { RecordJSONColumns(record: self) }

    /// Encodes all columns, those of superclasses included: for an `encode(to:)` that is written by hand.
    ///
    /// ```swift
    /// func encode(to encoder: any Encoder) throws { try encodeColumns(to: encoder) }
    /// ```
    ///
    /// - Parameter encoder: The encoder, of JSON, say. It is given a container that is keyed by the names of the columns.
    /// - Throws: what ``encode(to:)`` and ``columns(_:)`` throw; and a ``DatabaseError`` where the encoder is the one that asks
    ///   the class for its columns: a class that calls this lists them.
    public final func encodeColumns(to encoder: any Encoder) throws {
        if encoder is any ColumnCoder { throw circleError("encodeColumns(to:)") }
        let columns = try encoded()
        var container = encoder.container(keyedBy: ColumnKey.self)
        for (column, name) in columns.layout.names.enumerated() {
            let key = ColumnKey(name)
            switch columns[column].storage {
            case .null: try container.encodeNil(forKey: key)
            case .int64(let integer): try container.encode(integer, forKey: key)
            case .double(let double): try container.encode(double, forKey: key)
            case .string(let text): try container.encode(text, forKey: key)
            case .blob(let data): try container.encode(data, forKey: key)
            }
        }
    }

    /// Takes all columns that a decoder has, as they were encoded by ``encodeColumns(to:)``: for an `init(from:)` that is
    /// written by hand. A column that is missing leaves its property as it is.
    ///
    /// ```swift
    /// required convenience init(from decoder: any Decoder) throws {
    ///     self.init()
    ///     try decodeColumns(from: decoder)
    /// }
    /// ```
    ///
    /// - Parameter decoder: The decoder, of JSON, say. Its container is keyed by the names of the columns.
    /// - Throws: what reading a column throws; and a ``DatabaseError`` where the decoder is the one that asks the class for its
    ///   columns: a class that calls this lists them.
    public final func decodeColumns(from decoder: any Decoder) throws {
        if decoder is any ColumnCoder { throw circleError("decodeColumns(from:)") }
        let container = try decoder.container(keyedBy: ColumnKey.self)
        let columns = try encoded()
        let listed = try listedColumns()
        var values: [(String, DatabaseValue)] = []
        for key in container.allKeys {
            let name = key.stringValue
            let type = listed.first { CaseInsensitiveName.matches($0.name, name) }?.type
            let present = columns.layout.column(named: name).map { columns[$0] } ?? .null
            values.append((name, try container.databaseValue(forKey: key, likeA: type, present)))
        }
        try read(Row(values))
    }

    private func circleError(_ function: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(type(of: self)) calls \(function) where it is asked for its columns. List them in columns(_:)."
        )
    }
}

/// All columns of a record: see ``Record/jsonColumns``.
public struct RecordJSONColumns: Encodable {
    fileprivate let record: Record

    public func encode(to encoder: any Encoder) throws { try record.encodeColumns(to: encoder) }
}

@available(*, unavailable, message: "it has a record, which belongs to one thread")
extension RecordJSONColumns: Sendable {}

extension KeyedDecodingContainer<ColumnKey> {
    /// Returns the value of a column. Nothing tells data from texts in JSON, but what the property is.
    fileprivate func databaseValue(
        forKey key: ColumnKey, likeA type: (any Any.Type)?, _ present: DatabaseValue
    ) throws -> DatabaseValue {
        if try decodeNil(forKey: key) { return .null }
        let wrapped = (type as? any OptionalType.Type)?.wrappedType ?? type
        if case .blob = present.storage { return try decode(Data.self, forKey: key).databaseValue }
        if wrapped == Data.self { return try decode(Data.self, forKey: key).databaseValue }
        if let integer = try? decode(Int64.self, forKey: key) { return integer.databaseValue }
        if let double = try? decode(Double.self, forKey: key) { return double.databaseValue }
        if let bool = try? decode(Bool.self, forKey: key) { return bool.databaseValue }
        return try decode(String.self, forKey: key).databaseValue
    }
}
