// The `shellac class` verb: generates Swift record types from tables.

import Shellac

/// `shellac class`: a Swift record for a table.
struct ClassPrinting {
    enum Style: String, CaseIterable {
        case columns, codable, `struct`
    }

    private let file: LookedAtFile
    private let output: Output
    private let arguments: Arguments

    init(_ file: LookedAtFile, _ output: Output, _ arguments: Arguments) {
        (self.file, self.output, self.arguments) = (file, output, arguments)
    }

    func run() throws -> ExitCode {
        let style = try arguments.choice("--style", Style.self) ?? .columns
        try file.read { db in
            let facts = try SchemaFacts(db)
            guard let table = facts.table(arguments.words[1]) else {
                let name = arguments.words[1]
                guard try !db.viewExists(name, in: "main") else {
                    throw Failure(.sql, "\(name) is a view, but a record needs a table")
                }
                throw Failure(.sql, try Selection.missing(db, name))
            }
            let tables = arguments.has("--alone") ? [table] : Self.related(to: table, facts)
            let models = try ClassModel.models(of: tables, canHoldAny: style == .columns) {
                try Self.hints($0, db)
            }
            try output.write(SwiftText.file(models, style))
        }
        return .done
    }

    /// Returns a table, and all that foreign keys connect to it, in either direction.
    private static func related(to table: SchemaFacts.Table, _ facts: SchemaFacts) -> [SchemaFacts.Table] {
        var found = [table]
        var next = 0
        while next < found.count {
            let one = found[next]
            next += 1
            for other in facts.tables where !found.contains(where: { $0.name == other.name }) {
                let isRelated =
                    one.foreignKeys.contains { $0.destinationTable.isSameName(as: other.name) }
                    || other.foreignKeys.contains { $0.destinationTable.isSameName(as: one.name) }
                if isRelated { found.append(other) }
            }
        }
        return found
    }

    private static func hints(_ table: SchemaFacts.Table, _ db: Database) throws -> ClassModel.Hints {
        var hints = ClassModel.Hints(kinds: try kinds(table, db))
        let sql = try String.fetchOne(
            db, sql: "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND lower(name) = ?",
            arguments: [table.name.asciiLowercased])
        let checks = CheckExpressions(sql ?? "")
        for column in table.columns {
            // A list with something else than literals has no values here.
            guard let list = checks.valueLists(of: column.name).first,
                let row = try? Row.fetchOne(db, sql: "SELECT \(list.sql)")
            else { continue }
            hints.values[column.name] = row.databaseValues
        }
        for counter in (try? db.counters()) ?? [] where counter.tableName.isSameName(as: table.name) {
            for column in table.columns where column.name.isSameName(as: counter.column) {
                hints.countedTables[column.name] = counter.countedTable
            }
        }
        return hints
    }

    /// Returns the storage classes in the columns of a table, from some of its rows. SQLite lets a
    /// column hold values that its declaration does not suggest.
    private static func kinds(_ table: SchemaFacts.Table, _ db: Database) throws -> [String: Set<String>] {
        guard !table.columns.isEmpty else { return [:] }
        let types = table.columns.map { "typeof(\($0.name.quotedDatabaseIdentifier))" }.joined(
            separator: ", ")
        let rows = try Row.fetchCursor(
            db,
            sql:
                "SELECT DISTINCT \(types) FROM (SELECT * FROM main.\(table.name.quotedDatabaseIdentifier) LIMIT 1000)"
        )
        var kinds: [String: Set<String>] = [:]
        while let row = try rows.next() {
            for (index, column) in table.columns.enumerated() {
                kinds[column.name, default: []].insert(try row[index])
            }
        }
        return kinds
    }
}

/// The Swift code of records.
enum SwiftText {
    static func file(_ models: [ClassModel], _ style: ClassPrinting.Style) -> String {
        let types = Set(models.flatMap(\.properties).map(\.type))
        var text = types.isDisjoint(with: ["Data", "Date"]) ? "" : "import Foundation\n"
        text += "import Shellac\n"
        for model in models { text += "\n" + self.text(model, style) }
        return text
    }

