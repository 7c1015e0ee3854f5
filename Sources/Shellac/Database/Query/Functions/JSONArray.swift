/// A JSON array of values, which `json_each` turns into rows again.
///
/// It passes very many values as one argument.
///
/// Only integers and texts keep their values in this form.
struct JSONArray {
    private var json: [UInt8] = [UInt8(ascii: "[")]
    private var isFirst = true

    static let isKnownToSQLite =
        Features.versionNumber >= 3_038_000
        ? !Features.isCompiled(with: "OMIT_JSON") : Features.isCompiled(with: "ENABLE_JSON1")

    /// Creates the array of the given values. Returns nil if a value is neither an integer nor a
    /// text, or if SQLite cannot read JSON.
    ///
    /// - Parameter width: The number of values per element. If it is more than one, each element is
    ///   an array.
    init?(_ values: [DatabaseValue], width: Int = 1) {
        guard Self.isKnownToSQLite else { return nil }
        json.reserveCapacity(values.count * 12)
        for (index, value) in values.enumerated() {
            if width > 1, index % width == 0 { begin() }
            guard append(value) else { return nil }
            if width > 1, index % width == width - 1 { end() }
        }
    }

    private mutating func separate() {
        if !isFirst { json.append(UInt8(ascii: ",")) }
        isFirst = false
    }

    private mutating func begin() {
        separate()
        json.append(UInt8(ascii: "["))
        isFirst = true
    }

    private mutating func end() { json.append(UInt8(ascii: "]")) }

    /// Appends a value. Returns false for a value that JSON cannot represent.
    private mutating func append(_ value: DatabaseValue) -> Bool {
        separate()
        switch value.storage {
        case .int64(let integer):
            json.append(contentsOf: "\(integer)".utf8)
            return true
        case .string(let text): return append(text)
        default: return false
        }
    }

    /// Appends a text. Returns false if it contains a NUL, because SQLite would end it there.
    private mutating func append(_ text: String) -> Bool {
        json.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0: return false
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): json += [UInt8(ascii: "\\"), byte]
            case 1..<32:
                let digits = Array("0123456789abcdef".utf8)
                json += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
        return true
    }

    var databaseValue: DatabaseValue {
        (String(decoding: json, as: UTF8.self) + "]").databaseValue
    }
}
