import TestSupport
import Testing

@testable import Shellac

/// The tokens of the tokenizer `words`, and what they find.
@Suite("Words of texts in every script", .behaviour(126))
struct WordTokenizerTests {
    private func tokens(_ text: String, isQuery: Bool = false, keepsDiacritics: Bool = false) -> [String] {
        tokens(Array(text.utf8), isQuery: isQuery, keepsDiacritics: keepsDiacritics)
    }

    private func tokens(_ bytes: [UInt8], isQuery: Bool = false, keepsDiacritics: Bool = false) -> [String] {
        var tokens: [String] = []
        let tokenizer = WordTokenizer(keepsDiacritics: keepsDiacritics)
        bytes.withUnsafeBufferPointer { bytes in
            _ = tokenizer.tokenize(bytes, isQuery: isQuery) { token, start, end in
                #expect(0 <= start && start < end && end <= bytes.count)
                tokens.append(String(decoding: token, as: UTF8.self))
                return 0
            }
        }
        return tokens
    }

    @Test(
        "Words are folded",
        arguments: [
            ("The quick, brown FOX.", ["the", "quick", "brown", "fox"]),
            ("Größe GRÖSSE grosse", ["grosse", "grosse", "grosse"]),
            ("e\u{301}te\u{301} été ÉTÉ", ["ete", "ete", "ete"]),
            ("Σίσυφος ΣΊΣΥΦΟΣ", ["σισυφοσ", "σισυφοσ"]),
            ("ＡＢＣ１２ ﬁre ① m²", ["abc12", "fire", "1", "m2"]),
            ("٣٤ १२ 3.14", ["34", "12", "3", "14"]),
            ("Ёлка ёлка елка", ["елка", "елка", "елка"]),
            ("אָלֶף אלף", ["אלף", "אלף"]),
            ("مُحَمَّد محمد مـحـمـد", ["محمد", "محمد", "محمد"]),
            ("हिन्दी में", ["हिन्दी", "में"]),
            ("co\u{AD}operate zero\u{200D}width", ["cooperate", "zerowidth"]),
            ("don't e-mail a_b", ["don", "t", "e", "mail", "a", "b"]),
            ("", []), ("… — !?", []), ("\u{301}", []), ("😀 x", ["x"]),
        ])
    func folding(text: String, expected: [String]) {
        #expect(tokens(text) == expected)
        #expect(tokens(text, isQuery: true) == expected)
    }

    @Test(
        "Characters of scripts without blanks are pairs, and the last one is alone",
        arguments: [
            ("東京都", ["東京", "京都", "都"], ["東京", "京都"]),
            ("京", ["京"], ["京"]),
            ("京。", ["京"], ["京"]),
            ("東京 天気", ["東京", "京", "天気", "気"], ["東京", "京", "天気"]),
            ("私はBobです", ["私は", "は", "bob", "です", "す"], ["私は", "は", "bob", "です"]),
            ("은행에", ["은행", "행에", "에"], ["은행", "행에"]),
            ("ภาษา", ["ภา", "าษ", "ษา", "า"], ["ภา", "าษ", "ษา"]),
            ("ที่นี่", ["ที่นี่", "นี่"], ["ที่นี่"]),
            ("か\u{3099}き", ["がき", "き"], ["がき"]),
            ("ｶﾞｷ", ["ガキ", "キ"], ["ガキ"]),
            ("\u{1112}\u{1161}\u{11AB}글", ["한글", "글"], ["한글"]),
            ("𠮷野家", ["𠮷野", "野家", "家"], ["𠮷野", "野家"]),
            ("2024年", ["2024", "年"], ["2024", "年"]),
        ])
    func pairs(text: String, document: [String], query: [String]) {
        #expect(tokens(text) == document)
        #expect(tokens(text, isQuery: true) == query)
        #expect(tokens(text + "、", isQuery: true) == query)
    }

    @Test("Diacritics are kept where the index keeps them, however they are composed")
    func keptDiacritics() {
        #expect(tokens("é E\u{301} e", keepsDiacritics: true) == ["e\u{301}", "e\u{301}", "e"])
        #expect(tokens("Größe", keepsDiacritics: true) == ["gro\u{308}sse"])
        #expect(tokens("Ω\u{345}", keepsDiacritics: true).count == 1)
    }

    @Test("Invalid bytes separate words, and nothing reads past the end")
    func invalidBytes() {
        #expect(tokens([0x61, 0xFF, 0x62]) == ["a", "b"])
        #expect(tokens([0x61, 0xE4]) == ["a"])
        #expect(tokens([0xE4, 0xBA]) == [])
        #expect(tokens([0xC0, 0x80, 0x61]) == ["a"])
        #expect(tokens([0xED, 0xA0, 0x80, 0x61]) == ["a"])
        #expect(tokens([0xF4, 0x90, 0x80, 0x80, 0x61]) == ["a"])
        #expect(tokens([0x61, 0x00, 0x62]) == ["a", "b"])
        var generator = SeededGenerator(seed: 57)
        for _ in 0..<2_000 {
            let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // (The offsets are checked for each token.)
            _ = tokens(bytes)
            #expect(tokens(bytes, isQuery: true).count <= tokens(bytes).count)
        }
    }

