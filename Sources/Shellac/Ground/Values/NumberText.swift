// Checks whether a text is a complete decimal number, with optional sign, point and exponent.

extension Substring.UTF8View {
    /// Whether the bytes as a whole are a number: digits, with an optional sign, point and
    /// exponent.
    var isNumber: Bool {
        var rest = self
        func skipDigits() -> Int {
            let count = rest.count
            rest = rest.drop { 48...57 ~= $0 }
            return count - rest.count
        }
        func skip(_ characters: UInt8...) -> Bool {
            guard let first = rest.first, characters.contains(first) else { return false }
            rest.removeFirst()
            return true
        }
        let (plus, minus) = (UInt8(ascii: "+"), UInt8(ascii: "-"))
        _ = skip(plus, minus)
        var digits = skipDigits()
        if skip(UInt8(ascii: ".")) { digits += skipDigits() }
        guard digits > 0 else { return false }
        if skip(UInt8(ascii: "e"), UInt8(ascii: "E")) {
            _ = skip(plus, minus)
            guard skipDigits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
