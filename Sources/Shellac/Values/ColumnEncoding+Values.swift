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
    mutating func null(in name: String) { if isAt(name) { null() } }

    @usableFromInline
    mutating func integer(_ value: Int64, in name: String) {
        guard packs(name) else { return integerElsewhere(value, in: name) }
        packNext { $0.write(value) }
    }

    /// Stores the integer out of line, so that the inlined fast path spills no registers.
    @inline(never)
    private mutating func integerElsewhere(_ value: Int64, in name: String) {
        if isAt(name) { integer(value) }
    }

    @usableFromInline
    mutating func real(_ value: Double, isDate: Bool, in name: String) {
        if isAt(name) { real(value, isDate: isDate) }
    }

    /// Stores the bytes of a text. Those of a date are fewer than 256.
    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>, isDate: Bool, in name: String) {
        if isAt(name) { text(utf8, isDate: isDate) }
    }

    mutating func blob(_ bytes: UnsafeRawBufferPointer, in name: String) { if isAt(name) { blob(bytes) } }

    // MARK: - In the next column

    mutating func null() {
        switch mode {
        case .packing: pack { $0.writeNull() }
        case .comparing:
            let stored = stored
            if stored.isNull {
                advance(past: stored)
            } else if !compareSlowly(.null) {
                null()
            }
        case .gathering: gather(.null)
        case .ignoring: break
        }
    }

    mutating func integer(_ value: Int64) {
        switch mode {
        case .packing: pack { $0.write(value) }
        case .comparing:
            let stored = stored
            if stored.isInteger {
                // Two integers that differ do so whatever the affinity.
                if stored.integer != value {
                    if startPacking() { return integer(value) }
                    isDifferent = true
                }
                advance(past: stored)
            } else if !compareSlowly(DatabaseValue(.int64(value))) {
                integer(value)
            }
        case .gathering: gather(DatabaseValue(.int64(value)))
        case .ignoring: break
        }
    }

    mutating func real(_ value: Double, isDate: Bool) {
        if value.isNaN { return null() }
        switch mode {
        case .packing: pack { $0.write(value, isDate: isDate) }
        case .comparing:
            let stored = stored
            if stored.isReal, stored.real == value {
                advance(past: stored)
            } else if !compareSlowly(DatabaseValue(.double(value)), isDate: isDate) {
                real(value, isDate: isDate)
            }
        case .gathering: gather(DatabaseValue(.double(value)), isDate: isDate)
        case .ignoring: break
        }
    }

    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>, isDate: Bool) {
        switch mode {
        case .packing: pack(utf8.count &+ 4) { $0.write(text: utf8, isDate: isDate) }
        case .comparing:
            let stored = stored
            if stored.isText, stored.holds(UnsafeRawBufferPointer(utf8)) {
                advance(past: stored)
            } else if isDate, let date = StoredDate(utf8), date.isEqual(to: StoredDate(stored.view)) {
                advance(past: stored)
            } else {
                let value = DatabaseValue(.string(String(decoding: utf8, as: UTF8.self)))
                if !compareSlowly(value, isDate: isDate) { text(utf8, isDate: isDate) }
            }
        case .gathering:
            gather(DatabaseValue(.string(String(decoding: utf8, as: UTF8.self))), isDate: isDate)
        case .ignoring: break
        }
    }

    mutating func blob(_ bytes: UnsafeRawBufferPointer) {
        switch mode {
        case .packing: pack(bytes.count &+ 4) { $0.write(blob: bytes) }
        case .comparing:
            // No affinity makes anything else of a blob, nor a blob of anything else.
            let stored = stored
            if !stored.tag.isBlob || !stored.holds(bytes) {
                if startPacking() { return blob(bytes) }
                isDifferent = true
            }
            advance(past: stored)
        case .gathering: gather(DatabaseValue(.blob(.init(bytes))))
        case .ignoring: break
        }
    }

    /// Stores any value.
    mutating func store(_ value: ValueView, isDate: Bool = false) {
        switch value {
        case .null: null()
        case .integer(let value): integer(value)
        case .real(let value): real(value, isDate: isDate)
        case .text(let utf8): text(utf8, isDate: isDate)
        case .blob(let bytes): blob(bytes)
        }
    }

    /// Stores a value that was packed elsewhere.
    mutating func store(_ value: PackedValue) { store(value.view, isDate: value.isDate) }
}
