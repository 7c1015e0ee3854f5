import CSQLite
import Shellac

/// Full-text search and the nearest vectors.
enum SearchWorkloads {
    static let all = [
        Workload("search.tokenize.ascii", gate: 1.2, goal: 1.0, sides: { try tokenize($0, Texts.long) }),
        Workload("search.tokenize.chinese", gate: 1.4, goal: 1.2, sides: { try tokenize($0, Texts.chinese) }),
        Workload("search.insert", gate: 1.15, goal: 1.05, sides: insert),
        Workload("search.page", gate: 1.1, goal: 1.0, sides: page),
        Workload("search.nearest", gate: 2.0, goal: 1.5, sides: nearest),
    ]

    private static let index = FullTextIndex(table: "note", columns: ["title", "body"])
    private static let table =
        "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL)"
    private static let insertion = "INSERT INTO note VALUES (?, ?, ?)"

    // MARK: - Tokens

    /// A text of 1,000 bytes for each row of the budget, split by `unicode61` and by `words()`. An
    /// operation is 1,000 bytes.
    private static func tokenize(_ fixture: Fixture, _ text: (Int) -> String) throws -> Sides {
        let count = max(1, fixture.scale.rows / 10)
        let texts = (0..<count).map { Array(text($0).utf8.prefix(1_000)) }
        let queue = try DatabaseQueue()
        func side(_ name: String, _ arguments: [String]) throws -> Side {
            let tokenizer = try CTokenizer(queue, name, arguments)
            return Side { try texts.reduce(0) { try $0 + tokenizer.tokenize($1) } }
        }
        let words = SearchTokenizer.words()
        return Sides(
            operations: count, c: try side("unicode61", ["remove_diacritics", "2"]),
            shellac: try side(words.name, words.arguments))
    }

    // MARK: - Indexes

    /// Notes inserted in one transaction, in memory, by the same statement. One side has triggers
    /// and an index of FTS5 by hand, and the other one an index of Shellac.
    private static func insert(_ fixture: Fixture) throws -> Sides {
        let insertions = fixture.scale.insertions / 5
        let connection = try CConnection()
        try connection.execute(
            """
            \(table);
            CREATE VIRTUAL TABLE note_search USING fts5(title, body, content='note', content_rowid='id');
            CREATE TRIGGER ai AFTER INSERT ON note BEGIN
            INSERT INTO note_search (rowid, title, body) VALUES (NEW.id, NEW.title, NEW.body); END;
            """)
        let insertion = try connection.prepare(Self.insertion)
        let texts = (0..<insertions).map(Texts.english)
        let found = "SELECT count(*) FROM note_search WHERE note_search MATCH 'castle'"
        let c = Side(
            setUp: {
                try connection.execute(
                    "DELETE FROM note; INSERT INTO note_search (note_search) VALUES ('rebuild')")
            },
            keeping: {
                try connection.execute("BEGIN IMMEDIATE")
                for row in 0..<insertions {
                    insertion.bind(row, 1)
                    insertion.bind("Note", 2)
                    insertion.bind(texts[row], 3)
                    try insertion.run()
                }
                try connection.execute("COMMIT")
            },
            checksum: { try connection.integer(found) })
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: table)
            try db.create(fullText: index)
        }
        let shellac = Side(
            setUp: {
                try queue.write { db in
                    try db.execute(sql: "DELETE FROM note")
                    try db.rebuild(fullText: index)
                }
            },
            keeping: {
                try queue.write { db in
                    let statement = try db.cachedStatement(sql: Self.insertion)
                    for row in 0..<insertions { try statement.execute(arguments: [row, "Note", texts[row]]) }
                }
            },
            checksum: { UInt64(try queue.read { try Int.fetchOne($0, sql: found) } ?? 0) })
        return Sides(operations: insertions, c: c, shellac: shellac)
    }

    /// The first 20 of the best matches among five notes for each row of the budget: the SQL by
    /// hand in C, and a request.
    private static func page(_ fixture: Fixture) throws -> Sides {
        let path = fixture.path(of: "search")
        let index = FullTextIndex(table: "note", columns: ["title", "body"], tokenizer: .unicode61)
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: table)
            let statement = try db.makeStatement(sql: insertion)
            for row in 0..<fixture.scale.rows * 5 {
                try statement.execute(arguments: [row, "Note", Texts.english(row)])
            }
            try db.create(fullText: index)
        }
        let pages = 20
        let connection = try CConnection(path)
        let statement = try connection.prepare(
            """
            SELECT n.id FROM note AS n JOIN note_search AS s ON s.rowid = n.id
            WHERE note_search MATCH '"grail" AND "castle"' ORDER BY s.rank LIMIT 20
            """)
        let c = Side {
            try (0..<pages).reduce(0) { sum, _ in
                try statement.array { $0.int(0) }.reduce(sum) { $0 &+ UInt64($1) }
            }
        }
        let request = Shellac.Table<Row>("note").matching("grail castle", in: index).ranked().limit(20)
            .select(Column("id"), as: Int.self)
        let shellac = Side {
            try queue.read { db in
                try (0..<pages).reduce(0) { sum, _ in
                    try request.fetchAll(db).reduce(sum) { $0 &+ UInt64($1) }
                }
            }
        }
        return Sides(operations: pages, c: c, shellac: shellac)
    }

    // MARK: - Vectors

    /// The ten nearest vectors of 384 numbers among a quarter of the rows. One side is a loop over
    /// the rows in C that keeps the best, and the other one a request.
    private static func nearest(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.insertions
        let path = fixture.path(of: "vectors")
        let queue = try DatabaseQueue(path: path)
        func vector(_ seed: Int) -> [Float] {
            var state = UInt64(seed &+ 1) &* 0x9E37_79B9_7F4A_7C15
            return (0..<384).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return Float(state >> 40) / Float(1 << 24) - 0.5
            }
        }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE picture (id INTEGER PRIMARY KEY, embedding BLOB NOT NULL)")
            let statement = try db.makeStatement(sql: "INSERT INTO picture VALUES (?, ?)")
            for id in 0..<count { try statement.execute(arguments: [id, DatabaseVector(vector(id))]) }
        }
        let query = vector(count)
        let connection = try CConnection(path)
        let statement = try connection.prepare("SELECT id, embedding FROM picture")
        let c = Side {
            var best: [(id: Int, product: Float)] = []
            while try statement.step() {
                guard let vector = statement.blob(1) else { continue }
                let product = query.withUnsafeBytes { Self.product($0, vector, query.count) }
                if best.count == 10, product <= best[9].product { continue }
                let place = best.firstIndex { $0.product < product } ?? best.count
                best.insert((statement.int(0), product), at: place)
                if best.count > 10 { best.removeLast() }
            }
            return best.map(\.id).checksum { id, sum in sum.add(id) }
        }
        let request = Shellac.Table<Row>("picture").all()
            .nearest(to: query, by: "embedding", limit: 10, metric: .dot)
            .select(Column("id"), as: Int.self)
        let shellac = Side {
            try queue.read { db in try request.fetchAll(db).checksum { $1.add($0) } }
        }
        return Sides(operations: 1, c: c, shellac: shellac)
    }

    @inline(__always)
    private static func product(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawPointer, _ count: Int) -> Float {
        var (first, second) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        for place in stride(from: 0, to: count * 4, by: 64) {
            first +=
                a.loadUnaligned(fromByteOffset: place, as: SIMD8<Float>.self)
                * b.loadUnaligned(fromByteOffset: place, as: SIMD8<Float>.self)
            second +=
                a.loadUnaligned(fromByteOffset: place + 32, as: SIMD8<Float>.self)
                * b.loadUnaligned(fromByteOffset: place + 32, as: SIMD8<Float>.self)
        }
        return (first + second).sum()
    }
}

