/// A JSON number, in the form that SQLite can store.
enum JSONNumber {
    case integer(Int64)
    case real(Double)
    /// An integer of more than 64 bits, or a number beyond the range of real ones: only a text can
    /// hold it.
    case long

    /// Parses a number, or returns nil if JSON has no such number.
    init?(_ text: String) {
        let utf8 = text[...].utf8
        let digits = utf8.first == UInt8(ascii: "-") ? utf8.dropFirst() : utf8
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { 48...57 ~= $0 } ?? false }
        // JSON has neither "+1" nor "01", nor "1.".
        guard isDigit(digits.first), digits.first != 48 || !isDigit(digits.dropFirst().first), utf8.isNumber,
            !Self.endsInPoint(digits)
        else { return nil }
        // An integer would lose the sign of "-0".
        if let integer = Int64(text), text != "-0" {
            self = .integer(integer)
        } else if text == "-0" || utf8.contains(where: { ".eE".utf8.contains($0) }), let real = Double(text),
            real.isFinite || digits.elementsEqual("9e999".utf8)
        {
            self = .real(real)
        } else {
            self = .long
        }
    }

    /// Whether a point has no digit after it.
    private static func endsInPoint(_ digits: Substring.UTF8View) -> Bool {
        guard let point = digits.firstIndex(of: UInt8(ascii: ".")) else { return false }
        let next = digits[digits.index(after: point)...].first
        return next.map { !(48...57 ~= $0) } ?? true
    }

    /// Whether a byte may be part of a number.
    static func mayHave(_ byte: UInt8) -> Bool {
        48...57 ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
            || byte | 0x20 == UInt8(ascii: "e")
    }
}
