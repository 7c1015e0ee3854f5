// Functions and collations for Unicode texts: SQLite's own only handle ASCII.

import CSQLite

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

extension Database {
    /// Adds these collations to the connection when a statement first needs them. GRDB adds
    /// collations of the same names to each connection, so schemas may use them.
    func addTextCollationsWhenNeeded() {
        sqlite3_collation_needed(pointer, Unmanaged.passUnretained(self).toOpaque()) { context, _, _, name in
            guard let context, let name = name.map({ String(cString: $0) }) else { return }
            let database = Unmanaged<Database>.fromOpaque(context).takeUnretainedValue()
            for collation in [DatabaseCollation.unicodeCompare, .caseInsensitiveCompare]
            where CaseInsensitiveName.matches(collation.name, name) {
                // If it cannot be added, SQLite says that there is no such collation.
                try? database.add(collation: collation)
            }
        }
    }
}
