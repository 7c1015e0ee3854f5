// The strategies by which Encodable records store dates, data, UUIDs and coding keys.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A strategy by which an `Encodable` record stores its dates.
public enum DatabaseDateEncodingStrategy: Sendable {
    /// As `Date` is stored: the text `YYYY-MM-DD HH:MM:SS.SSS` in UTC. The other strategies store what is compared as
    /// it is: this one stores dates, which compare by their instants.
    case deferredToDate
    /// The seconds since 2001-01-01 in UTC, a real number.
    case timeIntervalSinceReferenceDate
    /// The seconds since 1970-01-01 in UTC, a real number.
    case timeIntervalSince1970
    /// The whole seconds since 1970-01-01 in UTC: what is less than a second is lost.
    case secondsSince1970
    /// The milliseconds since 1970-01-01 in UTC, an integer, rounded.
    case millisecondsSince1970
    /// The text `YYYY-MM-DDTHH:MM:SSZ`: what is less than a second is lost.
    case iso8601
    /// The value that a function makes of the date. Nil is stored as NULL.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)

    /// Stores the text that a format style makes of the date.
    ///
    /// ```swift
    /// static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
    ///     .formatted(.iso8601.year().month().day())
    /// }
    /// ```
    ///
    /// A date formatter, which is a class, is called by ``custom(_:)``.
    ///
    /// - Parameter style: What makes the text of a date, by the time zone and the locale that it has.
    public static func formatted<Style: FormatStyle & Sendable>(_ style: Style) -> Self
    where Style.FormatInput == Date, Style.FormatOutput == String {
        .custom { style.format($0) }
    }
}

/// A strategy by which an `Encodable` record stores its data.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// As a blob.
    case deferredToData
    /// As a text. Data that is no UTF-8 cannot be encoded: saving throws an `EncodingError`.
    case text
    /// The value that a function makes of the data. Nil is stored as NULL.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)
}

/// A strategy by which an `Encodable` record stores its UUIDs.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// As a blob of 16 bytes.
    case deferredToUUID
    /// As the text `"E621E1F8-C36C-495A-93FC-0C247A3E6E5F"`.
    case uppercaseString
    /// As the text `"e621e1f8-c36c-495a-93fc-0c247a3e6e5f"`.
    case lowercaseString
}

/// A strategy that maps the coding keys of an `Encodable` record to column names.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// In columns of the same names.
    case useDefaultKeys
    /// In columns in snake case: the key `createdAt` in the column `created_at`.
    case convertToSnakeCase
    /// In the columns that a function names.
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
    /// Returns the value that is stored, where it is not the date itself.
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

    /// Stores a number as an integer. A date that is too far for one stays a real number.
    private static func integer(_ number: Double) -> DatabaseValue {
        Int64(exactly: number)?.databaseValue ?? (number.isFinite ? number.databaseValue : .null)
    }
}

extension DatabaseDataEncodingStrategy {
    /// Returns the value that is stored, or nil where it is no text.
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
