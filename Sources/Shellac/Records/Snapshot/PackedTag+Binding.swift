import CSQLite

// Packed values are bound where they stand.

extension PackedTag {
    /// Binds packed columns to as many parameters, the first of which has a number. Returns an error, if there was one.
    ///
    /// There must be 8 bytes behind the last one.
    @inline(never)
    static func bindColumns(
        _ bytes: UnsafeRawPointer, count: Int, to statement: OpaquePointer, from first: Int32
    ) -> Int32 {
        var code = SQLITE_OK
        var parameter = first
        var (tags, payload) = (bytes, bytes + count)
        let end = payload
        while tags < end {
            let tag = tags.load(as: UInt8.self)
            let bound: Int32
            if isInteger(tag) {
                bound = sqlite3_bind_int64(statement, parameter, readInteger(tag, inFrontOfRoom: payload))
                payload += Int(tag)
            } else {
                bound = bind(tag, payload, to: statement, at: parameter)
                payload += length(tag, payload)
            }
            if bound != SQLITE_OK { code = bound }
            parameter &+= 1
            tags += 1
        }
        return code
    }

    /// Binds a value to a parameter, counted from 1. Texts and blobs are not copied.
    @inline(__always)
    static func bind(
        _ tag: UInt8, _ payload: UnsafeRawPointer, to statement: OpaquePointer, at index: Int32
    ) -> Int32 {
        if isInteger(tag) { return sqlite3_bind_int64(statement, index, readInteger(tag, payload)) }
        switch tag {
        case null: return sqlite3_bind_null(statement, index)
        case real, dateReal:
            return sqlite3_bind_double(statement, index, payload.loadUnaligned(as: Double.self))
        case shortText, longText, dateText:
            let text = bytes(tag, payload)
            return sqlite3_bind_text64(
                statement, index, text.baseAddress?.assumingMemoryBound(to: CChar.self),
                sqlite3_uint64(text.count), shellac_static(), UInt8(SQLITE_UTF8))
        default:
            let blob = bytes(tag, payload)
            if blob.count == 0 { return sqlite3_bind_zeroblob(statement, index, 0) }
            return sqlite3_bind_blob64(
                statement, index, blob.baseAddress, sqlite3_uint64(blob.count), shellac_static())
        }
    }
}
