// Writes one value of an encoding: packs it, compares it with the stored one, or gathers it.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The encoding of values.
//
// Most values are what they are compared with, and the comparison passes them by. That is tried first, for numbers where
// a record encodes them, since it takes only a few instructions. All else comes to the functions behind these.

extension ColumnEncoding {
    @inlinable @inline(__always)
    mutating func passes(_ value: Int64, in name: String) -> Bool {
        // All is read in front of the first branch, so that it stays in registers from one column to the next.
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

    /// Compares a date with a text of the format in which dates are written.
    @inline(__always)
    mutating func passes(_ date: Date, in name: String) -> Bool {
        guard compares(name) else { return false }
        let stored = cursor.value
        guard stored.tag == .shortText || stored.tag == .dateText,
            let text = DateText(written: stored.utf8)
        else { return false }
        // A date is rounded to the millisecond when it is written.
        let difference = date.timeIntervalSinceReferenceDate * 1000 - Double(text.milliseconds)
        guard difference.magnitude < 0.5 else { return false }
        pass(to: cursor.moved(by: (columns: 1, payloads: 1 + DateText.maximumLength)))
        return true
    }

    /// Goes to the next column, which was compared with.
    @inlinable @inline(__always)
    mutating func pass(to next: PackedCursor) {
        cursor = next
        nextCompared += 1
    }

    // MARK: - In the column of a name

    @usableFromInline
    mutating func null(in name: String) { if isAt(name) { store(.null) } }

    @usableFromInline
    mutating func integer(_ value: Int64, in name: String) {
        guard packs(name) else { return integerElsewhere(value, in: name) }
        packNext { $0.write(value) }
    }

    /// Stores the integer out of line, so that the inlined fast path spills no registers.
    @inline(never)
    private mutating func integerElsewhere(_ value: Int64, in name: String) {
        if isAt(name) { store(.integer(value)) }
    }

    @usableFromInline
    mutating func real(_ value: Double, isDate: Bool, in name: String) {
        if isAt(name) { store(value.isNaN ? .null : .real(value), isDate: isDate) }
    }

    /// Stores the bytes of a text. Those of a date are fewer than 256.
    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>, isDate: Bool, in name: String) {
        if isAt(name) { store(.text(utf8), isDate: isDate) }
    }

    mutating func blob(_ bytes: UnsafeRawBufferPointer, in name: String) {
        if isAt(name) { store(.blob(bytes)) }
    }

    // MARK: - In the next column

    /// Stores a value. It is inlined, so that whoever knows its storage class decides nothing.
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

    /// Whether the column is stored like this when it is given a value that has other bytes: its affinity, or the instant of
    /// a date, decides.
    @inline(never)
    private func isStored(_ value: ValueView, isDate: Bool, as stored: PackedValue) -> Bool {
        switch value {
        // Two integers that differ do so whatever the affinity.
        case .integer where stored.isInteger: return false
        // No affinity makes anything else of a blob, nor a blob of anything else.
        case .blob: return false
        default: break
        }
        if isDate, StoredDate(value)?.isEqual(to: StoredDate(stored.view)) == true { return true }
        let affinity = layout.use { $0.affinity(ofColumn: next) }
        return ColumnAffinity.isStored(
            value.databaseValue, as: stored.view.databaseValue, in: affinity)
    }
}
