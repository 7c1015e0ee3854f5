// Parses JSON lines or a JSON array into imported rows, one object per row.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A reader of JSON rows: an object for each row, one after the other, or in an array.
final class JSONLinesReader: RowReader {
    let bytes: ByteReader
    private(set) var row = ImportedRow()
    private(set) var names: [String]? = []
    private(set) var generation = 0
    private(set) var rowNumber = 0
    private(set) var line = 1

    private var currentLine = 1
    private var isAtStart = true
    private var isArray = false
    private var isAtEnd = false
    /// The keys of the previous row, which the next row mostly has, too.
    private var keys: [[UInt8]] = []
    private var key: [UInt8] = []
    /// Whether the source of a text is copied to the row's bytes, unchanged.
    private var isCopying = false

    private static var deepest: Int { 1_000 }

    init(_ source: ExchangeSource) throws { bytes = try ByteReader(source) }

    func next() throws -> Bool {
        if isAtEnd { return false }
        if isAtStart { try begin() }
        try skipBlanks()
        guard let byte = try bytes.peek() else {
            if isArray { throw error("the array is not closed") }
            isAtEnd = true
            return false
        }
        if isArray, byte == UInt8(ascii: "]") {
            _ = try bytes.next()
            try skipBlanks()
            isAtEnd = true
            if try bytes.peek() != nil {
                throw ExchangeError(line: currentLine, "there is text after the array")
            }
            return false
        }
        if isArray, rowNumber > 0 {
            try expect(",", "between two rows")
            try skipBlanks()
        }
        line = currentLine
        rowNumber += 1
        row.removeAll()
        key.removeAll()
        try readObject()
        try checkTexts()
        return true
    }

    private func begin() throws {
        isAtStart = false
        try bytes.skipByteOrderMark()
        try skipBlanks()
        if try bytes.peek() == UInt8(ascii: "[") {
            _ = try bytes.next()
            isArray = true
        }
    }

    // MARK: - Objects

    private func readObject() throws {
        try expect("{", "at the beginning of a row")
        var (index, others): (Int, [[UInt8]]?) = (0, nil)
        try skipBlanks()
        if try bytes.peek() == UInt8(ascii: "}") {
            _ = try bytes.next()
        } else {
            while true {
                try skipBlanks()
                try expect("\"", "at the beginning of a key")
                var text: [UInt8] = []
                swap(&text, &key)
                text.removeAll(keepingCapacity: true)
                try readString(into: &text)
                key = text
                if others == nil, index >= keys.count || keys[index] != key { others = Array(keys[..<index]) }
                others?.append(key)
                try skipBlanks()
                try expect(":", "behind a key")
                try skipBlanks()
                try readValue()
                index += 1
                try skipBlanks()
                let byte = try bytes.next()
                if byte == UInt8(ascii: "}") { break }
                guard byte == UInt8(ascii: ",") else {
                    throw unexpected(byte, "\",\" or \"}\" after a value")
                }
            }
        }
        if others == nil, index < keys.count { others = Array(keys[..<index]) }
        guard let others else { return }
        keys = others
        let names = others.map { String(decoding: $0, as: UTF8.self) }
        var known: Set<CaseInsensitiveName> = []
        for name in names where !known.insert(CaseInsensitiveName(name)).inserted {
            throw error(column: name, "the object has this key twice")
        }
        self.names = names
        generation += 1
    }

    private func readValue() throws {
        let start = row.bytes.count
        switch try bytes.peek() {
        case UInt8(ascii: "\""):
            _ = try bytes.next()
            try readString(into: &row.bytes)
            row.values.append(.text(start..<row.bytes.count))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try copyValue(depth: 0)
            let range = start..<row.bytes.count
            if let blob = try blob(row.bytes[range]) {
                row.bytes.replaceSubrange(range, with: blob)
                row.values.append(.blob(start..<row.bytes.count))
            } else {
                row.values.append(.text(range))
            }
        case UInt8(ascii: "n"): row.values.append(try readWord("null", .null))
        case UInt8(ascii: "t"): row.values.append(try readWord("true", .integer(1)))
        case UInt8(ascii: "f"): row.values.append(try readWord("false", .integer(0)))
        default: row.values.append(try readNumber())
        }
    }

    private func readWord(_ word: String, _ value: ImportedRow.Value) throws -> ImportedRow.Value {
        for expected in word.utf8 {
            let byte = try bytes.next()
            guard byte == expected else { throw unexpected(byte, word) }
        }
        return value
    }

    /// Reads a number into the row's bytes, as it is written.
    private func readNumber() throws -> ImportedRow.Value {
        let start = row.bytes.count
        while try !bytes.appendBytes(to: &row.bytes, until: { !JSONNumber.mayHave($0) }) {}
        let range = start..<row.bytes.count
        if range.isEmpty { throw unexpected(try bytes.peek(), "a value") }
        let text = String(decoding: row.bytes[range], as: UTF8.self)
        switch JSONNumber(text) {
        case .integer(let integer): return .integer(integer)
        case .real(let real): return .real(real, range)
        case .long:
            row.hasLongNumber = true
            return .longNumber(range)
        case nil: throw error(column: keyName, "\(text) is not a number")
        }
    }

    // MARK: - Texts

    /// Reads a string whose opening quote was read.
    private func readString(into text: inout [UInt8]) throws {
        repeat {
            while try !bytes.appendBytes(to: &text, until: Self.endsPlainText) {}
        } while try !endsString(into: &text)
    }

    /// Whether a byte has a special meaning in a string.
    private static func endsPlainText(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
    }

