/// The messages of SQLite's errors, in the words that are common to all versions.
enum SQLiteMessage {
    /// Returns a message without SQLite's misleading guess.
    ///
    /// From 3.41 on, SQLite asks whether a missing column in double quotes was meant as a text.
    /// Shellac quotes the names in its own SQL like this, and they are always names.
    static func plain(_ message: String) -> String {
        let guess = "\" - should this be a string literal in single-quotes?"
        guard message.hasSuffix(guess), let start = message.firstRange(of: "no such column: \"") else {
            return message
        }
        let name = message[start.upperBound...].dropLast(guess.count)
        return String(message[..<start.upperBound].dropLast()) + name
    }
}
