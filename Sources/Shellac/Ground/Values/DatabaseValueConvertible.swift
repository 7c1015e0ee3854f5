// The protocol of types that are stored in one column, with the conformance of optionals.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type whose values are stored in one column.
///
/// The standard types that SQLite can hold conform, and enums with raw values do with one line. A type of
/// your own says how it is stored and how it is read:
///
/// ```swift
/// struct Celsius: DatabaseValueConvertible {
///     var degrees: Double
///
///     var databaseValue: DatabaseValue { degrees.databaseValue }
///
///     static func fromDatabaseValue(_ value: DatabaseValue) -> Celsius? {
///         Double.fromDatabaseValue(value).map(Celsius.init(degrees:))
///     }
/// }
/// ```
///
/// A `Codable` type needs no code. What it encodes as a single value is stored as that value, with dates, UUIDs, URLs and
/// data in their database form, and all else as JSON, by ``databaseJSONEncoder()``.
///
/// A conversion is accepted when nothing is lost by it: 1.0 reads as the integer 1, and 1.5 does not. (A great integer
/// that is read as a `Double`, and a double that is read as a `Float`, are rounded, as Swift rounds them.)
public protocol DatabaseValueConvertible: DatabaseFetchable, SQLExpressible {
    /// The value to store.
    var databaseValue: DatabaseValue { get }

    /// Returns the Swift value for a stored one, or nil when the stored one does not convert.
    ///
    /// - Parameter value: The stored value, of any storage class: it may be NULL.
    static func fromDatabaseValue(_ value: DatabaseValue) -> Self?

    /// Returns the Swift value, read where SQLite holds it, or nil when it does not convert.
    ///
    /// This is the short way, without a `DatabaseValue` in between. It must accept exactly what
    /// ``fromDatabaseValue(_:)`` accepts, which it calls by default.
    ///
    /// - Parameter value: The stored value, of any storage class, which is good for the duration of the call.
    static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self?

    /// Stores the value when a record is encoded.
    ///
    /// This is the short way, without a `DatabaseValue` in between. It must store what ``databaseValue`` is,
    /// which it does by default.
    ///
    /// - Parameter sink: What takes the value: one of its methods is called, once.
    func store(in sink: borrowing DatabaseValueSink)

    /// Returns the Swift value for a column that a row lacks: nil, except for types that have a value for nothing, as
    /// `Optional` has.
    static func fromMissingColumn() -> Self?

    /// Whether a record may say how the values are stored, as it may of dates, data and UUIDs. Do not implement this.
    static var _followsStrategies: Bool { get }

    /// Returns the decoder of the JSON of a `Decodable` type that is stored as such.
    static func databaseJSONDecoder() -> JSONDecoder

    /// Returns the encoder of the JSON of an `Encodable` type that is stored as such.
    ///
    /// Let it sort keys: equal values should give equal texts, or a record looks changed when it is not.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    /// Returns what ``fromDatabaseValue(_:)`` makes of the value.
    ///
    /// - Parameter value: The stored value, which is copied.
    @inlinable
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self? {
        fromDatabaseValue(value.databaseValue)
    }

    @inlinable
    public static func fromMissingColumn() -> Self? { nil }

    @inlinable
    public static var _followsStrategies: Bool { false }

    @inlinable
    public func store(in sink: borrowing DatabaseValueSink) { sink.store(databaseValue) }
}

extension DatabaseValue: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { self }
    @inlinable public static func fromDatabaseValue(_ value: DatabaseValue) -> DatabaseValue? { value }
    @_documentation(visibility: internal)
    @inlinable public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> DatabaseValue? {
        value.databaseValue
    }
}

extension Optional: DatabaseFetchable where Wrapped: DatabaseValueConvertible {}

/// An optional is stored as its value, or as NULL.
extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    @inlinable
    public var databaseValue: DatabaseValue { self?.databaseValue ?? .null }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Wrapped?? {
        if let wrapped = Wrapped.fromDatabaseValue(value) { return .some(wrapped) }
        return value.isNull ? .some(nil) : nil
    }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Wrapped?? {
        // Most values are not NULL: ask for NULL only when the value did not convert.
        if let wrapped = Wrapped.fromSQLiteValue(value) { return .some(wrapped) }
        return value.isNull ? .some(nil) : nil
    }

    @_documentation(visibility: internal)
    @inlinable
    public static func fromMissingColumn() -> Wrapped?? { .some(nil) }

    @inlinable
    public static var _followsStrategies: Bool { Wrapped._followsStrategies }

    @_documentation(visibility: internal)
    @inlinable @inline(__always)
    public func store(in sink: borrowing DatabaseValueSink) {
        if let self { self.store(in: sink) } else { sink.storeNull() }
    }
}
