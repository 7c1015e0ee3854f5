/// A late part of a piece of SQL, which an upper layer writes when the connection is known.
///
/// An example is a request in an SQL literal. Only the whole literal shows whether the request
/// needs parentheses, and only a connection knows the columns that it selects. The late part may
/// also change the SQL around it.
class LateSQL: @unchecked Sendable, Hashable {  // its subclasses only have constants
    /// Returns the given piece with all its late parts written, including this one.
    ///
    /// - Parameters:
    ///   - piece: The piece.
    ///   - role: The role of the piece.
    ///   - db: The connection. Without one, a part that needs the schema throws an error.
    func write(_ piece: SQL, as role: SQLRole, on db: Database?) throws -> SQL { piece }

    /// Whether another part is written identically.
    func isEqual(to other: LateSQL) -> Bool { self === other }

    static func == (a: LateSQL, b: LateSQL) -> Bool { a === b || a.isEqual(to: b) }

    /// (Equal parts may be different objects, so a piece is hashed by its text.)
    func hash(into hasher: inout Hasher) {}
}

extension SQL {
    /// Returns the piece with its late parts written.
    ///
    /// - Parameters:
    ///   - role: The role of the piece.
    ///   - db: The connection. Without one, a part that needs the schema throws an error.
    func written(as role: SQLRole = .statement, on db: Database?) throws -> SQL {
        guard let part = lateParts.first else { return self }
        return try part.write(self, as: role, on: db)
    }

    /// The piece, written without a connection. A part that cannot be written becomes text that
    /// SQLite rejects.
    var writtenWithoutConnection: SQL {
        (try? written(on: nil))
            ?? replacingText { $0.replacingLateParts(by: "\\(a request that needs a connection)") }
            .withoutLateParts
    }

    private var withoutLateParts: SQL { SQL(sql: text, arguments: values) }

    /// Whether SQLite stores the text of the statement, which then has no parameters.
    var isKeptDefinition: Bool {
        let tokens = SQLTokens(text)
        var words = tokens.lazy.filter { !$0.kind.isEmpty }.prefix(3).map {
            tokens.text($0.range).uppercased()
        }
        .makeIterator()
        guard words.next() == "CREATE" else { return false }
        var word = words.next()
        if let first = word, ["TEMP", "TEMPORARY", "UNIQUE"].contains(first) { word = words.next() }
        return word.map(["VIEW", "TRIGGER", "INDEX"].contains) ?? false
    }
}

extension String {
    /// The text without the placeholders of late parts.
    var withoutLateParts: String { replacingLateParts(by: "") }

    fileprivate func replacingLateParts(by text: String) -> String {
        utf8.contains(0)
            ? split(separator: "\0", omittingEmptySubsequences: false).joined(separator: text) : self
    }
}
