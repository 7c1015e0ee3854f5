// Functions and collations for Unicode texts: SQLite's own only handle ASCII.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// They use Swift's Unicode tables, which grow with Swift's versions. The article Limits describes
// the consequences for indexes.

extension DatabaseFunction {
    /// A function that capitalizes each word and makes its other letters lowercase:
    /// `CAPITALIZE(text)`.
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

    /// A function that makes a text lowercase. SQLite's `LOWER` only does so for ASCII.
    ///
    /// Another version of Swift may support more letters. If an index uses the function, run
    /// `REINDEX` after a change of Swift.
    public static let lowercase = text("swiftLowercaseString") { $0.lowercased() }

    /// A function that makes a text uppercase. SQLite's `UPPER` only does so for ASCII.
    ///
    /// Another version of Swift may support more letters. If an index uses the function, run
    /// `REINDEX` after a change of Swift.
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
    /// A collation that sorts texts by Unicode, as Swift compares strings.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { a, b in
        a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }

    /// A collation that sorts texts by Unicode and ignores case.
    public static let caseInsensitiveCompare = DatabaseCollation("swiftCaseInsensitiveCompare") { a, b in
        let (a, b) = (a.lowercased(), b.lowercased())
        return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }
}
