/// A tester of conditions on rows, by a private in-memory connection.
///
/// SQLite evaluates the conditions there. The connection has an empty clone of each table.
///
/// A row is put into the clone of its table, and `SELECT EXISTS (SELECT 1 FROM player WHERE …)` is
/// run. So affinities, collations, generated columns and functions apply to it as in the database.
/// (Comparing bound values would not do: they have neither affinity nor collation.) The clone is
/// made by the very SQL of its table, in a database of the same encoding. It checks no constraint
/// of its own, and has no foreign keys, triggers or further indexes.
///
/// Tests run outside of the accesses to the database.
final class RowTester: Sendable {
    private let queue: DatabaseQueue
    /// The functions that give equal results for equal arguments, both here and on the database's
    /// connection.
    private let knownFunctions: Set<String>
    /// The existing clones, by the names of tables.
    private let clones = Lock<Set<CaseInsensitiveName>>([])
    /// The state of the database's connection that the tester fits.
    let version: RowTesters.Version

    init(for db: Database, _ version: RowTesters.Version) throws {
        self.version = version
        var configuration = Configuration()
        configuration.label = "tests of rows of \(db.description)"
        configuration.foreignKeysEnabled = false
        configuration.advisesIndexes = false
        configuration.acceptsDoubleQuotedStringLiterals = db.configuration.acceptsDoubleQuotedStringLiterals
        queue = try DatabaseQueue(configuration: configuration)
        let encoding = try db.asking {
            try String.fetchOne(db.makeStatement(sql: "PRAGMA encoding")) ?? "UTF-8"
        }
        let added = db.added
        try queue.inDatabase { clone in
            try clone.execute(sql: "PRAGMA encoding = \(encoding.quotedDatabaseLiteral)")
            try clone.execute(sql: "PRAGMA ignore_check_constraints = 1")
            for function in added.functions { try clone.add(function: function) }
            for collation in added.collations { try clone.add(collation: collation) }
        }
        // All functions that are not built in: Shellac's, and those of extensions.
        let others = try db.asking {
            try String.fetchAll(
                db.makeStatement(sql: "SELECT lower(name) FROM pragma_function_list WHERE NOT builtin"))
        }
        let counts = Dictionary(others.map { ($0, 1) }, uniquingKeysWith: +)
        var known = Self.pureFunctions.subtracting(counts.keys)
        for (name, functions) in Dictionary(grouping: added.functions, by: { $0.name.lowercased() })
        where functions.allSatisfy(\.isPure) && functions.count == counts[name] { known.insert(name) }
        knownFunctions = known
    }

    /// The built-in functions that give equal results for equal arguments. (LIKE changes with
    /// `PRAGMA case_sensitive_like`, and date functions depend on `now`.)
    private static let pureFunctions: Set<String> = [
        "abs", "char", "coalesce", "glob", "hex", "ifnull", "iif", "instr", "length", "likelihood", "likely",
        "lower",
        "ltrim", "max", "min", "nullif", "quote", "replace", "round", "rtrim", "sign", "substr", "substring",
        "trim",
        "typeof", "unhex", "unicode", "unlikely", "upper", "->", "->>", "json", "json_array",
        "json_array_length",
        "json_extract", "json_object", "json_type", "json_valid", "json_quote",
        "ceil", "ceiling", "floor", "mod", "pow", "power", "sqrt", "trunc",
        "avg", "count", "group_concat", "sum", "total", "row_number", "rank", "dense_rank", "ntile", "lag",
        "lead",
        "first_value", "last_value", "nth_value", "percent_rank", "cume_dist",
    ]

    /// Whether functions give equal results for equal arguments.
    func areKnown(_ functions: Set<String>) -> Bool { functions.isSubset(of: knownFunctions) }

    /// Prepares the test of a condition. Returns false if it cannot be run.
    func prepare(_ test: SharedQuery, of table: TableSchema, _ stored: StoredColumns, on db: Database)
        -> Bool
    {
        do {
            return try queue.inDatabase { clone in
                try makeClone(of: table, on: clone, like: db)
                let statement = try clone.queries.prepare(
                    RequestQuery(storage: test, purpose: .existence), on: clone
                ).statement
                return areKnown(statement.effects.functions)
            }
        } catch {
            // The clone refuses something, so the result is unknown.
            return false
        }
    }

    private func makeClone(of table: TableSchema, on clone: Database, like db: Database) throws {
        let name = CaseInsensitiveName(table.name)
        if clones.withLock({ $0.contains(name) }) { return }
        let declared = try db.schema.objects(.table, in: "main").first { $0.name == table.name }
        guard let declared else { throw DatabaseError(message: "there is no table \(table.name)") }
        try clone.execute(sql: declared.sql)
        clones.withLock { _ = $0.insert(name) }
    }

    // MARK: - Testing

    /// Returns the queries that rows affect.
    func test(_ rows: [HeldRow]) async -> [LiveQuery] {
        var found: [ObjectIdentifier: LiveQuery] = [:]
        var rest = rows[...]
        while !rest.isEmpty {
            // In parts: a new query may be waiting for its test to be prepared.
            let part = Array(rest.prefix(64))
            rest = rest.dropFirst(64)
            let known = Set(found.keys)
            let concerned = try? await queue.writeWithoutTransaction { clone in
                self.test(part, without: known, on: clone)
            }
            // If tests cannot be run, all queries may be affected.
            for query in concerned ?? part.flatMap({ $0.entries.map(\.query) }) {
                found[ObjectIdentifier(query)] = query
            }
        }
        return Array(found.values)
    }

