// Stores values in a record's columns, by the encoding strategies of its type.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A writer of values into a record's columns, by the strategies of its type.
struct ValueEncoding: ~Copyable {
    let container: PersistenceContainer
    let record: any EncodableRecord.Type

    init(_ container: consuming PersistenceContainer, _ record: any EncodableRecord.Type) {
        self.container = container
        self.record = record
    }

    /// Stores a value of any type.
    func encode<Value: Encodable>(_ value: Value, in column: String) throws {
        // The most common types come first, because a cast costs more than all of these
        // comparisons.
        if Value.self == Date.self {
            store(unsafeBitCast(value, to: Date.self), in: column)
        } else if Value.self == Data.self {
            try store(unsafeBitCast(value, to: Data.self), in: column)
        } else if Value.self == UUID.self {
            store(unsafeBitCast(value, to: UUID.self), in: column)
        } else if let optional = value as? any EncodableOptional {
            try optional.encode(in: column, by: self)
        } else if let convertible = value as? any DatabaseValueConvertible {
            storeConvertible(convertible, in: column)
        } else {
            try SingleEncoding.encode(value, in: column, by: self)
        }
    }

    /// Stores a date, data or a UUID, or an optional one.
    func encodeByStrategy(_ value: some DatabaseValueConvertible, in column: String) throws {
        if let date = value as? Date {
            store(date, in: column)
        } else if let data = value as? Data {
            try store(data, in: column)
        } else if let uuid = value as? UUID {
            store(uuid, in: column)
        } else {
            container.store(value, in: column)
        }
    }

    private func store(_ date: Date, in column: String) {
        let strategy = record.databaseDateEncodingStrategy(for: column)
        if case .deferredToDate = strategy {
            container.store(date, in: column)
        } else {
            container.store(strategy.value(for: date), in: column)
        }
    }

    private func store(_ data: Data, in column: String) throws {
        let strategy = record.databaseDataEncodingStrategy(for: column)
        if case .deferredToData = strategy { return container.store(data, in: column) }
        guard let value = strategy.value(for: data) else {
            throw EncodingError.invalidValue(
                data,
                EncodingError.Context(
                    codingPath: [ColumnKey(column)],
                    debugDescription: "the data of the column \(column) is not UTF-8 text"))
        }
        container.store(value, in: column)
    }

    private func store(_ uuid: UUID, in column: String) {
        let strategy = record.databaseUUIDEncodingStrategy(for: column)
        if case .deferredToUUID = strategy {
            container.store(uuid, in: column)
        } else {
            container.store(strategy.value(for: uuid), in: column)
        }
    }

    private func storeConvertible(_ value: some DatabaseValueConvertible, in column: String) {
        container.store(value, in: column)
    }

    /// Stores a value as JSON.
    func storeJSON(_ value: some Encodable, in column: String) throws {
        let json: Data
        do {
            json = try record.databaseJSONEncoder(for: column).encode(value)
        } catch EncodingError.invalidValue(let invalid, let context) {
            throw EncodingError.invalidValue(
                invalid,
                EncodingError.Context(
                    codingPath: [ColumnKey(column)] + context.codingPath,
                    debugDescription: context.debugDescription, underlyingError: context.underlyingError))
        }
        container.store(String(decoding: json, as: UTF8.self), in: column)
    }
}

/// An optional. A cast finds it.
private protocol EncodableOptional {
    func encode(in column: String, by encoding: borrowing ValueEncoding) throws
}

extension Optional: EncodableOptional where Wrapped: Encodable {
    fileprivate func encode(in column: String, by encoding: borrowing ValueEncoding) throws {
        if let self {
            try encoding.encode(self, in: column)
        } else {
            encoding.container.store(DatabaseValue.null, in: column)
        }
    }
}

/// The name of a column, or a place in an array, in a coding path.
struct ColumnKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) { (stringValue, intValue) = (name, nil) }
    init(stringValue: String) { self.init(stringValue) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
