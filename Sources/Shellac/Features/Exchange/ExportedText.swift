// Encodes database values as JSON or CSV text for exports.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The JSON form of values.
package enum JSONText {
    /// Returns a value as an export writes it.
    package static func text(_ value: DatabaseValue) -> String {
        var json: [UInt8] = []
        value.withView { append($0, to: &json) }
        return String(decoding: json, as: UTF8.self)
    }

    static func append(_ value: ValueView, to json: inout [UInt8]) {
        switch value {
        case .null: json.append(contentsOf: "null".utf8)
        case .integer(let integer): append(integer, to: &json)
        case .real(let real): append(real, to: &json)
        case .text(let utf8): append(utf8, to: &json)
        case .blob(let bytes):
            json.append(contentsOf: JSONBlob.start)
            json.append(contentsOf: Data(bytes).base64EncodedData())
            json.append(contentsOf: JSONBlob.end)
        }
    }

    static func append(_ integer: Int64, to text: inout [UInt8]) {
        if 0..<10 ~= integer { return text.append(48 + UInt8(integer)) }
        var magnitude = integer.magnitude
        if integer < 0 { text.append(UInt8(ascii: "-")) }
        let start = text.count
        while magnitude > 0 {
            text.append(48 + UInt8(magnitude % 10))
            magnitude /= 10
        }
        text[start...].reverse()
    }

    /// Appends a real number with all its digits. It always differs from an integer.
    static func append(_ real: Double, to text: inout [UInt8]) {
        if real.isInfinite { return text.append(contentsOf: (real < 0 ? "-9e999" : "9e999").utf8) }
        text.append(contentsOf: "\(real)".utf8)
    }

    /// Appends a quoted text.
    static func append(_ utf8: UnsafeBufferPointer<UInt8>, to json: inout [UInt8]) {
        json.append(UInt8(ascii: "\""))
        var start = 0
        for index in utf8.indices {
            let byte = utf8[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            json.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
            start = index + 1
            json.append(UInt8(ascii: "\\"))
            switch byte {
            case 0x0A: json.append(UInt8(ascii: "n"))
            case 0x0D: json.append(UInt8(ascii: "r"))
            case 0x09: json.append(UInt8(ascii: "t"))
            case 0..<0x20:
                json.append(contentsOf: "u00".utf8)
                for digit in [byte >> 4, byte & 15] { json.append(digit + (digit < 10 ? 48 : 87)) }
            default: json.append(byte)
            }
        }
        json.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        json.append(UInt8(ascii: "\""))
    }
}

extension ValueView {
    /// Whether this is a text that is not UTF-8.
    var isInvalidText: Bool {
        guard case .text(let utf8) = self else { return false }
        return utf8.reduce(0 as UInt8) { $0 | $1 } >= 0x80 && String(validating: utf8, as: UTF8.self) == nil
    }
}

extension CSVStyle {
    /// Appends a value.
    ///
    /// - Parameter isAny: Whether the column has no conversion, so that a text that looks like a
    ///   number is quoted.
    /// - Returns: Whether the value is a number that equals the word for NULL. It is quoted, and is
    ///   read as a number only into a column that converts it.
    func append(_ value: ValueView, isAny: Bool, to csv: inout [UInt8]) -> Bool {
        let start = csv.count
        switch value {
        case .null: if let null { csv.append(contentsOf: null) } else { csv.append(contentsOf: "\"\"".utf8) }
        case .integer(let integer): JSONText.append(integer, to: &csv)
        case .real(let real): JSONText.append(real, to: &csv)
        case .text(let utf8): append(utf8, isAny: isAny, to: &csv)
        case .blob(let bytes):
            csv.append(contentsOf: "x'".utf8)
            for byte in bytes {
                for digit in [byte >> 4, byte & 15] { csv.append(digit + (digit < 10 ? 48 : 55)) }
            }
            csv.append(UInt8(ascii: "'"))
        }
        guard let null, csv.count - start == null.count, csv[start...].elementsEqual(null) else {
            return false
        }
        switch value {
        case .integer, .real:
            csv.insert(Self.quote, at: start)
            csv.append(Self.quote)
            return true
        // In quotes, it would be a text.
        case .blob: csv[start] = UInt8(ascii: "X")
        case .null, .text: break
        }
        return false
    }

    /// Appends a text, in quotes if it would be read differently without them.
    func append(_ utf8: UnsafeBufferPointer<UInt8>, isAny: Bool, to csv: inout [UInt8]) {
        let separator = separator
        let isSpecial =
            utf8.contains { $0 == separator || Self.endsValue($0) } || utf8.isEmpty
            || null.map { utf8.elementsEqual($0) } ?? false || Self.looksLikeBlob(utf8) || utf8.first == 0xEF
            || isAny && Self.looksLikeNumber(utf8)
        guard isSpecial else { return csv.append(contentsOf: utf8) }
        csv.append(Self.quote)
        for byte in utf8 {
            if byte == Self.quote { csv.append(Self.quote) }
            csv.append(byte)
        }
        csv.append(Self.quote)
    }

    private static func looksLikeBlob(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        utf8.count >= 3 && utf8[0] | 0x20 == UInt8(ascii: "x") && utf8[1] == UInt8(ascii: "'")
    }

    private static func looksLikeNumber(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        if case .text = CSVNumber.canonical(utf8) { false } else { true }
    }
}
