// Date components as a database value, stored as text in one of SQLite's date formats.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Date components, stored as text in one of SQLite's formats, such as a birthday or an opening
/// hour.
///
/// ```swift
/// var birthday = DateComponents()
/// birthday.year = 1973
/// birthday.month = 9
/// birthday.day = 18
/// // Stored as '1973-09-18':
/// let stored = DatabaseDateComponents(birthday, format: .YMD)
/// ```
///
/// All formats can be read, also with a `T` instead of the space, and with any number of digits
/// after the point. A time may be followed by `Z`, `+HH:MM` or `-HH:MM`, which is available as
/// `dateComponents.timeZone`.
///
/// Only the components of the format are written: no others, and no time zone. A missing component
/// is written as zero, and a missing month or day as `01`. The nanosecond is rounded to the
/// millisecond, but never up to the next second.
///
/// If a component of the format is out of bounds, such as the thirtieth of February, the value is
/// stored as NULL. So a NOT NULL column rejects it. The bounds are those of the years 0000 to 9999.
///
/// Components and format are compared as they are: `12:30` differs from `12:30:00`.
public struct DatabaseDateComponents: Hashable, Sendable {
    /// The components. After reading, they are those of the format.
    public var dateComponents: DateComponents

    /// The format that was read, or in which the components are written.
    public var format: Format

    /// Creates components that are written in the given format.
    ///
    /// - Parameters:
    ///   - dateComponents: The components. They are not validated here: if one of the format is out
    ///     of bounds, NULL is stored.
    ///   - format: The format of the text. Components outside the format are not written.
    public init(_ dateComponents: DateComponents, format: Format) {
        self.dateComponents = dateComponents
        self.format = format
    }
}

extension DatabaseDateComponents {
    /// The formats of date texts. The raw values are Unicode's date patterns.
    public enum Format: String, CaseIterable, Codable, Sendable {
        // The established spelling is in capital letters.
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `1973-09-18`
        case YMD = "yyyy-MM-dd"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `1973-09-18 12:30`
        case YMD_HM = "yyyy-MM-dd HH:mm"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `1973-09-18 12:30:45`
        case YMD_HMS = "yyyy-MM-dd HH:mm:ss"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `1973-09-18 12:30:45.123`
        case YMD_HMSS = "yyyy-MM-dd HH:mm:ss.SSS"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `12:30`
        case HM = "HH:mm"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `12:30:45`
        case HMS = "HH:mm:ss"
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// `12:30:45.123`
        case HMSS = "HH:mm:ss.SSS"
    }
}

extension DatabaseDateComponents.Format {
    /// The position of this format in `YYYY-MM-DD HH:MM:SS.SSS`, which contains all others.
    fileprivate var range: Range<Int> {
        switch self {
        case .YMD: 0..<10
        case .YMD_HM: 0..<16
        case .YMD_HMS: 0..<19
        case .YMD_HMSS: 0..<23
        case .HM: 11..<16
        case .HMS: 11..<19
        case .HMSS: 11..<23
        }
    }

    var isTimeAlone: Bool {
        switch self {
        case .HM, .HMS, .HMSS: true
        default: false
        }
    }

    private var hasTime: Bool { self != .YMD }
    private var hasSecond: Bool { range.upperBound >= 19 }
    private var hasFraction: Bool { range.upperBound == 23 }

    /// Returns the components of this format as a text, if they are in bounds. Other components are
    /// treated as missing.
    fileprivate func text(_ components: DateComponents) -> DateText? {
        var text = DateText(format: self)
        if !isTimeAlone {
            text.date = CivilDate(
                year: components.year ?? 0, month: components.month ?? 1, day: components.day ?? 1)
        }
        if hasTime { (text.hour, text.minute) = (components.hour ?? 0, components.minute ?? 0) }
        if hasSecond { text.second = components.second ?? 0 }
        if hasFraction { text.nanosecond = components.nanosecond ?? 0 }
        return text.isInBounds ? text : nil
    }

    /// Returns the components of a text that has this format.
    fileprivate func components(_ text: DateText) -> DateComponents {
        var components = DateComponents()
        if !isTimeAlone {
            (components.year, components.month, components.day) = (
                text.date.year, text.date.month, text.date.day
            )
        }
        if hasTime { (components.hour, components.minute) = (text.hour, text.minute) }
        if hasSecond { components.second = text.second }
        if hasFraction { components.nanosecond = text.nanosecond }
        if let minutes = text.minutesFromUTC { components.timeZone = TimeZone(secondsFromGMT: minutes * 60) }
        return components
    }
}

extension DateText {
    fileprivate var isInBounds: Bool {
        date.isInCalendar && (0...23).contains(hour) && (0...59).contains(minute)
            && (0...59).contains(second) && (0...999_999_999).contains(nanosecond)
    }
}

extension DatabaseDateComponents: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue {
        databaseText.map { DatabaseValue(.string($0)) } ?? .null
    }

    /// Stores the components, marked as a date: dates are compared by their instants.
    @_documentation(visibility: internal)
    public func store(in sink: borrowing DatabaseValueSink) {
        guard var text = databaseText else { return sink.storeNull() }
        text.withUTF8 { sink.storeDate($0) }
    }

    /// The stored text, or nil if a component is out of bounds.
    private var databaseText: String? {
        guard let text = format.text(dateComponents) else { return nil }
        // A `Date` with 123 milliseconds may have 122,999,906 nanoseconds in the calendar, so
        // round. Do not round the last half millisecond up: that would need a carry, which may even
        // reach the next year.
        let millisecond = min((text.nanosecond + 500_000) / 1_000_000, 999)
        let millisecondOfDay = ((text.hour * 60 + text.minute) * 60 + text.second) * 1000 + millisecond
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.maximumLength) { buffer in
            guard let bytes = buffer.baseAddress else { return nil }
            DateText.write(text.date, millisecondOfDay: millisecondOfDay, to: bytes)
            return String(decoding: buffer[format.range], as: UTF8.self)
        }
    }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> DatabaseDateComponents? {
        guard case .string(var text) = value.storage else { return nil }
        return text.withUTF8 { DatabaseDateComponents(databaseText: $0) }
    }

    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> DatabaseDateComponents? {
        value.text.flatMap { DatabaseDateComponents(databaseText: $0) }
    }

    private init?(databaseText: UnsafeBufferPointer<UInt8>) {
        guard let text = DateText(databaseText) else { return nil }
        self.init(text.format.components(text), format: text.format)
    }
}

/// In JSON and other archives, the components are encoded as the text that the database stores.
extension DatabaseDateComponents: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let components = Self.fromDatabaseValue(text.databaseValue) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\(text.debugDescription) has none of the date formats")
        }
        self = components
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let text = databaseText else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "a date component is out of range: \(dateComponents)"))
        }
        try container.encode(text)
    }
}
