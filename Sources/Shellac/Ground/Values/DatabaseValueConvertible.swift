// The protocol of types that are stored in one column, with the conformance of optionals.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type whose values are stored in one column.
///
/// Standard types that SQLite can store conform, and enums with raw values conform with one line.
/// Your own type defines how it is stored and how it is read:
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
/// A `Codable` type needs no code. A type that encodes itself as a single value is stored as that
/// value. Dates, UUIDs, URLs and data then have their database form. Any other type is stored as
/// JSON, with ``databaseJSONEncoder()``.
///
/// A conversion succeeds if it loses nothing: 1.0 reads as the integer 1, but 1.5 does not. (A
/// large integer that is read as a `Double`, and a double that is read as a `Float`, are rounded,
/// as in Swift.)
public protocol DatabaseValueConvertible: DatabaseFetchable, SQLExpressible {
    /// The value to store.
    var databaseValue: DatabaseValue { get }

    /// Returns the Swift value of a stored value, or nil if the stored value does not convert.
    ///
    /// - Parameter value: The stored value, of any storage class. It may be NULL.
    static func fromDatabaseValue(_ value: DatabaseValue) -> Self?

    /// Returns the Swift value, read directly from SQLite, or nil if it does not convert.
    ///
    /// This is a fast path without an intermediate `DatabaseValue`. It must accept exactly what
    /// ``fromDatabaseValue(_:)`` accepts. The default implementation calls that function.
    ///
    /// - Parameter value: The stored value, of any storage class. It is only valid during the call.
    static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Self?

    /// Stores the value when a record is encoded.
    ///
    /// This is a fast path without an intermediate `DatabaseValue`. It must store the same value as
    /// ``databaseValue``. The default implementation does so.
    ///
    /// - Parameter sink: The destination of the value. Call one of its methods, exactly once.
    func store(in sink: borrowing DatabaseValueSink)

    /// Returns the Swift value for a column that a row lacks. It is nil, except for types with an
    /// empty value, such as `Optional`.
    static func fromMissingColumn() -> Self?

    /// Whether a record may choose how the values are stored, as for dates, data and UUIDs. Do not
    /// implement this.
    static var _followsStrategies: Bool { get }

    /// Returns the decoder for a `Decodable` type that is stored as JSON.
    static func databaseJSONDecoder() -> JSONDecoder

    /// Returns the encoder for an `Encodable` type that is stored as JSON.
    ///
    /// Make it sort the keys. Equal values should give equal texts, or an unchanged record looks
    /// changed.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    /// Converts a copy of the value with ``fromDatabaseValue(_:)``.
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

/// An optional, stored as its value or as NULL.
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
        // Most values are not NULL, so only check for NULL if the value did not convert.
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
