// Data and UUID as database values, stored as blobs.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Bytes, stored as a blob. A text reads as its UTF-8 bytes, with invalid ones repaired. To read
/// SQLite's own bytes, see ``Row/withUnsafeData(named:_:)``.
extension Data: DatabaseValueConvertible {
    @inlinable public var databaseValue: DatabaseValue { DatabaseValue(.blob(self)) }
    @_documentation(visibility: internal)
    public func store(in sink: borrowing DatabaseValueSink) { withUnsafeBytes { sink.store($0) } }
    @inlinable public static var _followsStrategies: Bool { true }

    @inlinable
    public static func fromDatabaseValue(_ value: DatabaseValue) -> Data? {
        switch value.storage {
        case .blob(let data): data
        case .string(let text): Data(text.utf8)
        default: nil
        }
    }

    @_documentation(visibility: internal)
    @inlinable
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Data? {
        switch value.storageClass {
        case .blob: value.data
        case .text: Data(value.string.utf8)
        case .null, .integer, .real: nil
        }
    }
}

/// A UUID, stored as a blob of 16 bytes. It reads from such a blob and from the usual text.
///
/// To store the text, store `uuid.uuidString`.
extension UUID: DatabaseValueConvertible {
    @_documentation(visibility: internal)
    public func store(in sink: borrowing DatabaseValueSink) { withUnsafeBytes(of: uuid) { sink.store($0) } }
    @inlinable public static var _followsStrategies: Bool { true }

    public var databaseValue: DatabaseValue {
        DatabaseValue(.blob(withUnsafeBytes(of: uuid) { Data($0) }))
    }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> UUID? {
        switch value.storage {
        case .blob(let data): data.withUnsafeBytes(UUID.init(bytes:))
        case .string(let text): UUID(text: text)
        default: nil
        }
    }

    @_documentation(visibility: internal)
    public static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> UUID? {
        switch value.fetched {
        case .blob(let bytes): UUID(bytes: bytes)
        case .text(let utf8): UUID(text: String(decoding: utf8, as: UTF8.self))
        case .null, .integer, .real: nil
        }
    }

    /// Reads a text, unless it contains a NUL: Foundation stops reading there, and would ignore
    /// what follows.
    private init?(text: String) {
        guard text.utf8.count == 36 else { return nil }
        self.init(uuidString: text)
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
