// The strategies by which Encodable records store dates, data, UUIDs and coding keys.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A strategy by which an `Encodable` record stores its dates.
public enum DatabaseDateEncodingStrategy: Sendable {
    /// Stores like `Date`: the text `YYYY-MM-DD HH:MM:SS.SSS` in UTC. This strategy stores dates,
    /// which are compared by their instants. The values of the other strategies are compared as
    /// they are.
    case deferredToDate
    /// Stores the seconds since 2001-01-01 in UTC, as a real number.
    case timeIntervalSinceReferenceDate
    /// Stores the seconds since 1970-01-01 in UTC, as a real number.
    case timeIntervalSince1970
    /// Stores the whole seconds since 1970-01-01 in UTC. Fractions of a second are lost.
    case secondsSince1970
    /// Stores the milliseconds since 1970-01-01 in UTC, as a rounded integer.
    case millisecondsSince1970
    /// Stores the text `YYYY-MM-DDTHH:MM:SSZ`. Fractions of a second are lost.
    case iso8601
    /// Stores the value that a function makes from the date. Nil is stored as NULL.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)

    /// Returns a strategy that stores the text that a format style makes from the date.
    ///
    /// ```swift
    /// static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    ///     .formatted(.iso8601.year().month().day())
    /// }
    /// ```
    ///
    /// To use a date formatter, which is a class, call it in ``custom(_:)``.
    ///
    /// - Parameter style: The style that makes the text of a date, with its own time zone and
    ///   locale.
    public static func formatted<Style: FormatStyle & Sendable>(_ style: Style) -> Self
    where Style.FormatInput == Date, Style.FormatOutput == String {
        .custom { style.format($0) }
    }
}

/// A strategy by which an `Encodable` record stores its data.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// Stores a blob.
    case deferredToData
    /// Stores a text. Data that is not UTF-8 cannot be encoded: saving throws an `EncodingError`.
    case text
    /// Stores the value that a function makes from the data. Nil is stored as NULL.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)
}

/// A strategy by which an `Encodable` record stores its UUIDs.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// Stores a blob of 16 bytes.
    case deferredToUUID
    /// Stores the text `"E621E1F8-C36C-495A-93FC-0C247A3E6E5F"`.
    case uppercaseString
    /// Stores the text `"e621e1f8-c36c-495a-93fc-0c247a3e6e5f"`.
    case lowercaseString
}

/// A strategy that maps the coding keys of an `Encodable` record to column names.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// Uses columns of the same names.
    case useDefaultKeys
    /// Uses columns in snake case: the key `createdAt` is stored in the column `created_at`.
    case convertToSnakeCase
    /// Calls a function that returns the column of a key.
    case custom(@Sendable (any CodingKey) -> String)

    var usesDefaultKeys: Bool { if case .useDefaultKeys = self { true } else { false } }

    func column(for key: some CodingKey) -> String {
        switch self {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: key.stringValue.snakeCased
        case .custom(let column): column(key)
        }
    }
}

extension DatabaseDateEncodingStrategy {
    /// Returns the value to store for a date.
    func value(for date: Date) -> DatabaseValue {
        let seconds = date.timeIntervalSince1970
        switch self {
        case .deferredToDate: return date.databaseValue
        case .timeIntervalSinceReferenceDate: return date.timeIntervalSinceReferenceDate.databaseValue
        case .timeIntervalSince1970: return seconds.databaseValue
        case .secondsSince1970: return Self.integer(seconds.rounded(.down))
        case .millisecondsSince1970: return Self.integer((seconds * 1000).rounded())
        case .iso8601:
            let whole = Date(
                timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
            guard case .string(let text) = whole.databaseValue.storage else { return whole.databaseValue }
            return "\(text.prefix(10))T\(text.dropFirst(11).prefix(8))Z".databaseValue
        case .custom(let value): return value(date)?.databaseValue ?? .null
        }
    }

    /// Returns a number as an integer. If a date is too far away for an integer, it stays a real
    /// number.
    private static func integer(_ number: Double) -> DatabaseValue {
        Int64(exactly: number)?.databaseValue ?? (number.isFinite ? number.databaseValue : .null)
    }
}

extension DatabaseDataEncodingStrategy {
    /// Returns the value to store, or nil if the data is not a text.
    func value(for data: Data) -> DatabaseValue? {
        switch self {
        case .deferredToData: data.databaseValue
        case .text: String(validating: data, as: UTF8.self)?.databaseValue
        case .custom(let value): value(data)?.databaseValue ?? .null
        }
    }
}

extension DatabaseUUIDEncodingStrategy {
    func value(for uuid: UUID) -> DatabaseValue {
        switch self {
        case .deferredToUUID: uuid.databaseValue
        case .uppercaseString: uuid.uuidString.uppercased().databaseValue
        case .lowercaseString: uuid.uuidString.lowercased().databaseValue
        }
    }
}
