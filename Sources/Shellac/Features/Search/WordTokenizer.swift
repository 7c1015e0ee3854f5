/// The tokenizer `words`: it splits a text into folded words, in every script.
///
/// If a script has blanks between words, a token is a word. In scripts without them, such as
/// Chinese and Thai, tokens are pairs of neighbouring characters, and then the last character
/// alone. The tokens of 東京都 are 東京, 京都 and 都. So each character has a token that begins
/// with it, and tokens and characters have the same positions.
///
/// A text of several characters is then found as a phrase of its pairs. A single character is found
/// as the prefix of a token. That is why a query leaves out the last character of its last run: the
/// text may go on there.
final class WordTokenizer {
    private let characters: WordCharacters
    private let keepsDiacritics: Bool
    /// The token that is being made, if it is not a piece of the text.
    private var token: [UInt8] = []
    /// The last two characters of a run, if they are not pieces of the text.
    private var previousBytes: [UInt8] = []
    private var unitBytes: [UInt8] = []

    init(keepsDiacritics: Bool) {
        self.keepsDiacritics = keepsDiacritics
        characters = keepsDiacritics ? .keeping : .folding
    }

    typealias Text = UnsafeBufferPointer<UInt8>

    /// A character of a run: a letter with its marks.
    private struct Unit {
        var start: Int
        var end: Int
        /// Whether the bytes of the text are stored as they are.
        var isPlain = true
    }

    /// A scalar of a text. Invalid bytes are scalars that separate words.
    @inline(__always)
    private func scalar(of text: Text, at place: Int) -> (value: UInt32, end: Int) {
        let byte = text[place]
        if byte < 0x80 { return (UInt32(byte), place + 1) }
        func next(_ offset: Int) -> UInt32? {
            guard place + offset < text.count, text[place + offset] & 0xC0 == 0x80 else { return nil }
            return UInt32(text[place + offset] & 0x3F)
        }
        if byte >= 0xE0, byte < 0xF0, let second = next(1), let third = next(2) {
            let value = UInt32(byte & 0x0F) << 12 | second << 6 | third
            if value >= 0x800, value & 0xF800 != 0xD800 { return (value, place + 3) }
        } else if byte >= 0xC2, byte < 0xE0, let second = next(1) {
            return (UInt32(byte & 0x1F) << 6 | second, place + 2)
        } else if byte >= 0xF0, byte < 0xF5, let second = next(1), let third = next(2), let fourth = next(3) {
            let value = UInt32(byte & 0x07) << 18 | second << 12 | third << 6 | fourth
            if value >= 0x10000, value < 0x110000 { return (value, place + 4) }
        }
        return (0xFFFD, place + 1)
    }

    /// The run of characters that is being read, in a script without blanks.
    private struct Run {
        /// The last character.
        var unit = Unit(start: 0, end: 0)
        var count = 0
        /// Whether the run has ended, and its last character is a token only if another one
        /// follows.
        var isHeld = false
    }

    /// Splits a text.
    ///
    /// - Parameters:
    ///   - text: The text, in UTF-8.
    ///   - isQuery: Whether the text is searched for, instead of searched in.
    ///   - emit: Takes a token, and its range in the text. It returns an SQLite code, and any other
    ///     than 0 ends the work.
    /// - Returns: The last code.
    @inline(__always)
    func tokenize(
        _ text: Text, isQuery: Bool, _ emit: (_ token: Text, _ start: Int, _ end: Int) -> Int32
    ) -> Int32 {
        characters.ascii.withUnsafeBufferPointer { ascii in
            var (place, code, run): (Int, Int32, Run) = (0, 0, Run())
            while place < text.count {
                let (value, end) = scalar(of: text, at: place)
                let kind =
                    value < 0x80
                    ? ascii[Int(value)] == 0 ? .separator : .word : characters.kind(value)
                if kind == .dense {
                    code = release(&run, text, emit)
                    if code != 0 { return code }
                    let unit = readUnit(text, value, place, end)
                    if run.count > 0 {
                        code = emitPair(text, run.unit, unit, emit)
                        if code != 0 { return code }
                    }
                    if !unit.isPlain { swap(&previousBytes, &unitBytes) }
                    run.unit = unit
                    run.count += 1
                    place = unit.end
                    continue
                }
                code = finish(&run, text, isQuery, emit)
                if code == 0, kind == .word {
                    code = release(&run, text, emit)
                    if code == 0 { code = readWord(text, &place, ascii, emit) }
                } else {
                    place = end
                }
                if code != 0 { return code }
            }
            return finish(&run, text, isQuery, emit)
        }
    }

