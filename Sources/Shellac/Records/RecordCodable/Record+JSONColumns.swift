// Encodes and decodes all columns of a class record, inherited ones included, for JSON.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// All columns of a record as one Encodable value. The coding that Swift synthesizes has the
// properties of one class only, without its superclasses.

extension Record {
    /// All columns of the record with their values, superclasses included, as an Encodable value.
    ///
    /// ```swift
    /// let json = try JSONEncoder().encode(reminder.jsonColumns)
    /// // {"dueDate":null,"id":1,"tags":"[]","title":"Milk"}
    /// ```
    ///
    /// Each value is encoded as the database stores it. (The synthesized coding of a `Codable`
    /// class has the properties of that class alone, without the `id` that a superclass lists.)
    public final var jsonColumns: RecordJSONColumns { RecordJSONColumns(record: self) }

    /// Encodes all columns, superclasses included. Call it from an `encode(to:)` that is written by
    /// hand.
    ///
    /// ```swift
    /// func encode(to encoder: any Encoder) throws { try encodeColumns(to: encoder) }
    /// ```
    ///
    /// - Parameter encoder: The encoder, such as one of JSON. It gets a container that is keyed by
    ///   the names of the columns.
    /// - Throws: any error that ``encode(to:)`` and ``columns(_:)`` throw. Also a ``DatabaseError``
    ///   if Shellac stores the record with this encoder: a class that calls this must list its
    ///   columns.
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

    /// Takes all columns that a decoder has, as ``encodeColumns(to:)`` encoded them. Call it from
    /// an `init(from:)` that is written by hand. If a column is missing, its property stays as it
    /// is.
    ///
    /// ```swift
    /// required convenience init(from decoder: any Decoder) throws {
    ///     self.init()
    ///     try decodeColumns(from: decoder)
    /// }
    /// ```
    ///
    /// - Parameter decoder: The decoder, such as one of JSON. Its container is keyed by the names
    ///   of the columns.
    /// - Throws: any error that reading a column throws. Also a ``DatabaseError`` if Shellac reads
    ///   the record with this decoder: a class that calls this must list its columns.
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
                "\(type(of: self)) calls \(function) while Shellac reads or stores its columns. List them in columns(_:)."
        )
    }
}

/// All columns of a record: see ``Record/jsonColumns``.
public struct RecordJSONColumns: Encodable {
    fileprivate let record: Record

    public func encode(to encoder: any Encoder) throws { try record.encodeColumns(to: encoder) }
}

@available(*, unavailable, message: "it contains a record, which belongs to one thread")
extension RecordJSONColumns: Sendable {}

extension KeyedDecodingContainer<ColumnKey> {
    /// Returns the value of a column. JSON does not distinguish data from text, so the type of the
    /// property decides.
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
