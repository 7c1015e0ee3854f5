#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Where a value is stored when a record is encoded: see ``DatabaseValueConvertible/store(in:)``.
public struct DatabaseValueSink {
    @usableFromInline let encoding: UnsafeMutablePointer<ColumnEncoding>

    @inlinable @inline(__always)
    init(_ encoding: UnsafeMutablePointer<ColumnEncoding>) { self.encoding = encoding }

    /// Stores NULL.
    @inlinable
    public func storeNull() { encoding.pointee.null() }

    /// Stores an integer.
    @inlinable
    public func store(_ integer: Int64) { encoding.pointee.integer(integer) }

    /// Stores a real number.
    @inlinable
    public func store(_ real: Double) { encoding.pointee.real(real) }

    /// Stores a text.
    public func store(_ text: String) {
        // Without a copy of the string, as long as it is not one that Foundation has made.
        let stored: Void? = text.utf8.withContiguousStorageIfAvailable { encoding.pointee.text($0) }
        if stored != nil { return }
        var text = text
        text.withUTF8 { encoding.pointee.text($0) }
    }

    /// Stores a blob.
    public func store(_ bytes: UnsafeRawBufferPointer) { encoding.pointee.blob(bytes) }

    /// Stores a date. It equals all texts and numbers of the same instant.
    func store(_ date: Date) {
        if !encoding.pointee.isSame(date) { storeOther(date) }
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
        encoding.pointee.text(UnsafeRawBufferPointer(text), isDate: true)
    }

    /// Stores a date that has no text. An infinite one is NULL.
    func storeDate(secondsSince1970 seconds: Double) {
        if seconds.isFinite { encoding.pointee.real(seconds, isDate: true) } else { storeNull() }
    }

    /// Stores a value of any kind.
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

@available(*, unavailable, message: "a sink is good for the duration of an encoding")
extension DatabaseValueSink: Sendable {}