    // MARK: - Words

    /// Reads a word, and emits it.
    @inline(__always)
    private func readWord(
        _ text: Text, _ place: inout Int, _ ascii: UnsafeBufferPointer<UInt8>,
        _ emit: (Text, Int, Int) -> Int32
    ) -> Int32 {
        let start = place
        // As long as the word is a piece of the text, nothing is copied.
        var isPlain = true
        func copy(upTo end: Int) {
            guard isPlain else { return }
            isPlain = false
            token.removeAll(keepingCapacity: true)
            token.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
        }
        var at = place
        reading: while at < text.count {
            let byte = text[at]
            if byte < 0x80 {
                let folded = ascii[Int(byte)]
                if folded == 0 { break }
                if folded != byte { copy(upTo: at) }
                if !isPlain { token.append(folded) }
                at += 1
                continue
            }
            let (value, end) = scalar(of: text, at: at)
            switch characters.kind(value) {
            case .separator, .dense: break reading
            case .diacritic where !keepsDiacritics, .ignored: copy(upTo: at)
            case .word, .mark, .diacritic:
                let folding = characters.folding(value)
                if folding != 0 {
                    copy(upTo: at)
                    characters.append(folding, to: &token)
                } else if !isPlain {
                    token.append(contentsOf: UnsafeBufferPointer(rebasing: text[at..<end]))
                }
            }
            at = end
        }
        place = at
        if isPlain { return emit(UnsafeBufferPointer(rebasing: text[start..<at]), start, at) }
        return token.withUnsafeBufferPointer { $0.isEmpty ? 0 : emit($0, start, at) }
    }

    // MARK: - Runs of characters

    /// Reads a letter with its marks. Its bytes are in `unitBytes` if they differ from the text.
    @inline(__always)
    private func readUnit(_ text: Text, _ value: UInt32, _ start: Int, _ end: Int) -> Unit {
        let folding = characters.folding(value)
        if folding == 0, stands(text, upTo: end) { return Unit(start: start, end: end) }
        return readLongUnit(text, value, folding, start, end)
    }

    /// Whether a letter has no mark behind it.
    @inline(__always)
    private func stands(_ text: Text, upTo end: Int) -> Bool {
        if end >= text.count || text[end] < 0xC2 { return true }
        // Ideographs from U+4000 to U+9FFF begin with these bytes.
        if (0xE4...0xE9).contains(text[end]) { return true }
        let (next, _) = scalar(of: text, at: end)
        switch characters.kind(next) {
        case .dense: return !(0x1161...0x11C2).contains(next)
        case .word, .separator: return true
        case .mark, .diacritic, .ignored: return false
        }
    }

    @inline(never)
    private func readLongUnit(
        _ text: Text, _ value: UInt32, _ folding: UInt16, _ start: Int, _ end: Int
    ) -> Unit {
        var unit = Unit(start: start, end: end, isPlain: folding == 0)
        // The letter, as long as a mark could still become a part of it.
        var letter: UInt32? = folding == 0 ? value : characters.onlyScalar(folding)
        unitBytes.removeAll(keepingCapacity: true)
        if folding == 0 { append(value) } else { characters.append(folding, to: &unitBytes) }
        while unit.end < text.count {
            let (mark, end) = scalar(of: text, at: unit.end)
            let kind = characters.kind(mark)
            let folded = characters.folding(mark)
            let plainMark = folded == 0 ? mark : characters.onlyScalar(folded)
            if let base = letter, let plainMark, let whole = Self.composed(base, plainMark) {
                unitBytes.removeAll(keepingCapacity: true)
                append(whole)
                (letter, unit.isPlain) = (whole, false)
            } else if kind == .mark || kind == .diacritic && keepsDiacritics {
                if folded == 0 {
                    append(mark)
                } else {
                    characters.append(folded, to: &unitBytes)
                    unit.isPlain = false
                }
                letter = nil
            } else if kind == .diacritic || kind == .ignored {
                unit.isPlain = false
            } else {
                break
            }
            unit.end = end
        }
        return unit
    }

