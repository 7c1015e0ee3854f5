/// The place of a class among the kinds of its table: see ``DatabaseKinds``.
final class ClassKind: RecordClasses, @unchecked Sendable {  // constant
    let unknown: DatabaseKinds.Unknown
    /// The classes of the table.
    let listed: [ListedKinds.Listed]
    /// The value of the column in the rows of the class. Nil for a class that is not listed.
    let kind: DatabaseValue?
    /// The classes whose records are the rows of the class: itself and its subclasses, as far as
    /// they are listed.
    ///
    /// If neither the class nor a subclass of it is listed, it takes rows of the nearest listed
    /// class above it. It takes the rows of exactly that class, not of its other subclasses, as its
    /// own records.
    let classes: [ListedKinds.Listed]
    /// The error in the declaration, or in the class's place in it.
    private let fault: DatabaseError?

    private static let known = Lock<[ObjectIdentifier: ClassKind]>([:])

    /// Returns the place of a class in the list that it declares or inherits.
    static func of(_ type: Record.Type, in list: ListedKinds) -> ClassKind {
        if let known = known.withLock({ $0[ObjectIdentifier(type)] }) { return known }
        let kind = make(type, list)
        return known.withLock { known in
            if let other = known[ObjectIdentifier(type)] { return other }
            known[ObjectIdentifier(type)] = kind
            return kind
        }
    }

    private init(
        _ type: Record.Type, base: Record.Type, _ declared: ListedKinds,
        _ classes: [ListedKinds.Listed], _ fault: DatabaseError?, _ condition: SQLExpression?
    ) {
        unknown = declared.unknown
        listed = declared.listed
        kind = declared.listed.first { $0.type == type }?.kind
        self.classes = classes
        self.fault = fault
        super.init(type, base: base, column: declared.column, condition: condition)
    }

    private static func make(_ type: Record.Type, _ list: ListedKinds) -> ClassKind {
        var (base, declared) = (type, list)
        while let above = FirstUse.superclass(of: base), let kinds = above.listedKinds {
            (base, declared) = (above, kinds)
        }
        let sentence =
            Self.fault(of: declared, declaredBy: base)
            ?? Self.fault(of: type, among: declared, declaredBy: base)
        let fault = sentence.map { DatabaseError(resultCode: .SQLITE_MISUSE, message: $0) }
        let classes = classes(of: type, below: base, among: declared.listed)
        let condition = condition(declared.column, classes.map(\.kind), isBase: type == base, fault)
        return ClassKind(type, base: base, declared, classes, fault, condition)
    }

    override var subclasses: [Record.Type] {
        listed.map(\.type).filter { $0 != type && $0.isSubclass(of: type) }
    }

    override func saveRule() -> SaveRule? { KindRule(self) }

    override func insertedValue() throws -> DatabaseValue {
        try checkSaving([])
        return kind ?? .null
    }

    override func reader(of row: LiveRow) -> ClassReader { KindReader(self, row) }

    private static func classes(
        of type: Record.Type, below base: Record.Type, among listed: [ListedKinds.Listed]
    ) -> [ListedKinds.Listed] {
        let own = listed.filter { $0.type.isSubclass(of: type) }
        if !own.isEmpty { return own }
        var above = type
        while above != base, let next = FirstUse.superclass(of: above) {
            above = next
            if let one = listed.first(where: { $0.type == above }) {
                return [ListedKinds.Listed(kind: one.kind, type: type)]
            }
        }
        return []
    }

    override func check() throws {
        if let fault { throw fault }
    }

    override func check(_ table: TableSchema) throws {
        try check()
        func refuse(_ sentence: String) -> DatabaseError {
            DatabaseError(message: sentence)
        }
        guard let info = table.column(named: column) else {
            let question = table.columns.map(\.name).question(for: column)
            throw refuse(
                "the table \(table.name) has no column \(column), which holds the kinds of \(base): add it\(question)"
            )
        }
        guard table.kind == .table else { return }
        let collation = table.comparison(ofColumn: info.name).collation.name ?? "BINARY"
        if !CaseInsensitiveName.matches(collation, "BINARY"), listed.contains(where: \.kind.isText) {
            throw refuse(
                "the column \(info.name) of the table \(table.name) is compared by \(collation), and holds the kinds of \(base), which are "
                    + "compared byte by byte: declare it COLLATE BINARY")
        }
        for one in listed where info.affinity.storing(one.kind) != one.kind {
            throw refuse(
                "the column \(info.name) of the table \(table.name), whose type is \(info.type), does not store \(one.kind.sqlLiteral), a kind of "
                    + "\(base), as it is: declare it as what its kinds are")
        }
    }

