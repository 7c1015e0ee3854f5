// The model of a generated Swift record: names, properties and relations of a table.

import Shellac

/// The record of a table: its names in Swift, its properties and its relations.
struct ClassModel {
    struct Property {
        let column: ColumnInfo
        let name: String
        let type: String
        let isOptional: Bool
        /// The value that it has before a row is read.
        let initial: String?
        /// A comment about it in the generated code.
        let remark: String?
        /// The type of the property, if it lists the values that the column accepts.
        var enumeration: Enumeration?
    }

    /// An enum of the texts that a CHECK lists.
    struct Enumeration {
        let name: String
        let cases: [(name: String, value: String)]
    }

    /// Facts about a table's columns beyond their declarations, by the names of the columns.
    struct Hints {
        /// The storage classes of the values.
        var kinds: [String: Set<String>] = [:]
        /// The values that a CHECK lists.
        var values: [String: [DatabaseValue]] = [:]
        /// The tables whose rows are counted.
        var countedTables: [String: String] = [:]
    }

    struct Relation {
        /// The expression that declares it: `belongsTo(Team.self)`.
        let declaration: String
        let name: String
        let target: String
        let isMany: Bool
    }

    let table: SchemaFacts.Table
    let typeName: String
    let properties: [Property]
    var relations: [Relation] = []

    /// The columns that `timestamps()` has declared, with their roles: `created` and `updated`.
    var stamps: [(role: String, column: String)] {
        ["created", "updated"].compactMap { role in
            properties.first { Self.stamp($0.column) == role }.map { (role, $0.column.name) }
        }
    }

    /// The column that holds the date of a soft deletion.
    var deletionColumn: String? { properties.first { Self.isDeletion($0.column) }?.column.name }

    /// The property for the row id.
    var rowID: Property? {
        table.key.rowIDColumn.flatMap { name in properties.first { $0.column.name.isSameName(as: name) } }
    }

    // MARK: - Creation

    /// Makes the records of some tables.
    ///
    static func models(
        of tables: [SchemaFacts.Table], canHoldAny: Bool, hints: (SchemaFacts.Table) throws -> Hints
    ) throws -> [ClassModel] {
        var typeNames: Set<String> = []
        let names = tables.map { unique(SwiftNames.type($0.name), in: &typeNames) }
        var models = try zip(tables, names).map { table, typeName in
            let hints = try hints(table)
            var (names, nested): (Set<String>, Set<String>) = ([], typeNames)
            let properties = table.columns.map { column in
                var property = property(
                    column, of: table, name: unique(SwiftNames.property(column.name), in: &names),
                    hints, canHoldAny: canHoldAny)
                property.list(hints.values[column.name] ?? [], &nested)
                return property
            }
            return ClassModel(table: table, typeName: typeName, properties: properties)
        }
        addRelations(to: &models)
        return models
    }

    fileprivate static func unique(_ name: String, in names: inout Set<String>, or ending: String = "")
        -> String
    {
        let first = names.contains(name) ? name + ending : name
        var (name, number) = (first, 2)
        while !names.insert(name).inserted {
            name = "\(first)\(number)"
            number += 1
        }
        return name
    }

    private static func property(
        _ column: ColumnInfo, of table: SchemaFacts.Table, name: String, _ hints: Hints,
        canHoldAny: Bool
    ) -> Property {
        let kinds = hints.kinds[column.name] ?? []
        let isRowID = table.key.rowIDColumn.map { $0.isSameName(as: column.name) } ?? false
        let isKey = column.primaryKeyIndex > 0
        let isReference = table.foreignKeys.contains {
            $0.originColumns.contains { $0.isSameName(as: column.name) }
        }
        var (type, zero) = isRowID ? ("Int64", "0") : Self.type(column, isReference: isReference)
        var remark = hints.countedTables[column.name].map {
            "The number of rows of \(TextWidth.visible($0)), which the database counts."
        }
        let isStamp = Self.stamp(column) != nil || Self.isDeletion(column)
        if isStamp { (type, zero) = ("Date", "Date()") }
        if !isRowID, !Self.fits(kinds, type) {
            (type, zero) = Self.type(of: kinds)
            if type == "DatabaseValue", !canHoldAny {
                (type, zero) = ("String", "\"\"")
                remark = "The column holds \(kinds.sorted().joined(separator: " and ")) values."
            }
        }
        // A value that the program has set wins over a stamp, so there is none at first.
        let isOptional = isRowID || isStamp || !(column.isNotNull || isKey) || kinds.contains("null")
        return Property(
            column: column, name: name, type: type, isOptional: isOptional,
            initial: isOptional ? nil : initial(column.defaultValueSQL, type) ?? zero, remark: remark)
    }

    /// Returns the role of a column that is declared as `timestamps()` does.
    private static func stamp(_ column: ColumnInfo) -> String? {
        guard column.isNotNull, ["DATETIME", "TEXT"].contains(column.type.uppercased()),
            column.defaultValueSQL?.uppercased() == "CURRENT_TIMESTAMP"
        else { return nil }
        return ["created", "updated"].first { SwiftNames.property(column.name).lowercased().hasPrefix($0) }
    }

    private static func isDeletion(_ column: ColumnInfo) -> Bool {
        !column.isNotNull && SwiftNames.property(column.name) == "deletedAt"
            && ["DATE", "DATETIME", "TIMESTAMP", "TEXT"].contains(column.type.uppercased())
    }