    private func append(_ scalar: UInt32) {
        guard let scalar = Unicode.Scalar(scalar) else { return }
        unitBytes.append(contentsOf: String(scalar).utf8)
    }

    /// Returns the letter that two characters are together: a kana with a sound mark, or the parts
    /// of a Hangul syllable. Nil if they are no letter.
    private static func composed(_ base: UInt32, _ mark: UInt32) -> UInt32? {
        switch mark {
        case 0x3099:
            switch base {
            case 0x3046, 0x30A6: return base + 0x4E
            case 0x304B...0x3062, 0x30AB...0x30C2: return base % 2 == 1 ? base + 1 : nil
            case 0x3064...0x3068, 0x30C4...0x30C8: return base % 2 == 0 ? base + 1 : nil
            case 0x306F...0x307D, 0x30CF...0x30DD: return base % 3 == 0 ? base + 1 : nil
            case 0x30EF...0x30F2: return base + 8
            case 0x309D, 0x30FD: return base + 1
            default: return nil
            }
        case 0x309A:
            switch base {
            case 0x306F...0x307D, 0x30CF...0x30DD: return base % 3 == 0 ? base + 2 : nil
            default: return nil
            }
        // See "Conjoining Jamo Behavior" in the Unicode standard.
        case 0x1161...0x1175:
            guard (0x1100...0x1112).contains(base) else { return nil }
            return 0xAC00 + ((base - 0x1100) * 21 + mark - 0x1161) * 28
        case 0x11A8...0x11C2:
            guard (0xAC00...0xD7A3).contains(base), (base - 0xAC00) % 28 == 0 else { return nil }
            return base + mark - 0x11A7
        default: return nil
        }
    }

    /// Emits two neighbouring characters.
    @inline(__always)
    private func emitPair(
        _ text: Text, _ first: Unit, _ second: Unit, _ emit: (Text, Int, Int) -> Int32
    ) -> Int32 {
        if first.isPlain, second.isPlain {
            return emit(
                UnsafeBufferPointer(rebasing: text[first.start..<second.end]), first.start, second.end)
        }
        token.removeAll(keepingCapacity: true)
        append(first, of: text, previousBytes)
        append(second, of: text, unitBytes)
        return token.withUnsafeBufferPointer { emit($0, first.start, second.end) }
    }

    private func append(_ unit: Unit, of text: Text, _ bytes: [UInt8]) {
        if unit.isPlain {
            token.append(contentsOf: UnsafeBufferPointer(rebasing: text[unit.start..<unit.end]))
        } else {
            token.append(contentsOf: bytes)
        }
    }

    /// Ends a run, whose last character is a token of its own.
    @inline(__always)
    private func finish(
        _ run: inout Run, _ text: Text, _ isQuery: Bool, _ emit: (Text, Int, Int) -> Int32
    ) -> Int32 {
        guard run.count > 0 else { return 0 }
        run.isHeld = true
        let isOfPairs = run.count > 1
        run.count = 0
        return isQuery && isOfPairs ? 0 : release(&run, text, emit)
    }

    /// Emits the last character of a run that has ended, if that was put off.
    @inline(__always)
    private func release(_ run: inout Run, _ text: Text, _ emit: (Text, Int, Int) -> Int32) -> Int32 {
        guard run.isHeld else { return 0 }
        run.isHeld = false
        if run.unit.isPlain {
            return emit(
                UnsafeBufferPointer(rebasing: text[run.unit.start..<run.unit.end]), run.unit.start,
                run.unit.end)
        }
        return previousBytes.withUnsafeBufferPointer { emit($0, run.unit.start, run.unit.end) }
    }
}

extension WordTokenizer {
    /// Whether a token of a query is a single character of a script without blanks.
    func isCharacter(_ text: Text, _ token: Range<Int>) -> Bool {
        let (value, end) = scalar(of: text, at: token.lowerBound)
        guard characters.kind(value) == .dense else { return false }
        return readUnit(text, value, token.lowerBound, end).end == token.upperBound
    }
}