    private func test(_ rows: [HeldRow], without known: Set<ObjectIdentifier>, on clone: Database)
        -> [LiveQuery]
    {
        var found: [ObjectIdentifier: LiveQuery] = [:]
        for row in rows {
            var open = row.entries.filter { entry in
                let key = ObjectIdentifier(entry.query)
                return found[key] == nil && !known.contains(key) && !entry.query.isEnded
            }
            let (before, after) = (row.values.initial, row.values.final)
            for (values, rowID) in [(before, row.values.initialRowID), (after, row.values.finalRowID)] {
                guard let values, !open.isEmpty else { continue }
                do {
                    try put(values, rowID, of: row, on: clone)
                    open = try open.filter { entry in
                        guard try isSatisfied(entry.condition, on: clone) else { return true }
                        found[ObjectIdentifier(entry.query)] = entry.query
                        return false
                    }
                } catch {
                    // The result is unknown.
                    for entry in open { found[ObjectIdentifier(entry.query)] = entry.query }
                    open = []
                }
            }
        }
        return Array(found.values)
    }

    /// Replaces the content of a table's clone by one row, as it was before its change or as it is
    /// after it.
    private func put(_ values: [DatabaseValue], _ rowID: Int64?, of row: HeldRow, on clone: Database) throws {
        let (table, columns) = (row.table, row.values.columns)
        try clone.cachedStatement(sql: "DELETE FROM \(table.name.quotedDatabaseIdentifier)").execute()
        var names: [String] = []
        var arguments: [DatabaseValue] = []
        if table.primaryKey.rowIDColumn == nil {
            guard let name = table.rowIDName else { throw DatabaseError(message: "the row id has no name") }
            names.append(name)
            arguments.append((rowID ?? 0).databaseValue)
        }
        for (column, value) in zip(columns.columns, values)
        where table.column(named: column.name)?.generation == nil {
            if value.isRepaired { throw DatabaseError(message: "a text is not UTF-8") }
            names.append(column.name)
            arguments.append(value)
        }
        let insertion = "INSERT INTO \(table.name.quotedDatabaseIdentifier) \(names.quotedColumnList)"
        try clone.cachedStatement(sql: "\(insertion) VALUES (\(String.questionMarks(names.count)))")
            .execute(arguments: StatementArguments(arguments))
    }

    private func isSatisfied(_ condition: RowCondition, on clone: Database) throws -> Bool {
        guard let test = condition.test else { return true }
        let (statement, arguments) = try clone.queries.prepare(
            RequestQuery(storage: test, purpose: .existence), on: clone)
        return try Bool.fetchOne(statement, arguments: arguments) ?? true
    }
}

/// A changed row, and the entries whose conditions it must be tested by.
struct HeldRow: Sendable {
    let table: TableSchema
    let values: RowValues
    var entries: [TableWatch.Tested]
}

/// The maker of a connection's tester, which makes another one when the schema, the functions or
/// the collations have changed.
final class RowTesters {
    struct Version: Equatable {
        let schemaGeneration: UInt64
        // (Every observation has a few of these, so half a word is saved.)
        private let addedVersion: UInt32

        init(schemaGeneration: UInt64, addedVersion: Int) {
            self.schemaGeneration = schemaGeneration
            self.addedVersion = UInt32(truncatingIfNeeded: addedVersion)
        }

        /// The version for "nothing known yet".
        static let unknown = Version(schemaGeneration: 0, addedVersion: -1)
    }
    private var tester: RowTester?
    /// The version for which no tester could be made.
    private var failure: Version?

    /// Returns the version of the state that conditions depend on.
    ///
    /// The readers of a pool take turns, and each counts its own generations. But they see
    /// committed schemas, which the file numbers.
    static func version(on db: Database) throws -> Version {
        let generation =
            db.readsBesideWriter
            ? try db.schema.databaseNames().reduce(into: 0) { sum, name in
                sum &+= UInt64(bitPattern: try db.schemaVersion(of: name))
            } : try db.schemaGeneration
        return Version(schemaGeneration: generation, addedVersion: db.added.version)
    }

    /// Returns the tester, or nil if none can be made: then each row affects each query of its
    /// table.
    func tester(on db: Database) -> RowTester? {
        guard let version = try? Self.version(on: db), failure != version else { return nil }
        if let tester, tester.version == version { return tester }
        tester = try? RowTester(for: db, version)
        failure = tester == nil ? version : nil
        return tester
    }

    /// The tester that was made last.
    var present: RowTester? { tester }
}

extension DatabaseValue {
    /// Whether the value is a text that may have been repaired when it was read, and so differ from
    /// the stored one.
    var isRepaired: Bool {
        guard case .string(let text) = storage else { return false }
        return text.unicodeScalars.contains("\u{FFFD}")
    }

    /// Whether another value is identical, to the last bit.
    func isIdentical(to other: DatabaseValue) -> Bool {
        switch (storage, other.storage) {
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        default: self == other && !isRepaired
        }
    }
}
