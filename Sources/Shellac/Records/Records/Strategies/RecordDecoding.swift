// Decodes values from the columns of a row, by the decoding strategies of the record type.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A reader of values from the columns of a row, by the strategies of a record's type.
struct RecordDecoding {
    let row: Row
    let record: any FetchableRecord.Type

    /// Reads a value of any type.
    func decode<Value: Decodable>(_ type: Value.Type, in column: String) throws -> Value {
        // The most common types come first, because a cast costs more than all of these
        // comparisons.
        if type == Date.self { return try unsafeBitCast(date(in: column) as Date, to: type) }
        if type == Data.self { return try unsafeBitCast(data(in: column) as Data, to: type) }
        if type == UUID.self { return try unsafeBitCast(row[column] as UUID, to: type) }
        if let optional = type as? any DecodableOptional.Type {
            return try Self.opened(optional.decode(in: column, by: self), as: type)
        }
        if let convertible = type as? any DatabaseValueConvertible.Type {
            return try convert(convertible, to: type, in: column)
        }
        return try SingleDecoder(decoding: self, column: column).decodeValue(type)
    }

    /// Reads a value of any type, or nil if the column is NULL or missing.
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, in column: String) throws -> Value? {
        if type == Date.self { return try (date(in: column) as Date?).map { unsafeBitCast($0, to: type) } }
        if type == Data.self { return try (data(in: column) as Data?).map { unsafeBitCast($0, to: type) } }
        if type == UUID.self { return try (row[column] as UUID?).map { unsafeBitCast($0, to: type) } }
        guard let value = row.databaseValue(named: column), !value.isNull else { return nil }
        return try decode(type, in: column)
    }

    /// Reads a date, data or a UUID, or an optional one.
    func decodeByStrategy<Value: DatabaseValueConvertible>(in column: String) throws -> Value {
        if Value.self == Date.self || Value.self == Date?.self { return try date(in: column) }
        if Value.self == Data.self || Value.self == Data?.self { return try data(in: column) }
        return try row[column]
    }

    private func convert<Convertible: DatabaseValueConvertible, Value>(
        _ convertible: Convertible.Type, to type: Value.Type, in column: String
    ) throws -> Value {
        try Self.opened(row[column] as Convertible, as: type)
    }

    /// Returns a value as a type that differs only statically.
    private static func opened<Value, Other>(_ value: Other, as type: Value.Type) -> Value {
        unsafeBitCast(value, to: type)
    }

    private func date<Value: DatabaseValueConvertible>(in column: String) throws -> Value {
        let strategy = record.databaseDateDecodingStrategy(for: column)
        if case .deferredToDate = strategy { return try row[column] }
        return try row.convert(column, expecting: Date.self) { strategy.date($0) }
    }

    private func data<Value: DatabaseValueConvertible>(in column: String) throws -> Value {
        switch record.databaseDataDecodingStrategy(for: column) {
        case .deferredToData: return try row[column]
        case .custom(let data): return try row.convert(column, expecting: Data.self) { data($0) }
        }
    }

    // MARK: - JSON

    /// Runs a function that decodes the JSON of a column. An error names the column, the row and
    /// the SQL.
    func withJSON<Result>(
        in column: String, expecting type: any Any.Type, _ decode: (JSONDecoder, Data) throws -> Result
    ) throws -> Result {
        guard let json = try value(in: column, expecting: type).json else {
            throw row.error(in: column, expecting: type)
        }
        return try wrappingErrors(in: column, expecting: type) {
            try decode(record.databaseJSONDecoder(for: column), json)
        }
    }

    /// Returns the value of a column, which must exist.
    private func value(in column: String, expecting type: any Any.Type) throws -> DatabaseValue {
        guard let value = row.databaseValue(named: column) else {
            throw RowDecodingError(
                reason: .columnNotFound, columnName: column, columnIndex: nil, expectedType: type,
                databaseValue: nil, row: Array(row), sql: row.layout.sql)
        }
        return value
    }

    /// Returns the reason why a value did not decode. If the column is missing or NULL, the error
    /// says so, in place of the resulting error.
    func error(_ error: any Error, in column: String, expecting type: any Any.Type) -> any Error {
        if error is RowDecodingError { return error }
        do {
            _ = try value(in: column, expecting: type)
            return row.error(in: column, expecting: type, because: error)
        } catch {
            return error
        }
    }

    /// Runs a function that decodes the contents of a column, which must exist.
    func wrappingErrors<Result>(
        in column: String, expecting type: any Any.Type, _ decode: () throws -> Result
    ) throws -> Result {
        do {
            return try decode()
        } catch {
            throw self.error(error, in: column, expecting: type)
        }
    }
}

extension Row {
    /// Returns the reason why a column, which must exist, did not convert.
    fileprivate func error(
        in column: String, expecting type: any Any.Type, because underlyingError: (any Error)? = nil
    ) -> RowDecodingError {
        var error = RowDecodingError(
            type, at: layout.column(named: column) ?? 0, of: Array(self), sql: layout.sql)
        error.underlyingError = underlyingError
        return error
    }

    /// Converts the value of a column with a function. If an optional is read, a NULL or missing
    /// column is nil.
    fileprivate func convert<Value: DatabaseValueConvertible>(
        _ column: String, expecting type: any Any.Type,
        _ convert: (DatabaseValue) -> (any DatabaseValueConvertible)?
    ) throws -> Value {
        guard let value = databaseValue(named: column) else { return try missingValue(column, at: nil) }
        if value.isNull, let nothing = Value.fromMissingColumn() { return nothing }
        guard let converted = convert(value), let converted = converted as? Value else {
            throw error(in: column, expecting: type)
        }
        return converted
    }
}

/// An optional. A cast finds it.
private protocol DecodableOptional {
    static func decode(in column: String, by decoding: RecordDecoding) throws -> Self
}

extension Optional: DecodableOptional where Wrapped: Decodable {
    fileprivate static func decode(in column: String, by decoding: RecordDecoding) throws -> Self {
        try decoding.decodeIfPresent(Wrapped.self, in: column)
    }
}
