// The strategies by which Decodable records read dates and data, and map columns to keys.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A strategy by which a `Decodable` record reads its dates.
public enum DatabaseDateDecodingStrategy: Sendable {
    /// Reads like `Date`: from all texts of dates, and from the seconds since 1970-01-01 in UTC.
    case deferredToDate
    /// Reads the seconds since 2001-01-01 in UTC.
    case timeIntervalSinceReferenceDate
    /// Reads the seconds since 1970-01-01 in UTC, whole or not.
    case timeIntervalSince1970
    /// Reads the milliseconds since 1970-01-01 in UTC.
    case millisecondsSince1970
    /// Reads an ISO 8601 text, such as `YYYY-MM-DDTHH:MM:SSZ`, but no number.
    case iso8601
    /// Calls a function. Nil means that the value does not convert.
    case custom(@Sendable (DatabaseValue) -> Date?)

    /// Returns a strategy that reads dates from texts with a format style.
    ///
    /// - Parameter style: The style, whose `parseStrategy` reads a text. If it cannot read a text,
    ///   the text does not convert.
    public static func formatted<Style: ParseableFormatStyle & Sendable>(_ style: Style) -> Self
    where Style.FormatInput == Date, Style.FormatOutput == String, Style.Strategy: Sendable {
        let strategy = style.parseStrategy
        return .custom { value in String.fromDatabaseValue(value).flatMap { try? strategy.parse($0) } }
    }
}

/// A strategy by which a `Decodable` record reads its data.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// Reads like `Data`: from a blob, and from the UTF-8 bytes of a text.
    case deferredToData
    /// Calls a function. Nil means that the value does not convert.
    case custom(@Sendable (DatabaseValue) -> Data?)
}

/// A strategy that maps column names to the coding keys of a `Decodable` record.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// Uses columns of the same names.
    case useDefaultKeys
    /// Uses columns in snake case: the key `createdAt` is read from the column `created_at`.
    case convertFromSnakeCase
    /// Calls a function that returns the key of a column.
    case custom(@Sendable (String) -> any CodingKey)

    var usesDefaultKeys: Bool { if case .useDefaultKeys = self { true } else { false } }

    /// Returns the column of a row for a key. If there is none, returns the name that it should
    /// have.
    func column(for key: some CodingKey, in row: Row) -> String {
        switch self {
        case .useDefaultKeys: return key.stringValue
        case .convertFromSnakeCase:
            let name = key.stringValue.snakeCased
            if row.hasColumn(name) { return name }
            return row.columnNames.first { $0.camelCased == key.stringValue } ?? name
        case .custom(let columnKey):
            return row.columnNames.first { columnKey($0).stringValue == key.stringValue } ?? key.stringValue
        }
    }

    /// Returns the name of the key of a column.
    func key(ofColumn column: String) -> String {
        switch self {
        case .useDefaultKeys: column
        case .convertFromSnakeCase: column.camelCased
        case .custom(let columnKey): columnKey(column).stringValue
        }
    }
}

extension DatabaseDateDecodingStrategy {
    /// Returns the date that a value represents.
    func date(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate: Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate:
            Self.number(value).map(Date.init(timeIntervalSinceReferenceDate:))
        case .timeIntervalSince1970: Self.number(value).map(Date.init(timeIntervalSince1970:))
        case .millisecondsSince1970: Self.number(value).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601: String.fromDatabaseValue(value) == nil ? nil : Date.fromDatabaseValue(value)
        case .custom(let date): date(value)
        }
    }

    private static func number(_ value: DatabaseValue) -> Double? {
        Double.fromDatabaseValue(value).flatMap { $0.isFinite ? $0 : nil }
    }
}
