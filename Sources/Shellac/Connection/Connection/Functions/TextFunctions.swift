// Functions and collations of texts that know more than ASCII, which is all that SQLite's own do.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// They go by Swift's tables of Unicode, which grow with its versions: the article Limits says what becomes of an index.

extension DatabaseFunction {
    /// Returns the text with a capital letter at the beginning of each word, and small ones behind it: `CAPITALIZE(text)`.
    ///
    /// ```swift
    /// try db.add(function: .capitalize)
    /// let names = try Player.select(DatabaseFunction.capitalize(Column("name")), as: String.self).fetchAll(db)
    /// ```
    public static let capitalize = text("swiftCapitalizedString") { text in
        var isAtStart = true
        var capitalized = ""
        for character in text {
            capitalized += isAtStart ? character.uppercased() : character.lowercased()
            isAtStart = !(character.isLetter || character.isNumber || character == "'")
        }
        return capitalized
    }

    /// Returns the text in small letters: what SQLite's `LOWER` is for ASCII.
    ///
    /// Another version of Swift may know more letters. Run `REINDEX` after a change of Swift where an index is made of it.
    public static let lowercase = text("swiftLowercaseString") { $0.lowercased() }

    /// Returns the text in capital letters: what SQLite's `UPPER` is for ASCII.
    ///
    /// Another version of Swift may know more letters. Run `REINDEX` after a change of Swift where an index is made of it.
    public static let uppercase = text("swiftUppercaseString") { $0.uppercased() }

    private static func text(_ name: String, _ change: @escaping @Sendable (String) -> String)
        -> DatabaseFunction
    {
        DatabaseFunction(name, argumentCount: 1, pure: true) { values in
            String.fromDatabaseValue(values[0]).map(change)
        }
    }
}

extension DatabaseCollation {
    /// Sorts texts by Unicode, as Swift compares strings.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { a, b in
        a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }

    /// Sorts texts by Unicode without regard to case.
    public static let caseInsensitiveCompare = DatabaseCollation("swiftCaseInsensitiveCompare") { a, b in
        let (a, b) = (a.lowercased(), b.lowercased())
        return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }
}
