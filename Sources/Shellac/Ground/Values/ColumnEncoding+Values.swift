// Writes one value of an encoding: packs it, compares it with the stored one, or gathers it.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The encoding of values.
//
// Most values equal the value that they are compared with, and the comparison skips them. That fast
// path is tried first, because it only takes a few instructions. For numbers, it is inlined where a
// record encodes them. All other values reach the functions behind it.

extension ColumnEncoding {
    @inlinable @inline(__always)
    mutating func passes(_ value: Int64, in name: String) -> Bool {
        // Everything is read before the first branch, so that it stays in registers from one column
        // to the next.
        let cursor = cursor
        guard compares(name), let next = cursor.passing(value) else { return false }
        pass(to: next)
        return true
    }

    @inlinable @inline(__always)
    mutating func passes(_ value: Double, in name: String) -> Bool {
        let cursor = cursor
        guard compares(name), let next = cursor.passing(value) else { return false }
        pass(to: next)
        return true
    }

    @inline(__always)
    mutating func passes(_ utf8: UnsafeBufferPointer<UInt8>, in name: String) -> Bool {
        guard compares(name), let next = cursor.passing(shortText: utf8) else {
            return false
        }
        pass(to: next)
        return true
    }

    /// Compares a date with a text in the format that Shellac writes.
    @inline(__always)
    mutating func passes(_ date: Date, in name: String) -> Bool {
        guard compares(name) else { return false }
        let stored = cursor.value
        guard stored.tag == .shortText || stored.tag == .dateText,
            let text = DateText(written: stored.utf8)
        else { return false }
        // Writing a date rounds it to the millisecond.
        let difference = date.timeIntervalSinceReferenceDate * 1000 - Double(text.milliseconds)
        guard difference.magnitude < 0.5 else { return false }
        pass(to: cursor.moved(by: (columns: 1, payloads: 1 + DateText.maximumLength)))
        return true
    }

    /// Moves to the next column after an equal comparison.
    @inlinable @inline(__always)
    mutating func pass(to next: PackedCursor) {
        cursor = next
        nextCompared += 1
    }

    // MARK: - In the column of a name

    @usableFromInline
    mutating func null(in name: String) { if seek(to: name) { store(.null) } }

    @usableFromInline
    mutating func integer(_ value: Int64, in name: String) {
        guard packs(name) else { return integerElsewhere(value, in: name) }
        packNext { $0.write(value) }
    }

    /// Stores the integer out of line, so that the inlined fast path spills no registers.
    @inline(never)
    private mutating func integerElsewhere(_ value: Int64, in name: String) {
        if seek(to: name) { store(.integer(value)) }
    }

    @usableFromInline
    mutating func real(_ value: Double, isDate: Bool, in name: String) {
        if seek(to: name) { store(value.isNaN ? .null : .real(value), isDate: isDate) }
    }

    /// Stores the bytes of a text. The text of a date has fewer than 256 bytes.
    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>, isDate: Bool, in name: String) {
        if seek(to: name) { store(.text(utf8), isDate: isDate) }
    }

    mutating func blob(_ bytes: UnsafeRawBufferPointer, in name: String) {
        if seek(to: name) { store(.blob(bytes)) }
    }

    // MARK: - In the next column

    /// Stores a value. The function is inlined, so a caller with a known storage class avoids the
    /// branches.
    @inline(__always)
    mutating func store(_ value: ValueView, isDate: Bool = false) {
        switch mode {
        case .packing: pack(value, isDate: isDate)
        case .comparing:
            let stored = stored
            if !stored.isSame(as: value), !isStored(value, isDate: isDate, as: stored) {
                if startPacking() { return pack(value, isDate: isDate) }
                isDifferent = true
            }
            advance(past: stored)
        case .gathering: gather(value.databaseValue, isDate: isDate)
        }
    }

    /// Stores a value that was packed elsewhere.
    mutating func store(_ value: PackedValue) { store(value.view, isDate: value.isDate) }

    /// Whether the column stores the given value as the stored one, although their bytes differ.
    /// The affinity decides, or the instant of a date.
    @inline(never)
    private func isStored(_ value: ValueView, isDate: Bool, as stored: PackedValue) -> Bool {
        let affinity = layout.use { $0.affinity(ofColumn: next) }
        switch value {
        // Only a column of real numbers stores two large integers as one number.
        case .integer where stored.isInteger && affinity != .real: return false
        // No affinity converts a blob, or converts anything to a blob.
        case .blob: return false
        default: break
        }
        if isDate, StoredDate(value)?.isEqual(to: StoredDate(stored.view)) == true { return true }
        return ColumnAffinity.isStored(
            value.databaseValue, as: stored.view.databaseValue, in: affinity)
    }
}
