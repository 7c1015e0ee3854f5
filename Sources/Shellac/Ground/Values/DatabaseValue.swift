// A value of any SQLite storage class: NULL, integer, real number, text or blob.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value as SQLite stores it: NULL, an integer, a real number, a text or a blob.
///
/// ```swift
/// let value: DatabaseValue = try row["score"]
/// switch value.storage {
/// case .null: print("no score")
/// case .int64(let score): print(score)
/// default: print("not an integer: \(value)")
/// }
/// ```
///
/// Two database values are equal if SQLite stores them identically. An integer differs from a real
/// number, and a text differs from a blob. NULL equals NULL.
public struct DatabaseValue: Hashable, Sendable {
    /// The five ways SQLite stores a value.
    @frozen
    public enum Storage: Hashable, Sendable {
        /// NULL.
        case null
        /// An integer.
        case int64(Int64)
        /// A real number.
        case double(Double)
        /// A text.
        case string(String)
        /// A blob.
        case blob(Data)
    }

    /// The stored value.
    public let storage: Storage

    /// Creates a value for storage.
    ///
    /// - Parameter storage: The stored value. Not-a-number becomes NULL, as it does in SQLite.
    @inlinable
    public init(_ storage: Storage) {
        if case .double(let double) = storage, double.isNaN {
            self.storage = .null
        } else {
            self.storage = storage
        }
    }

    /// The database NULL.
    @inlinable
    public static var null: DatabaseValue { DatabaseValue(.null) }

    /// Whether the value is NULL.
    public var isNull: Bool { storage == .null }
}

extension DatabaseValue.Storage {
    // Texts are compared by their bytes, as in SQLite, and not by Unicode equivalence. Real numbers
    // are compared by their numeric value: 0.0 equals -0.0.
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .int64(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .blob(let value): hasher.combine(value)
        }
    }
}

extension DatabaseValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The value for display: `NULL`, `1`, `1.5`, `Arthur`, `Data(16 bytes)`.
    public var description: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .blob(let value): "Data(\(value.count) bytes)"
        }
    }

    /// The value for display among words: a text is in quotes.
    var inWords: String {
        if case .string(let value) = storage { value.debugDescription } else { description }
    }

    /// The value as an SQL literal: `NULL`, `1`, `1.5`, `'Arthur'`, `x'C0FFEE'`.
    public var debugDescription: String { sqlLiteral }

    var sqlLiteral: String {
        switch storage {
        case .null: return "NULL"
        case .int64(let value): return "\(value)"
        case .double(let value):
            if value.isInfinite { return value < 0 ? "-9e999" : "9e999" }
            return "\(value)"
        case .string(let value):
            guard value.utf8.contains(0) else { return value.quotedDatabaseLiteral }
            return "CAST(\(Self.blobLiteral(value.utf8)) AS TEXT)"
        case .blob(let value): return Self.blobLiteral(value)
        }
    }

    private static func blobLiteral(_ bytes: some Sequence<UInt8>) -> String {
        var literal = "x'"
        for byte in bytes {
            literal.append(Self.hexDigits[Int(byte >> 4)])
            literal.append(Self.hexDigits[Int(byte & 15)])
        }
        return literal + "'"
    }

    private static let hexDigits = Array("0123456789ABCDEF")
}

// There is no nil literal: a nil optional database value is not NULL.
extension DatabaseValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral
{
    public init(integerLiteral value: Int64) { self.init(.int64(value)) }
    public init(floatLiteral value: Double) { self.init(.double(value)) }
    public init(stringLiteral value: String) { self.init(.string(value)) }
    public init(booleanLiteral value: Bool) { self.init(.int64(value ? 1 : 0)) }
}
