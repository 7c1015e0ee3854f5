/// The checks of a record class on its first fetch or save, once per process.
enum FirstUse {
    private static let checked = Lock<Set<ObjectIdentifier>>([])

    /// Checks a class, unless that was already done.
    ///
    /// - Throws: a ``DatabaseError`` if the class lists its columns twice or not at all, would lose
    ///   properties, or declares invalid kinds.
    static func check(_ type: Record.Type) throws {
        let identifier = ObjectIdentifier(type)
        if checked.withLock({ $0.contains(identifier) }) { return }
        try type.rowClasses?.check()
        try checkLists(of: type)
        try checkCoding(of: type)
        try checkColumns(of: type)
        try ClassCoding.of(type)?.use { try $0.check(type) }
        checked.withLock { _ = $0.insert(identifier) }
    }

    /// Checks that a class does not both list its columns and override the older pair of methods.
    /// With both, it would be unclear which of them has the columns. Its superclass may use the
    /// other way.
    private static func checkLists(of type: Record.Type) throws {
        var type = type
        while let above = superclass(of: type) {
            if Overrides.columns(type, unlike: above) == true, Overrides.pair(type, unlike: above) == true {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "\(type) overrides columns(_:), and also updateFromRow(_:) or encode(to:). List all of "
                        + "its columns in columns(_:), and remove the other overrides.")
            }
            type = above
        }
    }

    /// Checks that a class does not declare only half of `Codable`. It could then be read or
    /// stored, but not both, so the properties that it adds would be lost silently.
    private static func checkCoding(of type: Record.Type) throws {
        var type = type
        while let above = superclass(of: type) {
            defer { type = above }
            let name: String
            switch saysCoding(type, below: above) {
            case (true, false): name = "Decodable"
            case (false, true): name = "Encodable"
            default: continue
            }
            if isStoredByItself(type, below: above) || readsInInitializer(type, unlike: above) { continue }
            // A class without properties of its own has none to lose.
            if above != Record.self, Overrides.instanceSize(of: type) == Overrides.instanceSize(of: above) {
                continue
            }
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "\(type) conforms only to \(name), and does not list its columns: they would not be both read and "
                    + "stored. Declare Codable, or list them in columns(_:).")
        }
    }

    /// Checks that a class with properties defines the column of at least one of them. Otherwise
    /// its records would keep their default values, and a save would find nothing to store.
    private static func checkColumns(of type: Record.Type) throws {
        guard Overrides.instanceSize(of: type) > Overrides.instanceSize(of: Record.self),
            Overrides.columns(type, unlike: Record.self) == false,
            Overrides.pair(type, unlike: Record.self) == false, codedRoot(of: type) == nil,
            !readsInInitializer(type, unlike: Record.self), !readsWholeRows(type)
        else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(type) has properties, but does not define their columns: they would keep their default values. List "
                + "them in columns(_:), or declare Codable. (A class that is only fetched may read them in init(row:).)"
        )
    }

    /// Whether the initializer of a class makes a different record from a row with a column than
    /// from a row without. The name of the column does not matter.
    private static func readsWholeRows(_ type: Record.Type) -> Bool {
        func values(of names: [String]) -> [String]? {
            let row = Row(
                .make(RowLayout(names: names, sql: nil), values: names.map { _ in 1.databaseValue }))
            guard let record = try? type.init(row: row) else { return nil }
            let mirrors = sequence(first: Mirror(reflecting: record)) { $0.superclassMirror }
            return mirrors.flatMap { $0.children.map { "\($0.value)" } }
        }
        guard let none = values(of: []), let one = values(of: ["shellac_probe"]) else { return true }
        return none != one
    }

    /// Returns the class that declares `Codable` and leaves its columns to it. Nil for most
    /// classes.
    static func codedRoot(of type: Record.Type) -> Record.Type? {
        var root = type
        while let above = superclass(of: root) {
            if saysCoding(root, below: above) == (true, true) {
                if isStoredByItself(root, below: above) { return nil }
                // A class without properties of its own has none to lose.
                let isEmpty = Overrides.instanceSize(of: type) == Overrides.instanceSize(of: above)
                return above != Record.self && isEmpty ? nil : root
            }
            root = above
        }
        return nil
    }

    /// Returns whether a class declares `Decodable` and `Encodable` while its superclass does not.
    private static func saysCoding(
        _ type: Record.Type, below above: Record.Type
    ) -> (decodable: Bool, encodable: Bool) {
        (
            type is any Decodable.Type && !(above is any Decodable.Type),
            type is any Encodable.Type && !(above is any Encodable.Type)
        )
    }

    /// Whether a class lists columns, or overrides the older pair of methods, unlike its
    /// superclass.
    private static func isStoredByItself(_ type: Record.Type, below above: Record.Type) -> Bool {
        Overrides.pair(type, unlike: above) != false || Overrides.columns(type, unlike: above) != false
    }

    static func superclass(of type: Record.Type) -> Record.Type? {
        _getSuperclass(type) as? Record.Type
    }

    /// Whether the initializer of a class reads other columns than its superclass's. Each class has
    /// an initializer of its own, written or inherited. So the check calls it with a row without
    /// columns, which notes the names that it reads.
    private static func readsInInitializer(_ type: Record.Type, unlike above: Record.Type) -> Bool {
        func namesRead(by type: Record.Type) -> [String]? {
            let missed = MissedNames()
            let layout = RowLayout(names: [], sql: nil, affinities: [], missed: missed)
            return (try? type.init(row: Row(.make(layout, values: [])))).map { _ in missed.names }
        }
        guard let names = namesRead(by: type) else { return true }
        return names != namesRead(by: above)
    }
}

