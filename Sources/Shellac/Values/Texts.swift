#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A text. Invalid UTF-8, which SQLite does not refuse, is repaired when read. A NUL in the text is kept.
extension String: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(.string(self)) }
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(self) }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> String? {
        if case .string(let string) = value.storage { return string }
        return nil
    }

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

/// A decimal number, stored as its text in the POSIX locale, so that no digit is lost. The column must keep texts:
/// one of type `DECIMAL` or `NUMERIC` makes a real number of it.
///
/// It reads from a text that is a number as a whole, and from an INTEGER or a REAL. What is not a number is stored
/// as NULL.
extension Decimal: DatabaseValueConvertible {
    public var databaseValue: DatabaseValue { isNaN ? .null : description.databaseValue }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> Decimal? {
        switch value.storage {
        case .int64(let integer): Decimal(integer)
        case .double(let double): double.isFinite ? Decimal(double).orNilIfNotANumber : nil
        case .string(let text): isNumber(text) ? Decimal(string: text)?.orNilIfNotANumber : nil
        default: nil
        }
    }

    /// What is out of the bounds of a decimal has become no number.
    private var orNilIfNotANumber: Decimal? { isNaN ? nil : self }

    /// Decimal(string:) reads the number at the beginning of a text, and ignores what follows.
    private static func isNumber(_ text: String) -> Bool {
        var digits = 0
        var rest = text.utf8[...]
        func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
            let skipped = rest.prefix(while: isSkipped).count
            rest = rest.dropFirst(skipped)
            return skipped
        }
        func skipSign() {
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                rest = rest.dropFirst()
            }
        }
        let isDigit = { (byte: UInt8) in byte &- 48 < 10 }
        skipSign()
        digits += skip(isDigit)
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            digits += skip(isDigit)
        }
        guard digits > 0 else { return false }
        if let e = rest.first, e | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            skipSign()
            guard skip(isDigit) > 0 else { return false }
        }
        return rest.isEmpty
    }
}
