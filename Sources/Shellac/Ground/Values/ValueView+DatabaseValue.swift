// Conversions between DatabaseValue and the uncopied forms: ValueView and PackedBytes.

extension ValueView {
    /// A copy of the value.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let integer): DatabaseValue(.int64(integer))
        case .real(let real): DatabaseValue(.double(real))
        case .text(let utf8): DatabaseValue(.string(String(decoding: utf8, as: UTF8.self)))
        case .blob(let bytes): DatabaseValue(.blob(.init(bytes)))
        }
    }
}

extension DatabaseValue {
    /// Calls a function with the value in place.
    @inline(__always)
    func withView<Result>(_ body: (ValueView) throws -> Result) rethrows -> Result {
        switch storage {
        case .null: try body(.null)
        case .int64(let integer): try body(.integer(integer))
        case .double(let real): try body(.real(real))
        case .string(var text): try text.withUTF8 { try body(.text($0)) }
        case .blob(let data): try data.withUnsafeBytes { try body(.blob($0)) }
        }
    }
}

extension PackedBytes {
    /// A copy of the values.
    var databaseValues: [DatabaseValue] {
        var values: [DatabaseValue] = []
        values.reserveCapacity(count)
        eachColumn { values.append($1.view.databaseValue) }
        return values
    }
}
