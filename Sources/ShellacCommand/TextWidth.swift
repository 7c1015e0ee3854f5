/// The number of terminal columns that a text takes.
enum TextWidth {
    static func of(_ text: String) -> Int {
        var utf8 = text.utf8.makeIterator()
        var isPlain = true
        var count = 0
        while let byte = utf8.next() {
            count += 1
            if byte >= 0x80 {
                isPlain = false
                break
            }
        }
        return isPlain ? count : text.reduce(0) { $0 + of($1) }
    }

    /// Returns the width of a character. If it has several scalars, such as a letter with an accent
    /// or an emoji of a family, it is that of its widest scalar.
    static func of(_ character: Character) -> Int {
        var width = 0
        for scalar in character.unicodeScalars {
            // This scalar selects the wide form of the character before it.
            width = max(width, scalar.value == 0xFE0F ? 2 : of(scalar))
        }
        return width
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // The wide ranges of "East Asian Width", and emoji.
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
            0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6,
            0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return scalar.properties.isEmojiPresentation ? 2 : 1
        }
    }

    /// Returns a text in which control characters are written out. So the content of a database
    /// neither breaks a line of a table, nor controls a terminal.
    static func visible(_ text: String) -> String {
        let hasControl = text.unicodeScalars.contains(where: isControl)
        guard hasControl else { return text }
        var visible = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": visible += "\\n"
            case "\r": visible += "\\r"
            case "\t": visible += "\\t"
            case _ where isControl(scalar):
                visible += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            default: visible.unicodeScalars.append(scalar)
            }
        }
        return visible
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        // Characters that change the direction of a line are as bad.
        scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || 0x202A...0x202E ~= scalar.value
            || 0x2066...0x2069 ~= scalar.value || scalar.value == 0x2028 || scalar.value == 0x2029
    }

    /// Returns a text in lines that fit, broken between words as far as possible.
    ///
    /// - Parameter indentation: The columns that each line but the first leaves free.
    static func wrapped(_ text: String, to width: Int, indentation: Int = 0) -> [String] {
        guard of(text) > width else { return [text] }
        var lines: [String] = []
        var (line, used) = ("", 0)
        var room: Int { max(lines.isEmpty ? width : width - indentation, 2) }
        func end() {
            lines.append(line)
            (line, used) = ("", 0)
        }
        for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            let length = of(String(word))
            if index > 0, used + 1 + length <= room || line.isEmpty {
                if used < room { (line, used) = (line + " ", used + 1) }
            } else if index > 0 {
                end()
            }
            if used + length <= room {
                (line, used) = (line + word, used + length)
                continue
            }
            for character in word {
                let next = of(character)
                if used + next > room { end() }
                line.append(character)
                used += next
            }
        }
        end()
        return lines
    }

    /// Returns as much of a text as fits, with an ellipsis if that is not all.
    static func cut(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        var (cut, used) = ("", 0)
        for character in text {
            let next = of(character)
            if used + next > width - 1 { break }
            cut.append(character)
            used += next
        }
        return cut + (width > 0 ? "…" : "")
    }
}
