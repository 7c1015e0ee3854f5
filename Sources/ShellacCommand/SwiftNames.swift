// Converts SQL names to Swift identifiers, and avoids keywords and names in use.

import Shellac

/// Swift names for SQL names.
enum SwiftNames {
    /// Returns the name of a property for a column: `team_id` and `Team ID` become `teamId`.
    static func property(_ column: String) -> String {
        var words = words(of: column)
        if words.isEmpty { words = ["column"] }
        words[0] = lowercasingStart(words[0])
        return avoiding(beginning(words[0] + words.dropFirst().map(capitalized).joined()))
    }

    /// Returns the name of a type for a table: `order items` becomes `OrderItem`.
    static func type(_ table: String) -> String {
        let words = words(of: Inflection.singular(table))
        let name = words.isEmpty ? "Table" : words.map(capitalized).joined()
        return takenTypes.contains(name) ? name + "Record" : beginning(name)
    }

    /// Returns the name of a type inside of a record, for a property.
    static func nestedType(_ property: String) -> String {
        let name = capitalized(property)
        return takenTypes.contains(name) ? name + "Value" : beginning(name)
    }

    /// Returns the name of a relation: `teamID` leads to a `team`. Nil if the name of the column
    /// does not reveal one.
    static func relation(of column: String) -> String? {
        let name = property(column)
        for ending in ["ID", "Id", "Key", "Fk", "FK"]
        where name.hasSuffix(ending) && name.count > ending.count {
            return String(name.dropLast(ending.count))
        }
        return nil
    }

    /// Returns the name as it is written in code: a keyword gets backticks.
    static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// Returns the text as a literal.
    static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(Character(scalar))"
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _
            where scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || scalar.value == 0x2028
                || scalar.value == 0x2029:
                literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    static func capitalized(_ word: String) -> String { word.prefix(1).uppercased() + word.dropFirst() }

    private static func words(of name: String) -> [String] {
        var words: [String] = []
        var isInside = false
        for character in name {
            // A Swift name may contain letters of any script, but not characters of several
            // scalars.
            let isPart =
                character.unicodeScalars.count == 1
                && (character.isLetter || character.isASCII && character.isNumber)
            if isPart {
                if isInside {
                    words[words.count - 1].append(character)
                } else {
                    words.append(String(character))
                }
            }
            isInside = isPart
        }
        return words.map {
            $0.allSatisfy { $0.isUppercase || $0.isNumber } && words.count > 1 ? $0.lowercased() : $0
        }
    }

    /// Lowercases the start of a word: `ID` becomes `id`, `URLText` becomes `urlText`, `Name`
    /// becomes `name`.
    private static func lowercasingStart(_ word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        if capitals.count == word.count { return word.lowercased() }
        let count = max(capitals.count - 1, min(capitals.count, 1))
        return word.prefix(count).lowercased() + word.dropFirst(count)
    }

    private static func beginning(_ name: String) -> String {
        name.first.map(\.isNumber) ?? false ? "_" + name : name
    }

    private static func avoiding(_ name: String) -> String {
        takenProperties.contains(name) ? name + "Value" : name
    }

    private static let keywords: Set<String> = [
        "actor", "any", "as", "async", "await", "associatedtype", "break", "case", "catch", "class",
        "continue", "default", "defer",
        "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func",
        "guard", "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup",
        "private",
        "protocol", "public", "repeat", "rethrows", "return", "some", "static", "struct", "subscript",
        "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while", "Any", "Self", "Type",
        "Protocol",
    ]

    /// The names of a record's members, the names that the generated code uses, and invalid names.
    private static let takenProperties: Set<String> = [
        "self", "column", "init", "container", "copy", "create", "created", "databaseChanges",
        "databaseColumnChanges",
        "databaseDictionary", "databaseEquals", "databaseKeyValue", "databasePrimaryKey", "columns",
        "decodeColumns", "delete",
        "description", "destroy", "didDelete", "didInsert", "didSave", "didUpdate", "encode", "encodeColumns",
        "exists",
        "follow", "hasDatabaseChanges", "hash", "hashValue", "insert", "insertAndFetch", "inserted",
        "jsonColumns", "load",
        "merge", "persist", "refined", "reload", "request", "restore", "save", "saveAndFetch", "saved",
        "savedDatabaseChanges", "savedDatabaseColumnChanges", "set", "stamping", "touch", "update",
        "updateAndFetch",
        "updateChanges", "updateChangesAndFetch", "updateFromRow", "updated", "upsert", "upsertAndFetch",
        "validate",
        "willDelete", "willInsert", "willSave", "willUpdate", "aroundDelete", "aroundInsert", "aroundSave",
        "aroundUpdate",
        "databaseTableName", "databaseStamps", "databaseKinds", "databaseSelection", "filter", "order",
        "including", "joining",
    ]

    /// The types that the generated code uses, and those that a module should not redefine.
    private static let takenTypes: Set<String> = [
        "Any", "Array", "Bool", "Character", "Codable", "CodingKey", "CodingKeys", "Column", "Configuration",
        "Data",
        "Database", "DatabaseValue", "Date", "Decodable", "Decoder", "Dictionary", "Double", "Encodable",
        "Encoder", "Error",
        "FetchableRecord", "ForeignKey", "InsertionSuccess", "Int", "Int64", "MutablePersistableRecord",
        "Never", "Optional",
        "PersistableRecord", "Protocol", "Record", "RecordColumns", "Relation", "Result", "Row", "SQL",
        "Self", "Set",
        "Statement", "String", "Table", "Task", "Type", "UUID", "Void", "Swift", "Shellac", "Foundation",
    ]
}
