// Full-text queries, and the words of arbitrary texts.

import Foundation
import Shellac

/// The indexes that the checks search: one for each tokenizer of Shellac and SQLite.
private let indexes: [(tokenizer: SearchTokenizer, index: FullTextIndex)] = [
    SearchTokenizer.words(), .words(keepingDiacritics: true), .unicode61, .porter, .trigram,
].enumerated().map { place, tokenizer in
    (tokenizer, FullTextIndex(table: "found\(place)", columns: ["title", "body"], tokenizer: tokenizer))
}

private let searchedQueue: DatabaseQueue = {
    do {
        let queue = try DatabaseQueue()
        try queue.write { db in
            for (_, index) in indexes {
                try db.execute(
                    sql: """
                        CREATE TABLE \(index.tableName) (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                        INSERT INTO \(index.tableName) (title, body) VALUES
                        ('The round table', 'King Arthur and AND or NEAR'), ('東京都の天気', 'Straße, crème e\u{301}'), ('', NULL)
                        """)
                try db.create(fullText: index)
            }
        }
        return queue
    } catch {
        fatalError("the database of the searches: \(error)")
    }
}()

/// A query of each form is no error, whatever its text is, and a text of any bytes is found by
/// itself.
///
/// The first byte chooses the tokenizer, and the second one the form.
func checkSearch(_ bytes: [UInt8]) throws {
    guard bytes.count >= 2 else { return }
    let (_, index) = indexes[Int(bytes[0]) % indexes.count]
    let rest = bytes.dropFirst(2)
    let text = String(decoding: rest, as: UTF8.self)
    let (head, tail) = (String(text.prefix(text.count / 2)), String(text.suffix((text.count + 1) / 2)))
    let query: SearchQuery =
        switch bytes[1] % 10 {
        case 0: .words(text)
        case 1: .typed(text)
        case 2: .anyWord(of: text)
        case 3: .phrase(text)
        case 4: .prefix(text)
        case 5: .near(head, tail, within: Int(bytes[1]) - 20)
        case 6: .all(.words(head), .prefix(tail))
        case 7: .any(.phrase(head), .typed(tail))
        case 8: .words(head).excluding(.anyWord(of: tail))
        default: .column("body", .words(text))
        }
    let request = Table<Row>(index.tableName).matching(query, in: index)
    try searchedQueue.inDatabase { db in
        let count = try request.fetchCount(db)
        let ranked = try request.ranked().snippet("body", around: ("[", "]")).fetchAll(db)
        try expect(ranked.count, count, "rows that match \(query)")
        guard bytes[1] % 32 == 0 else { return }
        // FTS5 removes the words of a text by splitting it once more.
        try db.inSavepoint {
            try db.execute(
                sql: "INSERT INTO \(index.tableName) (id, body) VALUES (99, CAST(? AS TEXT))",
                arguments: [Data(rest)])
            if bytes[0] % 5 < 2, Array(text.utf8) == Array(rest), !text.contains("\0") {
                // A text finds itself, as a phrase and by its words, unless it has none.
                func finds(_ query: SearchQuery) throws -> Int {
                    try Table<Row>(index.tableName).filter(Column("id") == 99).matching(query, in: index)
                        .fetchCount(db)
                }
                try expect(
                    finds(.words(text)), finds(.phrase(text)), "the row of the text \(text.debugDescription)")
            }
            try db.execute(sql: "DELETE FROM \(index.tableName) WHERE id = 99")
            try db.execute(
                sql: "INSERT INTO \(index.name) (\(index.name), rank) VALUES ('integrity-check', 1)")
            return .commit
        }
    }
}