    // MARK: - Conditions

    private static func condition(
        _ column: String, _ kinds: [DatabaseValue], isBase: Bool, _ fault: DatabaseError?
    ) -> SQLExpression? {
        if let fault { return SQLExpression(.late(RefusedCondition(fault))) }
        if isBase { return nil }
        let column = SQLExpression(.column(column))
        let values = kinds.map { SQLExpression(.value($0)) }
        switch values.count {
        case 0: return SQLExpression(.word("0"))
        case 1: return SQLExpression(.infix(.equal, column, values[0]))
        default: return SQLExpression(.list(column, in: values, isNegated: false))
        }
    }

    /// The condition on the row of a record of the class itself, in SQL.
    var ownRows: String {
        guard isBase, unknown == .base else { return isAmong(kind.map { [$0] } ?? classes.map(\.kind)) }
        let others = listed.filter { $0.type != type }.map(\.kind)
        return others.isEmpty ? "1" : "(\(quotedColumn) IS NULL OR \(isAmong(others, not: true)))"
    }

    /// The value that an insertion writes, in SQL.
    var inserted: String { (kind ?? .null).sqlLiteral }

    var quotedColumn: String { column.quotedDatabaseIdentifier }

    private func isAmong(_ kinds: [DatabaseValue], not isNegated: Bool = false) -> String {
        if kinds.isEmpty { return "0" }
        let list = kinds.map(\.sqlLiteral).joined(separator: ", ")
        return "\(quotedColumn) \(isNegated ? "NOT " : "")IN (\(list))"
    }

    // MARK: - Rows

    /// Returns the class of a row.
    ///
    /// - Parameter value: The value of the column.
    /// - Returns: The class, or nil if the value is unknown and unknown kinds are errors.
    func type(of value: DatabaseValue) -> Record.Type? {
        (classes.first { $0.kind == value } ?? listed.first { $0.kind == value })?.type
            ?? (unknown == .base ? base : nil)
    }

    /// Returns the value of the column in a row. Nil if the row lacks it, or exists only to note
    /// the names that are read from it.
    func value(in row: Row) -> DatabaseValue? {
        row.layout.missed == nil ? row.databaseValue(named: column) : nil
    }

    override func type(of row: Row) throws -> Record.Type? {
        guard let value = value(in: row) else { return nil }
        guard let type = type(of: value), type.isSubclass(of: self.type) else { throw error(value, row) }
        return type
    }

    override func checkRow(_ row: Row) throws {
        guard let value = value(in: row), self.type(of: value) != type else { return }
        throw error(value, row)
    }

    /// Returns the error for a row that is not of the class.
    func error(_ value: DatabaseValue, _ row: Row) -> RecordError {
        let values = CurrentRow(databaseTableName: base.databaseTableName, columns: Array(row.copy()))
        return type(of: value) == nil
            ? .unknownKind(recordType: "\(type)", kind: value, row: values)
            : .kindChanged(recordType: "\(type)", kind: value, row: values)
    }