/// Texts of about 1,000 bytes whose words are those of a seed.
private enum Texts {
    private static let words = """
        king arthur sword stone table round castle grail knight lancelot guinevere merlin lake lady forest \
        quest dragon shield banner horse rider tower gate winter summer battle feast crown throne island
        """.split(separator: " ").map(String.init)

    static func english(_ seed: Int) -> String {
        var random = Random(seed)
        // Two words are rare.
        let (castle, grail) = (seed % 50 == 0, seed % 70 == 0)
        var text = ""
        while text.utf8.count < 500 {
            let word = words[random.next(below: words.count)]
            if word == "castle", !castle { continue }
            if word == "grail", !grail { continue }
            text += text.isEmpty ? word.prefix(1).uppercased() + word.dropFirst() : " " + word
            if random.next(below: 12) == 0 { text += "." }
        }
        return castle && grail ? text + " castle grail" : text
    }

    static func long(_ seed: Int) -> String { english(seed) + " " + english(seed + 1) }

    static func chinese(_ seed: Int) -> String {
        var random = Random(seed)
        var text = String.UnicodeScalarView()
        for place in 0..<334 {
            if place % 17 == 16 { text.append("，") }
            if let scalar = Unicode.Scalar(0x4E00 + random.next(below: 6_000)) { text.append(scalar) }
        }
        return String(text)
    }

    private struct Random {
        private var state: UInt64
        init(_ seed: Int) { state = UInt64(seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 }

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }
}

/// A tokenizer of FTS5, called as FTS5 calls it.
private final class CTokenizer {
    private let queue: DatabaseQueue
    private var functions = fts5_tokenizer()
    private var tokenizer: OpaquePointer?

    init(_ queue: DatabaseQueue, _ name: String, _ arguments: [String]) throws {
        self.queue = queue
        try queue.inDatabase { db in
            var module: UnsafeMutableRawPointer?
            guard let api = shellac_fts5_api(db.sqliteConnection),
                api.pointee.xFindTokenizer(api, name, &module, &functions) == SQLITE_OK
            else { throw BenchmarkError("there is no tokenizer \(name)") }
            var words = arguments.map { UnsafePointer(strdup($0)) as UnsafePointer<CChar>? }
            guard functions.xCreate(module, &words, Int32(words.count), &tokenizer) == SQLITE_OK else {
                throw BenchmarkError("the tokenizer \(name) refuses \(arguments)")
            }
        }
    }

    deinit { functions.xDelete(tokenizer) }

    /// Splits a text, and returns a number for the text. Tokens differ between tokenizers.
    func tokenize(_ text: [UInt8]) throws -> UInt64 {
        var count = 0
        let code = text.withUnsafeBytes { bytes in
            functions.xTokenize(
                tokenizer, &count, FTS5_TOKENIZE_DOCUMENT,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count)
            ) { context, _, _, _, _, _ in
                context?.assumingMemoryBound(to: Int.self).pointee += 1
                return SQLITE_OK
            }
        }
        guard code == SQLITE_OK, count > 0 else { throw BenchmarkError("no tokens") }
        return UInt64(text.count)
    }
}
