// Properties of a class that lose data and cause no error: those without a line in
// ``Record/columns(_:)``, and a key that all new records share.

extension Record {
    /// Returns the columns of a table that have the name of a stored property of the record, but no
    /// line in `columns(_:)`.
    ///
    /// Some classes get their columns from `Codable`, or from the older pair of methods. They
    /// define there which of their own properties are stored. Only their subclasses that list
    /// columns are checked.
    final func unlistedProperties(in table: TableSchema) -> [String] {
        let type = type(of: self)
        guard Overrides.columns(type, unlike: Record.self) == true else { return [] }
        let excepted = Set(type.databaseUnlistedProperties.map(CaseInsensitiveName.init))
        var candidates: [String] = []
        for mirror in sequence(first: Mirror(reflecting: self), next: \.superclassMirror) {
            guard let declaring = mirror.subjectType as? Record.Type,
                let above = FirstUse.superclass(of: declaring),
                FirstUse.listsOwnProperties(declaring, below: above)
            else { continue }
            for label in mirror.children.compactMap(\.label) {
                // An observed or wrapped property has a leading underscore, and a lazy one a longer
                // prefix.
                let names =
                    [label]
                    + ["_", "$__lazy_storage_$_"].filter(label.hasPrefix).map {
                        String(label.dropFirst($0.count))
                    }
                guard let column = names.lazy.compactMap({ table.column(named: $0)?.name }).first,
                    !names.contains(where: { excepted.contains(CaseInsensitiveName($0)) })
                else { continue }
                candidates.append(column)
            }
        }
        guard !candidates.isEmpty, let listed = try? listedColumns() else { return [] }
        var known = Set(listed.map { CaseInsensitiveName($0.name) })
        if Overrides.pair(type, unlike: Record.self) != false {
            known.formUnion(encodedSoFar().layout.names.map(CaseInsensitiveName.init))
        }
        return candidates.filter { !known.contains(CaseInsensitiveName($0)) }
    }
}

extension Record {
    /// Returns the key that each new record of the class has, if it is not nil, though SQLite
    /// numbers the rows of the table. The second saved record would replace the first one.
    static func sharedKey(in table: TableSchema) -> (column: String, value: DatabaseValue)? {
        guard let name = table.primaryKey.rowIDColumn, table.numbersRows else { return nil }
        func key() -> DatabaseValue? {
            let columns = try? self.init(row: Row()).databaseDictionary
            return columns?.first { CaseInsensitiveName.matches($0.key, name) && !$0.value.isNull }?.value
        }
        guard let first = key(), first == key() else { return nil }
        return (name, first)
    }

    /// Returns the sentence for a key that all new records of a class share.
    static func sharedKeySentence(
        _ type: String, _ value: DatabaseValue, column: String, table: String
    ) -> String {
        "Each new \(type) has the key \(value.sqlLiteral) in the column \(column) of the table \(table), which SQLite "
            + "numbers: the second saved one replaces the first one. Declare the property as an Optional."
    }
}

extension TableSchema {
    /// Whether the table is declared AUTOINCREMENT.
    fileprivate var numbersRows: Bool {
        let tokens = SQLTokens(sql)
        return tokens.meaningful.contains {
            if case .word = $0.kind { tokens.text($0.range).lowercased() == "autoincrement" } else { false }
        }
    }
}

extension FirstUse {
    /// Whether the properties that a class itself declares are stored by `columns(_:)`, or not at
    /// all.
    fileprivate static func listsOwnProperties(_ type: Record.Type, below above: Record.Type) -> Bool {
        if Overrides.columns(type, unlike: above) == true { return true }
        return Overrides.pair(type, unlike: above) == false && codedRoot(of: type) != type
    }
}

#if DEBUG
extension Record {
    private static let classesUsed = Lock<Set<ObjectIdentifier>>([])

    /// Warns of stored properties that have the name of a column, and no line, and of a key that
    /// all new records share. It does so in debug builds, once for each class.
    final func adviseOfProperties(in table: @autoclosure () throws -> TableSchema?) {
        let type = type(of: self)
        if Self.classesUsed.withLock({ $0.contains(ObjectIdentifier(type)) }) { return }
        guard let table = try? table(),
            Self.classesUsed.withLock({ $0.insert(ObjectIdentifier(type)).inserted })
        else { return }
        if let (column, value) = type.sharedKey(in: table) {
            ErrorLog.warn(Self.sharedKeySentence("\(type)", value, column: column, table: table.name))
        }
        let names = unlistedProperties(in: table)
        if names.isEmpty { return }
        ErrorLog.warn(
            "\(type) has the properties \(names.joined(separator: ", ")), but columns(_:) does not list these columns of the table "
                + "\(table.name): they are neither read nor stored. List them, or name them in databaseUnlistedProperties."
        )
    }
}
#endif
