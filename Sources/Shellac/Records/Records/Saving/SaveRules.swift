// The rules that the declarations of a type make, in the order in which saves apply them.

/// A declaration whose rule is made by a layer above.
protocol SaveRuleSource {
    /// Makes the rule of a type with this declaration, or whose table has it.
    func saveRule(of type: any TableRecord.Type, in table: TableSchema) -> SaveRule
}

/// The rules of a type, in their order. Most types have none.
struct SaveRules: RandomAccessCollection {
    private let rules: [SaveRule]
    /// Whether a rule fills in columns.
    let fillColumns: Bool
    /// Whether a rule withholds columns from updates.
    let withholdColumns: Bool

    /// Makes the rules of a type.
    ///
    /// 1. Kinds refuse records that nothing could fetch again, before other rules do any work.
    /// 2. Counters leave their columns alone, whatever later rules would write there.
    /// 3. Soft delete replaces DELETE, and withholds its column. Stamps must know which columns an
    ///   update writes.
    /// 4. Stamps come last. They take the date when no other rule can refuse the save, and write
    ///   their columns last in each INSERT.
    ///
    /// - Throws: a ``DatabaseError`` if two rules determine one column.
    init(of type: any TableRecord.Type, in table: TableSchema) throws {
        let classes = (type as? Record.Type)?.rowClasses
        try classes?.check(table)
        rules = [
            classes?.saveRule(),
            try table.maintainedColumns.first.map {
                try Self.rule(
                    of: $0, type, table, "the table \(table.name) has counters", "leaves them alone")
            },
            try type.databaseSoftDelete.map {
                try Self.rule(
                    of: $0, type, table, "\(type) declares databaseSoftDelete", "keeps deleted rows")
            },
            try Self.stamps(of: type).map {
                try Self.rule(of: $0, type, table, "\(type) declares databaseStamps", "writes them")
            },
        ].compactMap(\.self)
        fillColumns = rules.contains(where: \.fillsColumns)
        withholdColumns = rules.contains(where: \.withholdsColumns)
        if rules.count > 1 { try checkOwners(type) }
    }

    var startIndex: Int { rules.startIndex }
    var endIndex: Int { rules.endIndex }
    subscript(index: Int) -> SaveRule { rules[index] }

    private static func stamps(of type: any TableRecord.Type) -> DatabaseStamps? {
        let stamps = (type as? any MutablePersistableRecord.Type)?.databaseStamps
        return stamps?.isEmpty == true ? nil : stamps
    }

    /// Makes the rule of a declaration, for which a layer above has the code.
    ///
    /// - Parameters:
    ///   - sentence: The declaration, for errors.
    ///   - task: The task of that code, for errors.
    /// - Throws: a ``DatabaseError`` if that code is missing. A linker may have dropped it from an
    ///   archive, and without it nothing would follow the declaration.
    private static func rule(
        of declaration: Any, _ type: any TableRecord.Type, _ table: TableSchema,
        _ sentence: @autoclosure () -> String, _ task: String
    ) throws -> SaveRule {
        if let source = declaration as? any SaveRuleSource { return source.saveRule(of: type, in: table) }
        throw DatabaseError.missingCode(that: task, for: sentence())
    }

    private func checkOwners(_ type: any TableRecord.Type) throws {
        var owners: [CaseInsensitiveName: SaveRule] = [:]
        for rule in rules {
            for column in rule.ownColumns {
                guard let other = owners.updateValue(rule, forKey: CaseInsensitiveName(column)),
                    other !== rule
                else { continue }
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "two rules write the column \(column) of \(type), \(other.declaration) and \(rule.declaration): "
                        + "give each a column of its own")
            }
        }
    }
}

extension Sequence<SaveRule> {
    /// The condition that the row of a record must meet for all rules, in SQL. Nil for none.
    var rowCondition: String? {
        let conditions = compactMap(\.rowCondition)
        return conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
    }
}
