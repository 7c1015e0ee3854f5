// String, Substring, URL and Decimal as database values, stored as text.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A text. Invalid UTF-8, which SQLite accepts, is repaired when it is read. A NUL in the text is
/// kept.
extension String: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(.string(self)) }
    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(self) }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> String? {
        if case .string(let string) = value.storage { return string }
        return nil
    }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> String? {
        guard let utf8 = value.text else { return nil }
        return String(decoding: utf8, as: UTF8.self)
    }
}

/// A piece of text, stored as a text.
extension Substring: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { String(self).databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Substring? {
        String.fromDatabaseValue(value).map { $0[...] }
    }
}

/// A URL, stored as its text.
extension URL: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { absoluteString.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> URL? {
        String.fromDatabaseValue(value).flatMap { URL(string: $0) }
    }
}

/// A decimal number, stored as text in the POSIX locale, so that no digit is lost.
///
/// The column must store texts unchanged. A column of type `DECIMAL` or `NUMERIC` converts the text
/// to a real number.
///
/// A decimal number reads from a text that is a number as a whole, and from an INTEGER or a REAL.
/// Not-a-number is stored as NULL.
extension Decimal: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { isNaN ? .null : description.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Decimal? {
        switch value.storage {
        case .int64(let integer): Decimal(integer)
        case .double(let double): double.isFinite ? Decimal(double).orNilIfNotANumber : nil
        // Decimal(string:) reads the number at the beginning of a text, and ignores the rest.
        case .string(let text):
            text[...].utf8.isNumber ? Decimal(string: text)?.orNilIfNotANumber : nil
        default: nil
        }
    }

    /// The decimal, or nil if it is not a number. A number out of a decimal's bounds has become
    /// not-a-number.
    private var orNilIfNotANumber: Decimal? { isNaN ? nil : self }
}
