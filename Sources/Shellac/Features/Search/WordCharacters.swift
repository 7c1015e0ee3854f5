// The characters of the tokenizer `words`: to which kind each belongs, and what it is folded to.

/// The kinds and foldings of all characters, unpacked from ``WordTables`` for fast access.
///
/// Scalars up to U+1FFFF have an entry in two arrays. Beyond are ideographs, some of which are
/// compatible forms of others, and characters that no word contains.
final class WordCharacters: Sendable {
    /// A character's part in words.
    enum Kind: UInt8 {
        /// A character between words.
        case separator
        /// A letter, a digit or a number of a script that separates words.
        case word
        /// A letter of a script that does not separate words.
        case dense
        /// A mark that belongs to the letter before it.
        case mark
        /// A mark that is left out, unless the index keeps diacritics.
        case diacritic
        /// A character that is skipped.
        case ignored
    }

    /// The tables that keep diacritics, and those that leave them out.
    static let keeping = WordCharacters(keepsDiacritics: true)
    static let folding = WordCharacters(keepsDiacritics: false)

    /// The number of scalars in the arrays.
    static let limit = 0x20000

    private let kinds: [Kind]
    /// The place of the folding in `starts`, or 0 if a scalar stays as it is.
    private let places: [UInt16]
    private let starts: [UInt32]
    private let bytes: [UInt8]
    private let ideographs: [UInt32: UInt16]
    /// Bytes of ASCII: 0 between words, or the byte that is stored.
    let ascii: [UInt8]

    private init(keepsDiacritics: Bool) {
        let kinds = Self.unpackKinds()
        var places = [UInt16](repeating: 0, count: Self.limit)
        var (starts, bytes, ideographs): ([UInt32], [UInt8], [UInt32: UInt16]) = ([0, 0], [], [:])
        Self.unpackFoldings { scalar, folded in
            let kept = folded.filter {
                keepsDiacritics || $0 >= Self.limit || kinds[Int($0)] != .diacritic
            }
            for scalar in kept.compactMap(Unicode.Scalar.init) { bytes += Array(String(scalar).utf8) }
            let place = UInt16(starts.count - 1)
            starts.append(UInt32(bytes.count))
            if scalar < Self.limit { places[Int(scalar)] = place } else { ideographs[scalar] = place }
        }
        (self.kinds, self.places, self.starts, self.bytes) = (kinds, places, starts, bytes)
        self.ideographs = ideographs
        ascii = (0..<128).map { byte in
            guard kinds[byte] == .word else { return 0 }
            return (65...90).contains(byte) ? UInt8(byte) + 32 : UInt8(byte)
        }
    }

    private static func unpackKinds() -> [Kind] {
        var kinds = [Kind](repeating: .separator, count: limit)
        var reader = Base36Reader(WordTables.kinds)
        var place = 0
        while !reader.isAtEnd {
            place += Int(reader.number())
            reader.skip()
            let count = Int(reader.number())
            let kind: Kind
            switch reader.character() {
            case UInt8(ascii: "W"): kind = .word
            case UInt8(ascii: "D"): kind = .dense
            case UInt8(ascii: "M"): kind = .mark
            case UInt8(ascii: "A"): kind = .diacritic
            default: kind = .ignored
            }
            for scalar in place..<place + count { kinds[scalar] = kind }
            place += count
        }
        return kinds
    }

    private static func unpackFoldings(_ add: (_ scalar: UInt32, _ folded: [UInt32]) -> Void) {
        var reader = Base36Reader(WordTables.foldings)
        var scalar: UInt32 = 0
        while !reader.isAtEnd {
            scalar += reader.number()
            reader.skip()
            var (count, step): (UInt32, UInt32) = (1, 1)
            var folded = [reader.number()]
            var next = reader.character()
            if next == UInt8(ascii: "-") || next == UInt8(ascii: "+") {
                (count, step) = (folded[0], next == UInt8(ascii: "+") ? 2 : 1)
                folded = [reader.number()]
                next = reader.character()
            }
            while next == UInt8(ascii: ",") {
                folded.append(reader.number())
                next = reader.character()
            }
            for place in 0..<count {
                add(scalar + place * step, count == 1 ? folded : [folded[0] + place * step])
            }
        }
    }

    /// Returns the kind of a scalar.
    @inline(__always)
    func kind(_ scalar: UInt32) -> Kind {
        if scalar < Self.limit { return kinds.withUnsafeBufferPointer { $0[Int(scalar)] } }
        if scalar < 0x40000 { return .dense }
        return (0xE0100...0xE01EF).contains(scalar) ? .ignored : .separator
    }

    /// The folding of a scalar, or 0 if it stays as it is.
    @inline(__always)
    func folding(_ scalar: UInt32) -> UInt16 {
        if scalar < Self.limit { return places.withUnsafeBufferPointer { $0[Int(scalar)] } }
        return ideographs[scalar] ?? 0
    }

    /// Appends a folding to a token.
    func append(_ folding: UInt16, to token: inout [UInt8]) {
        let (start, end) = (Int(starts[Int(folding)]), Int(starts[Int(folding) + 1]))
        token.append(contentsOf: bytes[start..<end])
    }

    /// Returns the only scalar of a folding. Nil if it has several or none.
    func onlyScalar(_ folding: UInt16) -> UInt32? {
        let (start, end) = (Int(starts[Int(folding)]), Int(starts[Int(folding) + 1]))
        let scalars = String(decoding: bytes[start..<end], as: UTF8.self).unicodeScalars
        return scalars.count == 1 ? scalars.first?.value : nil
    }
}

/// A reader of numbers to the base of 36, with single characters between them.
private struct Base36Reader {
    private let text: StaticString
    private var place = 0

    init(_ text: StaticString) { self.text = text }

    var isAtEnd: Bool { place >= text.utf8CodeUnitCount }

    mutating func number() -> UInt32 {
        var number: UInt32 = 0
        while !isAtEnd {
            let byte = text.utf8Start[place]
            switch byte {
            case 48...57: number = number * 36 + UInt32(byte - 48)
            case 97...122: number = number * 36 + UInt32(byte - 87)
            default: return number
            }
            place += 1
        }
        return number
    }

    mutating func character() -> UInt8 {
        defer { place += 1 }
        return text.utf8Start[place]
    }

    mutating func skip() { place += 1 }
}