    /// Checks that records of the class can be saved.
    ///
    /// - Parameter names: The columns that a record has encoded.
    /// - Throws: a ``DatabaseError`` if the class is not listed, unless it is the base and takes
    ///   unknown kinds. Also if the class stores the column itself.
    func checkSaving(_ names: [String]) throws {
        if names.contains(where: { CaseInsensitiveName.matches($0, column) }) {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message:
                    "\(type) stores the column \(column), which holds the kinds of \(base): it is written by itself. List it by "
                    + "column.reading(_:_:), or leave it out")
        }
        if kind != nil || isBase && unknown == .base { return }
        let sentence =
            isBase
            ? "\(type) is not among its own databaseKinds, where unknown kinds are errors: its rows could not be fetched. "
                + "Save records of its subclasses, or list it, or say unknown: .base"
            : "\(type) is not among the databaseKinds of \(base): its rows could not be distinguished from those of others. List it there"
        throw DatabaseError(resultCode: .SQLITE_MISUSE, message: sentence)
    }

    // MARK: - The stored rows

    override func unknownValues(
        in table: TableSchema, on db: Database
    ) throws -> [(value: DatabaseValue, count: Int)] {
        let name = table.name.quoted(in: table.schemaName)
        let sql = "SELECT \(quotedColumn), COUNT(*) FROM \(name) GROUP BY 1 ORDER BY 1"
        return try Row.fetchAll(db, sql: sql).map(\.databaseValues).filter { values in
            // Records of an unlisted base class have no kind.
            !listed.contains { $0.kind == values[0] } && !(values[0].isNull && unknown == .base)
        }.map { ($0[0], Int.fromDatabaseValue($0[1]) ?? 0) }
    }

    // MARK: - Faults

    /// Returns the error in a declaration, or nil.
    private static func fault(of kinds: ListedKinds, declaredBy base: Record.Type) -> String? {
        for (index, one) in kinds.listed.enumerated() {
            switch one.kind.storage {
            case .int64, .string: break
            case .null, .double, .blob:
                return "a kind of \(base) is \(one.kind.sqlLiteral): a kind is a text or an integer"
            }
            guard one.type.isSubclass(of: base) else {
                return "\(one.type) is among the databaseKinds of \(base), and is no subclass of it"
            }
            guard CaseInsensitiveName.matches(one.type.databaseTableName, base.databaseTableName) else {
                return
                    "\(one.type) is among the databaseKinds of \(base), and has a table of its own: let it inherit the databaseTableName \(base.databaseTableName)"
            }
            for other in kinds.listed[..<index] {
                if other.kind == one.kind {
                    return
                        "both \(other.type) and \(one.type) claim the kind \(one.kind.sqlLiteral) of \(base)"
                }
                if other.type == one.type {
                    return
                        "\(one.type) has two kinds of \(base), \(other.kind.sqlLiteral) and \(one.kind.sqlLiteral): it is not clear which one to write"
                }
            }
        }
        return nil
    }

    /// Returns the error in the place of a class in a declaration, or nil.
    private static func fault(
        of type: Record.Type, among kinds: ListedKinds, declaredBy base: Record.Type
    ) -> String? {
        for type in [type] + kinds.listed.map(\.type) where !kinds.isSame(as: type.listedKinds) {
            return
                "\(type) declares other databaseKinds than its superclass \(base): let \(base) declare all, and let no subclass override them"
        }
        guard CaseInsensitiveName.matches(type.databaseTableName, base.databaseTableName) else {
            return
                "\(type) inherits the databaseKinds of \(base), and has a table of its own: override databaseKinds there with DatabaseKinds(), or leave the databaseTableName \(base.databaseTableName)"
        }
        let (deletion, name) = (base.databaseSoftDelete, Self.name(of: base.databaseSoftDelete))
        for type in [type] + kinds.listed.map(\.type) {
            let other = type.databaseSoftDelete
            if Self.isSame(deletion, other) { continue }
            return
                "\(type) has another databaseSoftDelete than \(base) (\(Self.name(of: other)), and not \(name)): what becomes of a row that is "
                + "deleted would depend on the class that is asked. Let \(base) declare it for all, and let no subclass override it"
        }
        return nil
    }

    /// Whether rows are deleted in the same way, as far as that can be compared.
    private static func isSame(_ deletion: SoftDelete?, _ other: SoftDelete?) -> Bool {
        guard let deletion, let other else { return deletion == nil && other == nil }
        return CaseInsensitiveName.matches(deletion.column, other.column)
            && deletion.cascades.map(\.name) == other.cascades.map(\.name)
    }

    /// Returns the name of a way to delete, for the error about a different one.
    private static func name(of deletion: SoftDelete?) -> String {
        guard let deletion else { return "none" }
        if deletion.cascades.isEmpty { return deletion.column }
        return "\(deletion.column) cascading \(deletion.cascades.map(\.name).joined(separator: ", "))"
    }
}

extension DatabaseValue {
    fileprivate var isText: Bool { if case .string = storage { true } else { false } }
}
