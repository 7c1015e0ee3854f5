// Suggests words of an index for words that it does not have.

extension TableRecord {
    /// Returns words of an index that resemble a word, the best first.
    ///
    /// ```swift
    /// let words = try Note.suggestions(for: "arthr", in: Note.search, db)    // ["arthur"]
    /// ```
    ///
    /// A word resembles another one if at most two letters are missing, superfluous, exchanged or
    /// others: one, if the word has fewer than five letters. Words are as the index stores them,
    /// folded. All words of the index are compared.
    ///
    /// - Parameters:
    ///   - word: The word. If the text has several, this is the first one.
    ///   - index: The index.
    ///   - db: A connection to the database.
    ///   - limit: The most words to return.
    /// - Throws: a ``DatabaseError`` if there is no such index.
    public static func suggestions(
        for word: String, in index: FullTextIndex, _ db: Database, limit: Int = 5
    ) throws -> [String] {
        try index.suggestions(for: word, limit: limit, db)
    }
}

extension FullTextIndex {
    func suggestions(for word: String, limit: Int, _ db: Database) throws -> [String] {
        db.checkAccess()
        let schemaName = try db.schemaName(of: self)
        guard limit > 0, let own = try firstToken(of: word, db) else { return [] }
        let letters = Array(own.unicodeScalars)
        let most = letters.count < 5 ? 1 : 2
        let statement = try db.makeOwnStatement(
            sql: "SELECT term, doc FROM \(FullTextObjects.wordsName(name).quoted(in: schemaName))")
        var found: [(word: String, distance: Int, count: Int)] = []
        let rows = try Row.fetchCursor(statement)
        while let row = try rows.next() {
            let (term, count): (String, Int) = (try row[0], try row[1])
            guard abs(term.utf8.count - own.utf8.count) <= most * 4 else { continue }
            let others = Array(term.unicodeScalars)
            guard let distance = EditDistance.between(letters, others, most: most) else { continue }
            found.append((term, distance, count))
        }
        found.sort { a, b in
            if a.distance != b.distance { return a.distance < b.distance }
            // Most people get the first letter right.
            let (first, second) = (a.word.first == own.first, b.word.first == own.first)
            if first != second { return first }
            return a.count != b.count ? a.count > b.count : a.word < b.word
        }
        return found.prefix(limit).map(\.word)
    }

    private func firstToken(of text: String, _ db: Database) throws -> String? {
        try SearchPattern.firstToken(of: text, by: tokenizer, on: db)
    }
}

/// The number of letters that differ between two words.
enum EditDistance {
    /// Returns the number of letters to insert, delete, replace or exchange with their neighbour.
    /// Nil if it is more than a limit.
    static func between(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar], most limit: Int) -> Int? {
        if abs(a.count - b.count) > limit { return nil }
        var (before, last) = ([Int](), Array(0...b.count))
        for row in a.indices {
            var current = [row + 1]
            current.reserveCapacity(b.count + 1)
            for column in b.indices {
                var distance = min(
                    last[column] + (a[row] == b[column] ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
                    distance = min(distance, before[column - 1] + 1)
                }
                current.append(distance)
            }
            if current.allSatisfy({ $0 > limit }) { return nil }
            (before, last) = (last, current)
        }
        return last[b.count] <= limit ? last[b.count] : nil
    }
}
