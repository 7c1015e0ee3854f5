/// A list of the classes whose records share one table.
protocol ClassList: Sendable {
    /// Returns the facts about the rows of one class.
    func classes(of type: Record.Type) -> RecordClasses
}

/// The classes of a table whose rows are records of several classes, seen from one of them.
///
/// ``Record/databaseKinds`` declares them. All code that reads or writes rows of a class uses
/// this class. The layer Kinds has the subclass, which has the values of the column.
class RecordClasses: @unchecked Sendable {  // constant, as its subclass is
    let type: Record.Type
    /// The class that declares the list.
    let base: Record.Type
    /// The column that holds the class of each row.
    let column: String
    /// The condition on the rows of the class and its subclasses. Nil for all rows.
    let condition: SQLExpression?
    /// The same condition, if there is no default filter.
    fileprivate let conditions: _OwnConditions?

    init(_ type: Record.Type, base: Record.Type, column: String, condition: SQLExpression?) {
        (self.type, self.base, self.column, self.condition) = (type, base, column, condition)
        conditions = _OwnConditions(kind: condition, DefaultFilter())
    }

    /// Whether this class declares the list.
    final var isBase: Bool { type == base }

    /// The other classes whose records are rows of this class.
    var subclasses: [Record.Type] { [] }

    /// Throws if the declaration is invalid.
    func check() throws {}

    /// Throws if a table cannot distinguish the classes.
    func check(_ table: TableSchema) throws {}

    /// Makes the rule for saves of the class's records.
    func saveRule() -> SaveRule? { nil }

    /// Returns the value that an insertion of the class writes to the column.
    ///
    /// - Throws: a ``DatabaseError`` if the class is not listed.
    func insertedValue() throws -> DatabaseValue { .null }

    /// Returns the class of a row. Nil if the row lacks the column.
    ///
    /// - Throws: ``RecordError/unknownKind(recordType:kind:row:)`` and
    ///   ``RecordError/kindChanged(recordType:kind:row:)`` if it is not this class or a subclass.
    func type(of row: Row) throws -> Record.Type? { nil }

    /// Throws if a row is not of exactly this class.
    func checkRow(_ row: Row) throws {}

    /// Makes a reader of a statement's rows, each of the class that the row names.
    func reader(of row: LiveRow) -> ClassReader { ClassReader(type) }

    /// Returns the values of the column that are not listed, with the number of rows of each.
    func unknownValues(in table: TableSchema, on db: Database) throws -> [(value: DatabaseValue, count: Int)]
    { [] }
}

/// A reader that makes records of several classes from the rows of a statement.
class ClassReader: ElementMaker {
    /// The class that the fetch requests.
    final let asked: Record.Type

    init(_ asked: Record.Type) { self.asked = asked }

    /// Makes a record from the row. Returns nil if the row lacks the column of the class.
    func make(_ row: LiveRow) throws -> Record? { nil }

    /// Learns the table of each class from the connection: see `LiveRow.learnTable(of:)`.
    func learnTables(of row: LiveRow) throws {}
}

extension Record {
    /// The classes of the table. Nil if its rows are of one class, as in most tables.
    static var rowClasses: RecordClasses? { databaseKinds.list?.classes(of: self) }

    public static var _ownConditions: _OwnConditions? {
        let (classes, filter) = (rowClasses, defaultFilter)
        return filter.conditions.isEmpty
            ? classes?.conditions : _OwnConditions(kind: classes?.condition, filter)
    }

    /// Whether the class is the other one, or inherits from it.
    static func isSubclass(of other: Record.Type) -> Bool {
        var type: Record.Type? = self
        while let candidate = type {
            if candidate == other { return true }
            type = FirstUse.superclass(of: candidate)
        }
        return false
    }
}

extension LiveRow {
    /// Returns the reader that makes records of a class from the row. Nil if the class's table has
    /// records of one class.
    ///
    /// - Throws: a ``DatabaseError`` if the class's kinds are invalid.
    @inline(__always)
    func classReader(of type: Record.Type) throws -> Unretained<ClassReader>? {
        if let known = storage.pointee.makerReference {
            let reader = Unretained<ClassReader>(context: known.context)
            if reader.use({ $0.asked == type }) { return reader }
        }
        return try makeClassReader(of: type)
    }

    @inline(never)
    private func makeClassReader(of type: Record.Type) throws -> Unretained<ClassReader>? {
        guard let classes = type.rowClasses else { return nil }
        try FirstUse.check(type)
        let reader = classes.reader(of: self)
        storage.pointee.plainElement = nil
        storage.pointee.maker = reader
        return Unretained(reader)
    }

    /// Learns the tables of a class and of the other classes of its rows from the connection.
    /// Records may be made from the row later, without access to the connection.
    func learnTables(of type: Record.Type) throws {
        if let reader = try classReader(of: type) { try reader.use { try $0.learnTables(of: self) } }
        try learnTable(of: type)
    }
}