extension Record {
    /// Warns the developer of problems with the columns of a fetched record, in debug builds and
    /// once for each class.
    @usableFromInline
    final func adviseOfFirstFetch(_ row: LiveRow) {
        #if DEBUG
        let type = type(of: self)
        let identifier = ObjectIdentifier(type)
        if Self.classesFetched.withLock({ $0.contains(identifier) }) { return }
        func table() throws -> TableSchema? {
            try (row.storage.pointee.connection as? Database).flatMap { try type.table(in: $0) }
        }
        adviseOfProperties(in: try table())
        guard type.warnsOfChangesAfterFetch, let known = snapshot, known.count > 0,
            !row.storage.pointee.lacksColumns
        else { return }
        let misspelled = misspelledNames(in: known.layout)
        if !misspelled.isEmpty, let table = try? table() {
            let missing = misspelled.filter { table.column(named: $0) == nil }
            if !missing.isEmpty, Self.classesFetched.withLock({ $0.insert(identifier).inserted }) {
                for name in missing {
                    let question = table.columns.map(\.name).question(for: name)
                    ErrorLog.warn(
                        "\(type) lists the column \(name), which is neither in the table \(table.name) nor in the fetched row: the property "
                            + "keeps its default value\(question.isEmpty ? "." : question) If only some requests select "
                            + "the column, list it with column.reading(_:_:).")
                }
                return
            }
        }
        adviseOfChanges(since: known)
        #endif
    }

    #if DEBUG
    /// Returns the columns that are read and stored, but missing from a row.
    private func misspelledNames(in row: RowLayout) -> [String] {
        let missing = try? listedColumns().filter { column in
            column.isRead && column.isWritten && row.column(named: column.name) == nil
                && !TableSchema.rowIDNames.contains { CaseInsensitiveName.matches($0, column.name) }
        }
        return missing?.map(\.name) ?? []
    }

    /// Warns if the first record that was fetched with all of its columns has changes: see
    /// ``warnsOfChangesAfterFetch``.
    private func adviseOfChanges(since row: PackedRow) {
        let type = type(of: self)
        guard let columns = try? encoded(), columns.count > 0,
            columns.layout.names.allSatisfy({ row.layout.column(named: $0) != nil }),
            Self.classesFetched.withLock({ $0.insert(ObjectIdentifier(type)).inserted })
        else { return }
        let changes = columns.changes(from: row)
        if changes.isEmpty { return }
        let names = columns.names(of: changes)
        ErrorLog.warn(
            "a \(type) has changes right after it was fetched, in \(names.joined(separator: ", ")): its next save would "
                + "overwrite the values in the database. Look for a misspelled name, or a property that is not read, in "
                + "columns(_:), or in updateFromRow(_:), init(row:) and encode(to:). If this is intended, "
                + "override class var warnsOfChangesAfterFetch.")
    }

    private static let classesFetched = Lock<Set<ObjectIdentifier>>([])
    #endif
}
