// Very many keys, as one value.

extension KeyCondition.Keys {
    /// The most keys that are parameters of their own: with more of them, SQLite's limit is near.
    private static var mostParameters: Int { 1000 }

    /// A JSON array of the keys, where there are very many of them: `json_each` makes rows of it again.
    ///
    /// Only integers and texts are the same values then. SQLite ends the texts of JSON at a NUL.
    var json: DatabaseValue? {
        guard case .values(let values) = self, values.count > Self.mostParameters, Self.hasJSON else {
            return nil
        }
        var json: [UInt8] = [UInt8(ascii: "[")]
        json.reserveCapacity(values.count * 12)
        for (index, value) in values.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            switch value.storage {
            case .int64(let integer): json.append(contentsOf: "\(integer)".utf8)
            case .string(let text): guard Self.append(text, to: &json) else { return nil }
            default: return nil
            }
        }
        json.append(UInt8(ascii: "]"))
        return String(decoding: json, as: UTF8.self).databaseValue
    }

    private static let hasJSON =
        Features.versionNumber >= 3_038_000
        ? !Features.isCompiled(with: "OMIT_JSON") : Features.isCompiled(with: "ENABLE_JSON1")

    /// Appends a text, unless it has a NUL in it.
    private static func append(_ text: String, to json: inout [UInt8]) -> Bool {
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
}
