// Stored properties that have no line in ``Record/columns(_:)``.
//
// They are neither read nor stored, and nothing else would report it.

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

    /// Warns of stored properties that have the name of a column, and no line. It does so in debug
    /// builds, once for each class.
    final func adviseOfProperties(in table: @autoclosure () throws -> TableSchema?) {
        let type = type(of: self)
        if Self.classesUsed.withLock({ $0.contains(ObjectIdentifier(type)) }) { return }
        guard let table = try? table(),
            Self.classesUsed.withLock({ $0.insert(ObjectIdentifier(type)).inserted })
        else { return }
        let names = unlistedProperties(in: table)
        if names.isEmpty { return }
        ErrorLog.warn(
            "\(type) has the properties \(names.joined(separator: ", ")), but columns(_:) does not list these columns of the table "
                + "\(table.name): they are neither read nor stored. List them, or name them in databaseUnlistedProperties."
        )
    }
}
#endif