    /// Returns the type for a declaration, and a value of it.
    private static func type(_ column: ColumnInfo, isReference: Bool) -> (String, String) {
        let declared = column.type.uppercased()
        if declared.contains("BOOL") { return ("Bool", "false") }
        if declared.hasPrefix("DATE") || declared.hasPrefix("TIMESTAMP") { return ("Date", "Date()") }
        switch column.affinity {
        case .integer: return (isReference ? "Int64" : "Int", "0")
        case .text: return ("String", "\"\"")
        case .real, .numeric: return ("Double", "0")
        case .blob:
            return declared.isEmpty || declared == "ANY" ? ("DatabaseValue", ".null") : ("Data", "Data()")
        }
    }

    /// Returns the common type of all values.
    private static func type(of kinds: Set<String>) -> (String, String) {
        switch kinds.subtracting(["null"]) {
        case ["integer"]: ("Int", "0")
        case ["real"], ["integer", "real"]: ("Double", "0")
        case ["text"]: ("String", "\"\"")
        case ["blob"]: ("Data", "Data()")
        default: ("DatabaseValue", ".null")
        }
    }

    private static func fits(_ kinds: Set<String>, _ type: String) -> Bool {
        let allowed: Set<String> =
            switch type {
            case "Bool", "Int", "Int64": ["integer"]
            case "Double": ["integer", "real"]
            case "String": ["text"]
            case "Date": ["text", "integer", "real"]
            case "Data": ["blob"]
            default: []  // a column of any type gets one from its values
            }
        return kinds.subtracting(["null"]).isSubset(of: allowed) && type != "DatabaseValue"
    }

    private static func initial(_ sql: String?, _ type: String) -> String? {
        guard let sql else { return nil }
        switch type {
        case "Int", "Int64": return Int64(sql).map { "\($0)" }
        case "Double": return Double(sql).flatMap { $0.isFinite ? "\($0)" : nil }
        case "Bool":
            switch sql.uppercased() {
            case "1", "TRUE": return "true"
            case "0", "FALSE": return "false"
            default: return nil
            }
        case "String":
            let quote = UInt8(ascii: "'")
            guard sql.utf8.count >= 2, sql.utf8.first == quote, sql.utf8.last == quote else { return nil }
            return SwiftNames.literal(sql.unquotedSQL)
        default: return nil
        }
    }

    // MARK: - Relations

    private static func addRelations(to models: inout [ClassModel]) {
        var names = models.map { model in Set(model.properties.map(\.name)) }
        for origin in models.indices {
            let keys = models[origin].table.foreignKeys.filter { !$0.destinationColumns.isEmpty }
            for key in keys {
                guard
                    let destination = models.firstIndex(where: {
                        $0.table.name.isSameName(as: key.destinationTable)
                    })
                else { continue }
                let between = keys.filter { $0.destinationTable.isSameName(as: key.destinationTable) }
                let isSelf = origin == destination
                let columns = key.originColumns.map(SwiftNames.literal).joined(separator: ", ")
                let using =
                    between.count == 1 && !isSelf
                    ? "" : ", using: \(key.originColumns.count == 1 ? columns : "[\(columns)]")"
                let (child, parent) = (models[origin].typeName, models[destination].typeName)

                let wanted =
                    (key.originColumns.count == 1 ? SwiftNames.relation(of: key.originColumns[0]) : nil)
                    ?? SwiftNames.property(Inflection.singular(key.destinationTable))
                let up = unique(wanted, in: &names[origin], or: "Record")
                models[origin].relations.append(
                    Relation(
                        declaration: "belongsTo(\(parent).self\(using))", name: up, target: parent,
                        isMany: false))

                let isOne = models[origin].table.isUnique(key.originColumns)
                let table = models[origin].table.name
                var down = SwiftNames.property(isOne ? Inflection.singular(table) : Inflection.plural(table))
                if between.count > 1 { down += "As" + SwiftNames.capitalized(wanted) }
                down = unique(down, in: &names[destination], or: isOne ? "Record" : "Records")
                models[destination].relations.append(
                    Relation(
                        declaration: "\(isOne ? "hasOne" : "hasMany")(\(child).self\(using))", name: down,
                        target: child,
                        isMany: !isOne))
            }
        }
    }
}

extension ClassModel.Property {
    /// Makes the type an enum of values, if these are texts and the property holds texts.
    ///
    /// - Parameter typeNames: The names that the type may not have.
    fileprivate mutating func list(_ values: [DatabaseValue], _ typeNames: inout Set<String>) {
        let values = values.filter { !$0.isNull }
        let texts = values.compactMap { value -> String? in
            if case .string(let text) = value.storage { text } else { nil }
        }
        guard type == "String", !texts.isEmpty, texts.count == values.count else { return }
        var names: Set<String> = []
        var cases: [(name: String, value: String)] = []
        for text in texts where !cases.contains(where: { $0.value == text }) {
            let name = text.isEmpty ? "empty" : SwiftNames.property(text)
            cases.append((ClassModel.unique(name, in: &names), text))
        }
        let typeName = ClassModel.unique(SwiftNames.nestedType(name), in: &typeNames)
        let first = cases.first { SwiftNames.literal($0.value) == initial } ?? cases[0]
        self = ClassModel.Property(
            column: column, name: name, type: typeName, isOptional: isOptional,
            initial: isOptional ? nil : ".\(SwiftNames.quoted(first.name))", remark: remark,
            enumeration: ClassModel.Enumeration(name: typeName, cases: cases))
    }
}

extension SchemaFacts.Table {
    /// Whether some columns form a unique key.
    fileprivate func isUnique(_ columns: [String]) -> Bool {
        func isKey(_ others: [String]) -> Bool {
            !others.isEmpty && others.allSatisfy { other in columns.contains { $0.isSameName(as: other) } }
        }
        return isKey(key.columns)
            || indexes.contains { $0.isUnique && !$0.isPartial && !$0.hasExpressions && isKey($0.columns) }
    }
}