    @Test("The tables of a version never change")
    func frozenTables() {
        // If this fails, the tables need another version, and the old ones must stay beside them.
        func sum(_ text: StaticString) -> UInt64 {
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount) {
                sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3
            }
            return sum
        }
        #expect(WordTables.version == 1)
        #expect(sum(WordTables.kinds) == 15_522_193_035_872_528_371)
        #expect(sum(WordTables.foldings) == 14_266_943_808_053_954_809)
    }

    @Test("The arguments name the version, and an unknown one is refused")
    func versions() throws {
        #expect(SearchTokenizer.words().sql == "'words' 'version' '1' 'diacritics' 'fold'")
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE VIRTUAL TABLE old USING fts5(a, tokenize='words version 1')")
            expectError(containing: "error in tokenizer constructor") {
                try db.execute(sql: "CREATE VIRTUAL TABLE new USING fts5(a, tokenize='words version 2')")
            }
        }
    }

    // MARK: - Against a scan

    /// Letters of twenty scripts: those with blanks between words, and those without.
    static let scripts: [(name: String, letters: [Character], isDense: Bool)] = [
        ("Latin", Array("abcdeéßøñ"), false), ("Greek", Array("αβγδεσ"), false),
        ("Cyrillic", Array("абвгдеёж"), false), ("Armenian", Array("աբգդե"), false),
        ("Hebrew", Array("אבגדה"), false), ("Arabic", Array("ابتثج"), false),
        ("Devanagari", Array("कखगघङ"), false), ("Bengali", Array("কখগঘঙ"), false),
        ("Tamil", Array("கஙசஞட"), false), ("Telugu", Array("కఖగఘఙ"), false),
        ("Georgian", Array("აბგდე"), false), ("Ethiopic", Array("ሀለሐመ"), false),
        ("Cherokee", Array("ᎠᎡᎢᎣ"), false),
        ("Han", Array("東京都天気中文检索"), true), ("Hiragana", Array("あいうえおがぎ"), true),
        ("Katakana", Array("アイウエオガー"), true), ("Hangul", Array("안녕하세요"), true),
        ("Thai", Array("กขคงจา"), true), ("Lao", Array("ກຂຄງຈາ"), true),
        ("Khmer", Array("កខគឃង"), true), ("Myanmar", Array("ကခဂဃင"), true),
    ]

    @Test(
        "Texts of twenty scripts are found by each word, pair and beginning, exactly where a scan finds them",
        arguments: SeededGenerator.seeds("SEARCH_TEXTS", count: 2))
    func scan(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        /// Runs of one script, folded, in the order of the text.
        typealias Text = [(run: [Character], isDense: Bool)]
        func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func fold(_ character: Character) -> Character {
            ["é": "e", "ñ": "n", "ё": "е"][character] ?? character
        }
        let texts: [Text] = (0..<60).map { _ in
            (0..<random(0...8)).map { _ in
                let script = Self.scripts[random(0...Self.scripts.count - 1)]
                return (
                    (0..<random(1...5)).map { _ in script.letters.randomElement(using: &generator) ?? "a" },
                    script.isDense
                )
            }
        }
        try DatabaseQueue().write { db throws in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT)")
            let index = FullTextIndex(table: "note", columns: ["body"])
            try db.create(fullText: index)
            for text in texts {
                let body = text.map { String($0.run) }.joined(separator: "。 ")
                try db.execute(sql: "INSERT INTO note (body) VALUES (?)", arguments: [body])
            }
            func found(_ query: SearchQuery) throws -> [Int] {
                try Int.fetchAll(
                    db, Table<Row>("note").matching(query, in: index).select(Column("id")).order(Column("id"))
                )
            }
            func scanned(_ matches: ([Character], Bool) -> Bool) -> [Int] {
                texts.indices.filter { texts[$0].contains { matches($0.run.map(fold), $0.isDense) } }.map {
                    $0 + 1
                }
            }
            func hasPart(_ run: [Character], _ part: [Character]) -> Bool {
                run.indices.contains { run[$0...].starts(with: part) }
            }
            var words = texts.flatMap { $0 }
            // Others, which few texts have.
            for script in Self.scripts {
                words.append(
                    (
                        (0..<2).map { _ in script.letters.randomElement(using: &generator) ?? "a" },
                        script.isDense
                    ))
            }
            for (run, isDense) in words {
                let run = run.map(fold)
                let text = String(run)
                if isDense {
                    for length in 1...run.count {
                        let part = Array(run.dropFirst(random(0...run.count - length)).prefix(length))
                        let expected = scanned { $1 && hasPart($0, part) }
                        #expect(try found(.words(String(part))) == expected, "seed \(seed): \(String(part))")
                        #expect(try found(.prefix(String(part))) == expected, "seed \(seed): \(String(part))")
                    }
                } else {
                    // ß becomes two letters.
                    let folded = text.replacing("ß", with: "ss")
                    #expect(
                        try found(.words(text))
                            == scanned { String($0).replacing("ß", with: "ss") == folded && !$1 },
                        "seed \(seed): \(text)")
                    let beginning = String(folded.prefix(random(1...folded.count)))
                    #expect(
                        try found(.prefix(beginning))
                            == scanned { String($0).replacing("ß", with: "ss").hasPrefix(beginning) && !$1 },
                        "seed \(seed): \(beginning)")
                }
            }
        }
    }

    // MARK: - Probes

    /// The tokenizers that find a probe: `w` for words, `u` for unicode61, `t` for trigram.
    @Test(
        "Each tokenizer finds what the table of the article says",
        arguments: [
            ("東京都の天気は晴れです", "京都", "w-"), ("東京都の天気は晴れです", "天気", "w-"),
            ("東京都の天気は晴れです", "晴れです", "w-t"), ("東京都の天気は晴れです", "都", "w-"),
            ("今日は京都へ行く", "京都", "w-"), ("สวัสดีชาวโลก ภาษาไทย", "ชาว", "w-t"),
            ("สวัสดีชาวโลก ภาษาไทย", "ภาษา", "w-t"), ("안녕하세요 세계", "안녕", "w-"), ("안녕하세요 세계", "세계", "wu"),
            ("中文全文检索很重要", "全文", "w-"), ("中文全文检索很重要", "检索", "w-"), ("Größe und Straße", "GRÖSSE", "w-"),
            ("Größe und Straße", "größe", "wut"), ("Größe und Straße", "strasse", "w-"),
            ("The quick brown fox", "fox", "wut"), ("The quick brown fox", "row", "-t"),
            ("हिन्दी में खोज", "खोज", "wut"), ("العربية لغة جميلة", "لغة", "wut"),
            ("Ελληνική γλώσσα", "γλωσσα", "w-"), ("Ελληνική γλώσσα", "ΓΛΏΣΣΑ", "wut"), ("Ёжик", "ежик", "w-"),
            ("crème brûlée", "creme", "wu"), ("ＦＵＬＬ width", "full", "w-"), ("ພາສາລາວ", "ລາວ", "w-t"),
            ("ភាសាខ្មែរ", "ភាសា", "wut"), ("မြန်မာဘာသာ", "ဘာသာ", "wut"), ("ガラス ｶﾞﾗｽ", "ガラス", "wut"),
            ("日本語の文章", "日本", "w-"), ("日本語の文章", "日本語の", "w-t"), ("日本語の文章", "語文", "--"),
            ("東京タワー", "タワー", "w-t"),
            ("がっこう", "か\u{3099}っこう", "w-"), ("한국어 검색", "검", "w-"), ("한국어 검색", "국어", "w-"),
            ("漢字かな", "字か", "w-"), ("iPhone15 Pro", "iphone15", "wut"), ("iPhone15 Pro", "15", "--"),
            ("version 2.0.1", "2.0", "wut"), ("e-mail", "email", "--"), ("e-mail", "e mail", "wut"),
            ("user@example.org", "example", "wut"), ("don't", "dont", "--"), ("don't", "don't", "wut"),
            ("naïve", "NAIVE", "wu"), ("İstanbul", "istanbul", "wu"), ("ﬁne", "fine", "w-"),
            ("Ⅷ", "viii", "w-"),
            ("Ångström", "angstrom", "wu"), ("smørrebrød", "smorrebrod", "--"), ("Łódź", "łódź", "wut"),
            ("שָׁלוֹם", "שלום", "w-"), ("مُحَمَّد", "محمد", "w-"), ("தமிழ் மொழி", "மொழி", "wut"),
            ("ქართული ენა", "ენა", "wut"), ("Հայերեն", "հայերեն", "wut"), ("cafe\u{301}", "café", "wu"),
            ("soft\u{AD}hyphen", "softhyphen", "w-"), ("👍 good", "good", "wut"), ("C++ code", "c++", "wut"),
        ])
    func probes(text: String, query: String, finders: String) throws {
        try DatabaseQueue().write { db throws in
            let tokenizers: [(letter: Character, tokenizer: SearchTokenizer)] = [
                ("w", .words()), ("u", .unicode61), ("t", .trigram),
            ]
            for (letter, tokenizer) in tokenizers {
                let table = "note\(letter)"
                try db.execute(sql: "CREATE TABLE \(table) (id INTEGER PRIMARY KEY, body TEXT)")
                let index = FullTextIndex(table: table, columns: ["body"], tokenizer: tokenizer)
                try db.create(fullText: index)
                try db.execute(sql: "INSERT INTO \(table) (body) VALUES (?)", arguments: [text])
                let count = try Table<Row>(table).matching(query, in: index).fetchCount(db)
                #expect(count == (finders.contains(letter) ? 1 : 0), "\(tokenizer.name)")
            }
        }
    }
}
