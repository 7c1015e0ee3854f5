/// The conversion of CSV texts to numbers.
enum CSVNumber {
    /// Returns a real number, or the unchanged text, for a column with a numeric affinity: SQLite
    /// converts the text.
    @inline(__always)
    static func real(_ utf8: UnsafeBufferPointer<UInt8>) -> ValueView {
        let hasFraction = utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
        guard hasFraction, utf8.first.map({ $0 < 58 }) == true, let real = number(utf8), real.isFinite else {
            return .text(utf8)
        }
        return .real(real)
    }

    /// Returns a number if it is written as exports write it, or else the text, for a column
    /// without conversion.
    static func canonical(_ utf8: UnsafeBufferPointer<UInt8>) -> ValueView {
        // The longest number has 24 characters.
        guard let first = utf8.first, first == UInt8(ascii: "-") || 48...57 ~= first, utf8.count < 32 else {
            return .text(utf8)
        }
        var written: [UInt8] = []
        if let integer = Int64(String(decoding: utf8, as: UTF8.self)) {
            JSONText.append(integer, to: &written)
            return written.elementsEqual(utf8) ? .integer(integer) : .text(utf8)
        }
        guard let real = number(utf8) else { return .text(utf8) }
        JSONText.append(real, to: &written)
        return written.elementsEqual(utf8) ? .real(real) : .text(utf8)
    }

    private static func number(_ utf8: UnsafeBufferPointer<UInt8>) -> Double? {
        let text = Substring(decoding: utf8, as: UTF8.self)
        return text.utf8.isNumber ? Double(text) : nil
    }
}