    private static func text(_ model: ClassModel, _ style: ClassPrinting.Style) -> String {
        let isStruct = style == .struct
        let properties =
            style == .columns ? model.properties : model.properties.filter { !$0.column.isGenerated }
        var parts: [[String]] = [relations(model)]
        parts += properties.compactMap(\.enumeration).map(enumeration)
        let place = parts.count
        parts.append(declarations(properties))
        for left in model.properties where left.column.isGenerated && style != .columns {
            parts[place].append(
                "// The column \(TextWidth.visible(left.column.name)) is computed by the database.")
        }
        if style != .columns, properties.contains(where: { $0.name != $0.column.name }) {
            parts.append(codingKeys(properties))
        }
        if needsTableName(model) {
            let literal = SwiftNames.literal(model.table.name)
            parts.append([
                isStruct
                    ? "static var databaseTableName: String { \(literal) }"
                    : "override class var databaseTableName: String { \(literal) }"
            ])
        }
        let modifiers = isStruct ? "static" : "override class"
        if !model.stamps.isEmpty {
            let list = model.stamps.map { "\($0.role): \(SwiftNames.literal($0.column))" }
            parts.append([
                "\(modifiers) var databaseStamps: DatabaseStamps {",
                "    DatabaseStamps(\(list.joined(separator: ", ")))", "}",
            ])
        }
        if let column = model.deletionColumn {
            let literal = SwiftNames.literal(column)
            parts.append(["\(modifiers) var databaseSoftDelete: SoftDelete? { \(literal) }"])
        }
        if style == .columns { parts.append(columns(properties)) }
        if isStruct, let rowID = model.rowID {
            parts.append([
                "mutating func didInsert(_ inserted: InsertionSuccess) {",
                "    \(SwiftNames.quoted(rowID.name)) = inserted.rowID", "}",
            ])
        }
        if !isStruct { parts.append(readers(model)) }
        let body = parts.filter { !$0.isEmpty }.map { lines in
            lines.map { "    \($0)\n" }.joined()
        }.joined(separator: "\n")
        return "\(heading(model, style)) {\n\(body)}\n"
    }

    private static func heading(_ model: ClassModel, _ style: ClassPrinting.Style) -> String {
        switch style {
        case .columns: "class \(model.typeName): Record"
        case .codable: "class \(model.typeName): Record, Codable"
        case .struct:
            "struct \(model.typeName): Codable, FetchableRecord, "
                + (model.rowID == nil ? "PersistableRecord" : "MutablePersistableRecord")
        }
    }

    private static func relations(_ model: ClassModel) -> [String] {
        model.relations.map { "static let \(SwiftNames.quoted($0.name)) = \($0.declaration)" }
    }

    private static func enumeration(_ enumeration: ClassModel.Enumeration) -> [String] {
        ["enum \(enumeration.name): String, CaseIterable, Codable, DatabaseValueConvertible {"]
            + enumeration.cases.map { one in
                let name = SwiftNames.quoted(one.name)
                return one.name == one.value
                    ? "    case \(name)" : "    case \(name) = \(SwiftNames.literal(one.value))"
            } + ["}"]
    }

    private static func declarations(_ properties: [ClassModel.Property]) -> [String] {
        properties.flatMap { property in
            (property.remark.map { ["/// \($0)"] } ?? []) + [declaration(property)]
        }
    }

    private static func declaration(_ property: ClassModel.Property) -> String {
        let name = SwiftNames.quoted(property.name)
        guard let initial = property.initial else { return "var \(name): \(property.type)?" }
        let isObvious =
            switch property.type {
            case "String", "Bool", "Date", "Data": true
            case "Int": true
            case "Double": initial.contains(".") || initial.contains("e")
            default: false
            }
        return isObvious ? "var \(name) = \(initial)" : "var \(name): \(property.type) = \(initial)"
    }

    private static func codingKeys(_ properties: [ClassModel.Property]) -> [String] {
        ["enum CodingKeys: String, CodingKey {"]
            + properties.map { property in
                let name = SwiftNames.quoted(property.name)
                return property.name == property.column.name
                    ? "    case \(name)" : "    case \(name) = \(SwiftNames.literal(property.column.name))"
            } + ["}"]
    }

    /// Whether the name of the table differs from the one that follows from the type's.
    private static func needsTableName(_ model: ClassModel) -> Bool {
        let derived = model.typeName.prefix(1).lowercased() + model.typeName.dropFirst()
        return !derived.isSameName(as: model.table.name)
    }

    private static func columns(_ properties: [ClassModel.Property]) -> [String] {
        ["override func columns(_ column: borrowing RecordColumns) throws {"]
            + properties.map { property in
                let name = SwiftNames.quoted(property.name)
                let column = SwiftNames.literal(property.column.name)
                return property.column.isGenerated
                    ? "    try column.reading(\(column)) { \(name) = $0 }"
                    : "    try column(\(column), \(name)) { \(name) = $0 }"
            } + ["}"]
    }

    private static func readers(_ model: ClassModel) -> [String] {
        model.relations.map { relation in
            let name = SwiftNames.quoted(relation.name)
            let type = relation.isMany ? "[\(relation.target)]" : "\(relation.target)?"
            return "var \(name): \(type) { get throws { try self[\(model.typeName).\(name)] } }"
        }
    }
}
