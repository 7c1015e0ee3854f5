// The strategies by which Decodable records read dates and data, and map columns to keys.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A strategy by which a `Decodable` record reads its dates.
public enum DatabaseDateDecodingStrategy: Sendable {
    /// As `Date` is read: from all texts of dates, and from the seconds since 1970-01-01 in UTC.
    case deferredToDate
    /// From the seconds since 2001-01-01 in UTC.
    case timeIntervalSinceReferenceDate
    /// From the seconds since 1970-01-01 in UTC, whole or not.
    case timeIntervalSince1970
    /// From the milliseconds since 1970-01-01 in UTC.
    case millisecondsSince1970
    /// From an ISO 8601 text, such as `YYYY-MM-DDTHH:MM:SSZ`, and from no number.
    case iso8601
    /// By a function. Nil says that the value does not convert.
    case custom(@Sendable (DatabaseValue) -> Date?)

    /// Reads dates from texts, by what a format style makes of one.
    ///
    /// - Parameter style: The style, whose `parseStrategy` reads a text. What that does not read does not convert.
    public static func formatted<Style: ParseableFormatStyle & Sendable>(_ style: Style) -> Self
    where Style.FormatInput == Date, Style.FormatOutput == String, Style.Strategy: Sendable {
        let strategy = style.parseStrategy
        return .custom { value in String.fromDatabaseValue(value).flatMap { try? strategy.parse($0) } }
    }
}

/// A strategy by which a `Decodable` record reads its data.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// As `Data` is read: from a blob, and from the UTF-8 bytes of a text.
    case deferredToData
    /// By a function. Nil says that the value does not convert.
    case custom(@Sendable (DatabaseValue) -> Data?)
}

/// A strategy that maps column names to the coding keys of a `Decodable` record.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// From columns of the same names.
    case useDefaultKeys
    /// From columns in snake case: the key `createdAt` from the column `created_at`.
    case convertFromSnakeCase
    /// From the columns that a function gives the keys of.
    case custom(@Sendable (String) -> any CodingKey)

    var usesDefaultKeys: Bool { if case .useDefaultKeys = self { true } else { false } }

    /// Returns the column of a row that has a key: where there is none, the name it should have.
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

    /// Returns the name of the key that a column has.
    func key(ofColumn column: String) -> String {
        switch self {
        case .useDefaultKeys: column
        case .convertFromSnakeCase: column.camelCased
        case .custom(let columnKey): columnKey(column).stringValue
        }
    }
}

extension DatabaseDateDecodingStrategy {
    /// Returns the date that a value is.
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
