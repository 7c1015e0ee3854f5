// The destination of a value when a record is encoded.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The destination of a value when a record is encoded: see
/// ``DatabaseValueConvertible/store(in:)``.
public struct DatabaseValueSink: ~Copyable {
    @usableFromInline let encoding: UnsafeMutablePointer<ColumnEncoding>
    @usableFromInline let column: String

    @inlinable @inline(__always)
    init(_ encoding: UnsafeMutablePointer<ColumnEncoding>, _ column: String) {
        (self.encoding, self.column) = (encoding, column)
    }

    /// Stores NULL.
    @inlinable @inline(__always)
    public func storeNull() { encoding.pointee.null(in: column) }

    /// Stores an integer.
    ///
    /// - Parameter integer: The integer. SQLite has no larger integers.
    @inlinable @inline(__always)
    public func store(_ integer: Int64) {
        if !encoding.pointee.passes(integer, in: column) {
            encoding.pointee.integer(integer, in: column)
        }
    }

    /// Stores a real number.
    ///
    /// - Parameter real: The number. Not-a-number is stored as NULL.
    @inlinable @inline(__always)
    public func store(_ real: Double) {
        if !encoding.pointee.passes(real, in: column) {
            encoding.pointee.real(real, isDate: false, in: column)
        }
    }

    /// Stores a text.
    ///
    /// - Parameter text: The text. A NUL in it is kept.
    public func store(_ text: String) {
        // The string is not copied, unless Foundation has created it.
        let stored: Void? = text.utf8.withContiguousStorageIfAvailable {
            if !encoding.pointee.passes($0, in: column) {
                encoding.pointee.text($0, isDate: false, in: column)
            }
        }
        if stored != nil { return }
        var text = text
        text.withUTF8 { encoding.pointee.text($0, isDate: false, in: column) }
    }

    /// Stores a blob.
    ///
    /// - Parameter bytes: The bytes, which are copied. There may be none.
    public func store(_ bytes: UnsafeRawBufferPointer) { encoding.pointee.blob(bytes, in: column) }

    /// Stores a date. It equals all texts and numbers of the same instant.
    func store(_ date: Date) {
        if !encoding.pointee.passes(date, in: column) { storeOther(date) }
    }

    @inline(never)
    private func storeOther(_ date: Date) {
        let isWritten = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DateText.maximumLength) {
            text in
            guard let bytes = text.baseAddress, date.writeDatabaseText(to: bytes) else { return false }
            storeDate(UnsafeBufferPointer(text))
            return true
        }
        if !isWritten { storeDate(secondsSince1970: date.timeIntervalSince1970) }
    }

    /// Stores the text of a date.
    func storeDate(_ text: UnsafeBufferPointer<UInt8>) {
        encoding.pointee.text(text, isDate: true, in: column)
    }

    /// Stores a date that has no text form. An infinite date is stored as NULL.
    func storeDate(secondsSince1970 seconds: Double) {
        if seconds.isFinite {
            encoding.pointee.real(seconds, isDate: true, in: column)
        } else {
            storeNull()
        }
    }

    /// Stores a value that was packed elsewhere.
    func store(_ packed: PackedValue) {
        if encoding.pointee.seek(to: column) { encoding.pointee.store(packed) }
    }

    /// Stores a value of any storage class.
    ///
    /// - Parameter value: The value, which may be NULL.
    public func store(_ value: DatabaseValue) {
        switch value.storage {
        case .null: storeNull()
        case .int64(let integer): store(integer)
        case .double(let real): store(real)
        case .string(let text): store(text)
        case .blob(let data): data.withUnsafeBytes { store($0) }
        }
    }
}

@available(*, unavailable, message: "a sink is only valid during an encoding")
extension DatabaseValueSink: Sendable {}
