/// A writer of request shapes: bytes that are equal for equal SQL, regardless of the values.
///
/// Parentheses follow the tree, and nothing is quoted or looked up in the schema. Text that is not
/// fixed is preceded by a mark and its length, so that no name can pass for SQL.
struct ShapeWriter: QueryWriter {
    static var asksForConditions: Bool { false }
    private(set) var bytes: [UInt8]
    private(set) var arguments: [DatabaseValue] = []
    /// The connection that provides the columns of keys whose stored form depends on the type.
    unowned(unsafe) let database: Database?  // used by the writer's owner
    var current: QueryTables?
    var enclosing: [QueryTables] = []
    var scope: ColumnScope?
    /// The numbers of unnamed tables.
    private var unnamed: [String: Int] = [:]

    /// Creates a writer that reuses the memory of the given bytes.
    init(over bytes: consuming [UInt8], _ database: Database? = nil) {
        self.database = database
        self.bytes = bytes
        self.bytes.removeAll(keepingCapacity: true)
    }

    private enum Mark: UInt8 {
        case keyword = 1
        case name, value, column, fragment, table, selection, key, condition, row, open, close, unnamed
    }

    mutating func text(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func mark(_ mark: Mark) { bytes.append(mark.rawValue) }

    private mutating func number(_ number: Int) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    @inline(__always)
    private mutating func string(_ string: String, _ mark: Mark) {
        self.mark(mark)
        number(string.utf8.count)
        bytes.append(contentsOf: string.utf8)
    }

    mutating func begin(_ scope: ColumnScope) { name(scope.table) }

    mutating func keyword(_ text: String) { string(text, .keyword) }
    mutating func name(_ name: String) {
        guard AliasNumber.isUnnamed(name) else { return string(name, .name) }
        let known = unnamed[name] ?? unnamed.count
        unnamed[name] = known
        mark(.unnamed)
        number(known)
    }

    mutating func value(_ value: DatabaseValue) {
        mark(.value)
        arguments.append(value)
    }

    mutating func plainFragment(_ fragment: SQL) throws {
        let fragment = try fragment.positional
        string(fragment.text, .fragment)
        arguments += fragment.values.values
    }

    mutating func query(_ query: Subquery, at place: SQLPlace) throws {
        // The surrounding text determines the place.
        mark(.open)
        try query.write(to: &self)
        mark(.close)
    }

    mutating func expression(_ expression: SQLExpression, above level: Precedence) throws {
        switch expression.form {
        case .value(let value): self.value(value)
        case .column(let column):
            if let scope, scope.isColumn(column) { name(scope.table) }
            string(column, .column)
        case .tree(let tree):
            mark(.open)
            try unsafeDowncast(tree, to: ExpressionTree.self).write(to: &self)
            mark(.close)
        }
    }

    mutating func table(of type: any TableRecord.Type) throws {
        #if DEBUG
        try database?.queries.checkTableName(of: type)
        #endif
        mark(.table)
        number(Int(bitPattern: ObjectIdentifier(type)))
    }

    mutating func selection(of type: any TableRecord.Type) {
        mark(.selection)
        number(Int(bitPattern: ObjectIdentifier(type)))
    }

    mutating func joinedSelection(of type: any TableRecord.Type, alias: String?) {
        selection(of: type)
        name(alias ?? "")
    }

    private mutating func source(_ source: QuerySource) throws {
        try source.write(to: &self)
        if let type = source.type { try table(of: type) }
    }

    mutating func rowKey(of source: QuerySource, _ separator: StaticString) throws {
        mark(.key)
        text(separator)
        try self.source(source)
    }

    /// Writes a condition. (The shape already contains the tables.)
    mutating func condition(_ condition: SQLExpression, of table: @autoclosure () -> String?) throws {
        try expression(condition, above: .lowest)
    }

    mutating func condition(_ keys: KeyCondition) throws {
        mark(.condition)
        let source = keys.source
        try self.source(source)
        let keys = try keys.keys {
            guard let database else { return nil }
            let table = try database.tableSchema(of: source)
            return try (table, source.primaryKey(of: table))
        }
        switch keys {
        case .values(let values):
            if let json = keys.json {
                number(-1)
                arguments.append(json)
            } else {
                number(values.count)
                arguments += values
            }
        case .rows(let columns, let rows):
            for column in columns { name(column) }
            mark(.row)
            number(rows.count)
            for row in rows { arguments += row }
        }
    }
}
