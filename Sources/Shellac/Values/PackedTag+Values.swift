// Values that are packed, and taken out again.

extension PackedTag {
    /// How many bytes a value takes at most, with room behind it.
    static func mostBytes(_ value: DatabaseValue) -> Int {
        switch value.storage {
        case .null, .int64, .double: 8
        case .string(let text): 12 + text.utf8.count
        case .blob(let data): 12 + data.count
        }
    }

    /// Writes a value, and returns its tag. There must be room for ``mostBytes(_:)``.
    static func write(_ value: DatabaseValue, to payload: inout UnsafeMutableRawPointer) -> UInt8 {
        switch value.storage {
        case .null: return null
        case .int64(let integer): return write(integer, to: &payload)
        case .double(let real): return write(real, to: &payload)
        case .string(var text):
            return text.withUTF8 { write(text: UnsafeRawBufferPointer($0), to: &payload) }
        case .blob(let data):
            return data.withUnsafeBytes { write(blob: $0, to: &payload) }
        }
    }

    /// A copy of a value.
    static func databaseValue(_ tag: UInt8, _ payload: UnsafeRawPointer) -> DatabaseValue {
        if isInteger(tag) { return DatabaseValue(.int64(readInteger(tag, payload))) }
        if isReal(tag) { return DatabaseValue(.double(payload.loadUnaligned(as: Double.self))) }
        if isText(tag) { return DatabaseValue(.string(String(decoding: bytes(tag, payload), as: UTF8.self))) }
        if isBlob(tag) { return DatabaseValue(.blob(.init(bytes(tag, payload)))) }
        return .null
    }

    /// A copy of the values of packed columns.
    static func databaseValues(_ bytes: UnsafeRawPointer, count: Int) -> [DatabaseValue] {
        var values: [DatabaseValue] = []
        values.reserveCapacity(count)
        eachColumn(bytes, count: count) { _, tag, payload in values.append(databaseValue(tag, payload)) }
        return values
    }
}
