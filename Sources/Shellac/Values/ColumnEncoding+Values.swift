// What an encoding makes of a value, in each of its modes.

extension ColumnEncoding {
    @usableFromInline
    mutating func null() {
        switch mode {
        case .packing: finish(PackedTag.null)
        case .comparing:
            let tag = tag
            if tag == PackedTag.null {
                next &+= 1
            } else if !compareSlowly(.null) {
                null()
            }
        case .gathering: gather(.null)
        case .ignoring: break
        }
    }

    // Most values are equal to what they are compared with, or packed: these two come first, and call nothing.

    @usableFromInline
    mutating func integer(_ value: Int64) {
        if mode == .comparing {
            let tag = tag
            let size = PackedTag.byteCount(ofInteger: tag)
            let end = payload + size
            if PackedTag.isInteger(tag), PackedTag.readInteger(ofBytes: size, endingAt: end) == value {
                payload = end
                next &+= 1
                return
            }
        } else if mode == .packing, next < count {
            let tag = PackedTag.write(value, to: &payload)
            base.storeBytes(of: tag, toByteOffset: next, as: UInt8.self)
            next &+= 1
            return
        }
        otherInteger(value)
    }

    @inline(never)
    private mutating func otherInteger(_ value: Int64) {
        switch mode {
        case .packing: finish(PackedTag.write(value, to: &payload))
        case .comparing:
            let tag = tag
            guard PackedTag.isInteger(tag) else {
                if !compareSlowly(DatabaseValue(.int64(value))) { integer(value) }
                return
            }
            // Two integers that differ do so whatever the affinity.
            if startPacking() { return integer(value) }
            isDifferent = true
            advance(past: tag)
        case .gathering: gather(DatabaseValue(.int64(value)))
        case .ignoring: break
        }
    }

    @usableFromInline
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

    /// The bytes of a text. Those of a date are fewer than 256.
    @usableFromInline
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

    @usableFromInline
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