    /// Reads an escape of a string, or its end. Returns whether it is the end.
    private func endsString(into text: inout [UInt8]) throws -> Bool {
        switch try take() {
        case UInt8(ascii: "\""): return true
        case UInt8(ascii: "\\"):
            try readEscape(into: &text)
            return false
        case nil: throw error(column: keyName, "a text is not closed")
        default:
            throw error(column: keyName, "there is a line break, or another control character, in a text")
        }
    }

    private func readEscape(into text: inout [UInt8]) throws {
        let byte = try take()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): if let byte { text.append(byte) }
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "u"):
            var code = UInt32(try readHex())
            if 0xD800..<0xDC00 ~= code {
                guard try take() == UInt8(ascii: "\\"), try take() == UInt8(ascii: "u"),
                    case let low = UInt32(try readHex()), 0xDC00..<0xE000 ~= low
                else { throw error(column: keyName, "a surrogate has no other half") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw error(column: keyName, "a surrogate has no other half")
            }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: throw unexpected(byte, "one of \"\\/bfnrtu after a backslash")
        }
    }

    /// Reads the next byte of a text. It is copied if the text stays JSON.
    private func take() throws -> UInt8? {
        let byte = try bytes.next()
        if isCopying, let byte { row.bytes.append(byte) }
        return byte
    }

    private func readHex() throws -> UInt16 {
        var code: UInt16 = 0
        for _ in 0..<4 {
            let byte = try take()
            guard let byte, let digit = BlobLiteral.hexDigit(byte) else {
                throw unexpected(byte, "a hexadecimal digit")
            }
            code = code << 4 | UInt16(digit)
        }
        return code
    }

    // MARK: - Values that stay JSON

    /// Appends an array or an object to the row's bytes, as JSON without blanks.
    private func copyValue(depth: Int) throws {
        guard depth < Self.deepest else { throw error(column: keyName, "the value is nested too deeply") }
        switch try bytes.peek() {
        case UInt8(ascii: "{"): try copyList(to: "}", depth: depth, hasKeys: true)
        case UInt8(ascii: "["): try copyList(to: "]", depth: depth, hasKeys: false)
        case UInt8(ascii: "\""): try copyString()
        case UInt8(ascii: "n"): try copyWord("null")
        case UInt8(ascii: "t"): try copyWord("true")
        case UInt8(ascii: "f"): try copyWord("false")
        default:
            let hadLongNumber = row.hasLongNumber
            _ = try readNumber()
            row.hasLongNumber = hadLongNumber
        }
    }

    private func copyList(to end: Unicode.Scalar, depth: Int, hasKeys: Bool) throws {
        if let byte = try bytes.next() { row.bytes.append(byte) }
        let end = UInt8(ascii: end)
        try skipBlanks()
        if try bytes.peek() == end {
            _ = try bytes.next()
            row.bytes.append(end)
            return
        }
        while true {
            try skipBlanks()
            if hasKeys {
                guard try bytes.peek() == UInt8(ascii: "\"") else {
                    throw unexpected(try bytes.peek(), "a key")
                }
                try copyString()
                try skipBlanks()
                try expect(":", "behind a key")
                row.bytes.append(UInt8(ascii: ":"))
                try skipBlanks()
            }
            try copyValue(depth: depth + 1)
            try skipBlanks()
            let byte = try bytes.next()
            guard let byte, byte == end || byte == UInt8(ascii: ",") else {
                throw unexpected(byte, "\",\" or \"\(Character(Unicode.Scalar(end)))\" after a value")
            }
            row.bytes.append(byte)
            if byte == end { return }
        }
    }

    /// Copies a string with its quotes and escapes.
    private func copyString() throws {
        isCopying = true
        defer { isCopying = false }
        _ = try take()
        var escaped: [UInt8] = []
        repeat {
            while try !bytes.appendBytes(to: &row.bytes, until: Self.endsPlainText) {}
        } while try !endsString(into: &escaped)
    }

    /// Returns the bytes of a blob, from JSON without blanks. Nil for other JSON.
    private func blob(_ json: ArraySlice<UInt8>) throws -> Data? {
        guard let text = JSONBlob.text(json) else { return nil }
        guard text.contains(UInt8(ascii: "\\")) else { return JSONBlob.bytes(text) }
        // Other programs escape "/" and "+".
        let reader = try JSONLinesReader(.bytes(text + CollectionOfOne(UInt8(ascii: "\""))))
        var plain: [UInt8] = []
        try reader.readString(into: &plain)
        return JSONBlob.bytes(plain[...])
    }

    private func copyWord(_ word: String) throws {
        _ = try readWord(word, .null)
        row.bytes.append(contentsOf: word.utf8)
    }

    // MARK: - Bytes

    private func skipBlanks() throws {
        while let byte = try bytes.peek(), byte == 0x20 || 0x09...0x0D ~= byte {
            if byte == 0x0A { currentLine += 1 }
            _ = try bytes.next()
        }
    }

    private func expect(_ character: Unicode.Scalar, _ place: String) throws {
        let byte = try bytes.next()
        if byte != UInt8(ascii: character) { throw unexpected(byte, "\"\(Character(character))\" \(place)") }
    }

    private var keyName: String? { key.isEmpty ? nil : String(decoding: key, as: UTF8.self) }

    private func unexpected(_ byte: UInt8?, _ expected: String) -> ExchangeError {
        let found = byte.map { 0x21...0x7E ~= $0 ? "\"\(Character(Unicode.Scalar($0)))\"" : "the byte \($0)" }
        return error(column: keyName, "expected \(expected), found \(found ?? "the end")")
    }
}
