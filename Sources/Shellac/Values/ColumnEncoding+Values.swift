#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What an encoding makes of a value.
//
// Most values are what they are compared with, and the comparison passes them by. That is tried first, for numbers where
// a record encodes them, since it takes only a few instructions. All else comes to the functions behind these.

extension ColumnEncoding {
    @inlinable @inline(__always)
    mutating func passes(_ value: Int64, in name: String) -> Bool {
        // All is read in front of the first branch, so that it stays in registers from one column to the next.
        let (place, start) = (nextTag, payload)
        guard compares(name) else { return false }
        let tag = place.load(as: UInt8.self)
        let end = start + Int(tag)
        guard PackedTag.isInteger(tag), PackedTag.readInteger(tag, endingAt: end) == value else {
            return false
        }
        pass(place, to: end)
        return true
    }

    @inlinable @inline(__always)
    mutating func passes(_ value: Double, in name: String) -> Bool {
        let (place, start) = (nextTag, payload)
        guard compares(name), place.load(as: UInt8.self) == PackedTag.real,
            start.loadUnaligned(as: Double.self) == value
        else { return false }
        pass(place, to: start + 8)
        return true
    }

    @inline(__always)
    mutating func passes(_ utf8: UnsafeBufferPointer<UInt8>, in name: String) -> Bool {
        guard compares(name), nextTag.load(as: UInt8.self) == PackedTag.shortText,
            payload.load(as: UInt8.self) == utf8.count,
            let start = utf8.baseAddress, memcmp(payload + 1, start, utf8.count) == 0
        else { return false }
        pass(nextTag, to: payload + 1 + utf8.count)
        return true
    }

    /// Compares a date with a text of the format in which dates are written.
    @inline(__always)
    mutating func passes(_ date: Date, in name: String) -> Bool {
        guard compares(name) else { return false }
        let tag = nextTag.load(as: UInt8.self)
        guard tag == PackedTag.shortText || tag == PackedTag.dateText,
            let text = DateText(written: PackedTag.bytes(tag, payload).assumingMemoryBound(to: UInt8.self))
        else { return false }
        // A date is rounded to the millisecond when it is written.
        let difference = date.timeIntervalSinceReferenceDate * 1000 - Double(text.milliseconds)
        guard difference.magnitude < 0.5 else { return false }
        pass(nextTag, to: payload + 1 + DateText.maximumLength)
        return true
    }

    // MARK: - In the column of a name

    @usableFromInline
    mutating func null(in name: String) { if isAt(name) { null() } }

    @usableFromInline
    mutating func integer(_ value: Int64, in name: String) {
        guard packs(name) else { return integerElsewhere(value, in: name) }
        packed(PackedTag.write(value, to: &payload))
    }

    /// The same, behind a call: so that the road above needs to save no registers.
    @inline(never)
    private mutating func integerElsewhere(_ value: Int64, in name: String) {
        if isAt(name) { integer(value) }
    }

    @usableFromInline
    mutating func real(_ value: Double, isDate: Bool, in name: String) {
        if isAt(name) { real(value, isDate: isDate) }
    }

    /// The bytes of a text. Those of a date are fewer than 256.
    mutating func text(_ utf8: UnsafeBufferPointer<UInt8>, isDate: Bool, in name: String) {
        if isAt(name) { text(UnsafeRawBufferPointer(utf8), isDate: isDate) }
    }

    mutating func blob(_ bytes: UnsafeRawBufferPointer, in name: String) { if isAt(name) { blob(bytes) } }

    // MARK: - In the next column

    mutating func null() {
        switch mode {
        case .packing: finish(PackedTag.null)
        case .comparing:
            let tag = tag
            if tag == PackedTag.null {
                advance(past: tag)
            } else if !compareSlowly(.null) {
                null()
            }
        case .gathering: gather(.null)
        case .ignoring: break
        }
    }

    mutating func integer(_ value: Int64) {
        switch mode {
        case .packing: finish(PackedTag.write(value, to: &payload))
        case .comparing:
            let tag = tag
            if PackedTag.isInteger(tag) {
                // Two integers that differ do so whatever the affinity.
                if PackedTag.readInteger(tag, payload) != value {
                    if startPacking() { return integer(value) }
                    isDifferent = true
                }
                advance(past: tag)
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
        case .packing:
            let tag = PackedTag.write(value, to: &payload)
            finish(isDate ? PackedTag.dateReal : tag)
        case .comparing:
            let tag = tag
            if PackedTag.isReal(tag), payload.loadUnaligned(as: Double.self) == value {
                advance(past: tag)
            } else if !compareSlowly(DatabaseValue(.double(value)), isDate: isDate) {
                real(value, isDate: isDate)
            }
        case .gathering: gather(DatabaseValue(.double(value)), isDate: isDate)
        case .ignoring: break
        }
    }

    mutating func text(_ utf8: UnsafeRawBufferPointer, isDate: Bool) {
        switch mode {
        case .packing:
            reserve(utf8.count &+ 4)
            let tag = PackedTag.write(text: utf8, to: &payload)
            finish(isDate ? PackedTag.dateText : tag)
        case .comparing:
            let tag = tag
            if PackedTag.isText(tag), isEqual(utf8, to: tag) {
                advance(past: tag)
            } else if isDate, let date = StoredDate(utf8), let stored = StoredDate(tag, payload),
                date.isEqual(to: stored)
            {
                advance(past: tag)
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
        case .packing:
            reserve(bytes.count &+ 4)
            finish(PackedTag.write(blob: bytes, to: &payload))
        case .comparing:
            // No affinity makes anything else of a blob, nor a blob of anything else.
            let tag = tag
            if !PackedTag.isBlob(tag) || !isEqual(bytes, to: tag) {
                if startPacking() { return blob(bytes) }
                isDifferent = true
            }
            advance(past: tag)
        case .gathering: gather(DatabaseValue(.blob(.init(bytes))))
        case .ignoring: break
        }
    }

    /// A value that was packed elsewhere.
    mutating func store(_ tag: UInt8, _ packed: UnsafeRawPointer) {
        if PackedTag.isInteger(tag) {
            integer(PackedTag.readInteger(tag, packed))
        } else if PackedTag.isReal(tag) {
            real(packed.loadUnaligned(as: Double.self), isDate: PackedTag.isDate(tag))
        } else if PackedTag.isText(tag) {
            text(PackedTag.bytes(tag, packed), isDate: PackedTag.isDate(tag))
        } else if PackedTag.isBlob(tag) {
            blob(PackedTag.bytes(tag, packed))
        } else {
            null()
        }
    }
}
