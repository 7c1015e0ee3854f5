// Tries candidate indexes against SQLite's planner, on an empty in-memory copy of the schema.

import CSQLite

/// A copy of a database's tables in memory, without rows, to ask SQLite's planner about other
/// indexes.
package struct IndexModel: ~Copyable {
    private let handle: ConnectionHandle

    /// An index that may help.
    package struct Candidate {
        package let table: String
        package fileprivate(set) var columns: [String]

        /// Returns the SQL that creates the index.
        fileprivate func sql(_ name: String) -> String {
            let list = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            return
                "CREATE INDEX \(name.quotedDatabaseIdentifier) ON \(table.quotedDatabaseIdentifier)(\(list))"
        }

        /// Whether the index can replace another one.
        fileprivate func serves(as other: Candidate) -> Bool {
            table == other.table && columns.starts(with: other.columns)
        }

        /// The SQL as it is reported.
        package var sql: String { sql(([table] + columns).joined(separator: "_")) }
    }

    /// A loop of a query plan that uses a candidate to find rows.
    private struct Search {
        let loop: String
        let candidate: Int
        let termCount: Int
        let hasEquality: Bool
    }

    /// Returns the indexes, as SQL, with which SQLite would search for rows instead of reading
    /// whole tables. The result is empty if the tables cannot be copied, or if the statement calls
    /// custom functions.
    ///
    /// - Throws: an error if the schema cannot be read now.
    static func indexes(for statement: Statement) throws -> [String] {
        try candidates(for: statement).map(\.sql)
    }

    /// Returns these indexes in parts.
    package static func candidates(for statement: Statement) throws -> [Candidate] {
        try ErrorLog.trying {
            var indexes: [Candidate] = []
            for index in try IndexModel(of: statement.database).indexes(for: statement) {
                // Another loop may use the index, too, or only its first columns.
                if indexes.contains(where: { $0.serves(as: index) }) { continue }
                indexes.removeAll { index.serves(as: $0) }
                indexes.append(index)
            }
            return indexes
        }
    }

    private init(of db: Database) throws {
        let schema = try db.withoutWaiting {
            Self.rows(
                db.pointer,
                "SELECT sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite@_%' ESCAPE '@' "
                    + "AND type <> 'trigger' ORDER BY type = 'view', type = 'index', rowid")
        }
        guard let schema else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
        handle = try ConnectionHandle(path: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        // If one cannot be created, such as an existing shadow table of a virtual table, the others
        // may suffice.
        for sql in schema { execute(sql) }
    }

    // MARK: - Trying

    private func indexes(for statement: Statement) -> [Candidate] {
        guard let plan = plan(statement.sql) else { return [] }
        let scanned = Set(plan.compactMap(Self.scannedLoop))
        guard !scanned.isEmpty else { return [] }
        let reads = statement.effects.reads.sorted { $0.key < $1.key }
        let singles = reads.flatMap { table, columns in
            columns.sorted().map { Candidate(table: table, columns: [$0]) }
        }
        var chosen: [Candidate] = []
        for search in searches(statement, singles.prefix(Self.maximumCandidates), scanned) {
            // A statement that writes may affect all rows of a range.
            if !statement.isReadonly, !search.hasEquality { continue }
            chosen.append(extended(singles[search.candidate], search, statement, scanned))
        }
        return chosen
    }

    private static var maximumCandidates: Int { 100 }
    private static var maximumColumns: Int { 3 }

    /// Returns the candidate with additional columns, as long as SQLite uses more of them.
    private func extended(
        _ candidate: Candidate, _ search: Search, _ statement: Statement, _ scanned: Set<String>
    ) -> Candidate {
        var (best, termCount) = (candidate, search.termCount)
        let others = (statement.effects.reads[candidate.table] ?? []).sorted()
        while best.columns.count < Self.maximumColumns {
            let longer = others.filter { !best.columns.contains($0) }.map { other in
                Candidate(table: best.table, columns: best.columns + [other])
            }
            let found = searches(statement, longer.prefix(Self.maximumCandidates), scanned)
                .first { $0.loop == search.loop && $0.termCount > termCount }
            guard let found else { break }
            (best, termCount) = (longer[found.candidate], found.termCount)
        }
        return best
    }

    /// Returns the loops that read whole tables without the candidates, and search for rows with
    /// them.
    private func searches(
        _ statement: Statement, _ candidates: ArraySlice<Candidate>, _ scanned: Set<String>
    ) -> [Search] {
        for number in candidates.indices { execute(candidates[number].sql(Self.name(number))) }
        defer { for number in candidates.indices { execute("DROP INDEX IF EXISTS \(Self.name(number))") } }
        return (plan(statement.sql) ?? []).compactMap { detail in
            guard let loop = Self.loop(of: detail, after: "SEARCH "), scanned.contains(loop),
                let number = candidates.indices.first(where: { detail.contains(" \(Self.name($0)) (") })
            else { return nil }
            return Search(
                loop: loop, candidate: number,
                termCount: Self.terms(of: detail).filter { "=<>".contains($0) }.count,
                hasEquality: Self.terms(of: detail).contains("=?"))
        }
    }

    private static func name(_ number: Int) -> String { "shellac_candidate_\(number)" }

    // MARK: - Plans

    /// Returns the lines of a statement's query plan: see "EXPLAIN QUERY PLAN" in the SQLite
    /// documentation.
    private func plan(_ sql: String) -> [String]? {
        Self.rows(handle.pointer, "EXPLAIN QUERY PLAN \(sql)", column: 3)
    }

    /// Returns the loop that a line of a plan belongs to, if the loop reads a whole table, or first
    /// creates an index for it.
    private static func scannedLoop(_ detail: String) -> String? {
        if let loop = loop(of: detail, after: "SCAN ") { return loop }
        return detail.contains(" AUTOMATIC ") ? loop(of: detail, after: "SEARCH ") : nil
    }

    private static func loop(of detail: String, after word: String) -> String? {
        guard detail.hasPrefix(word) else { return nil }
        let rest = detail.dropFirst(word.count)
        return rest.firstRange(of: " USING ").map { String(rest[..<$0.lowerBound]) } ?? String(rest)
    }

    /// Returns the terms of an index in a line of a plan, such as `teamId=? AND score>?`.
    private static func terms(of detail: String) -> Substring {
        detail.lastIndex(of: "(").map { detail[$0...] } ?? ""
    }

    // MARK: - SQLite

    private func execute(_ sql: String) { sqlite3_exec(handle.pointer, sql, nil, nil, nil) }

    /// Returns the texts in a column, or nil if the SQL fails.
    private static func rows(_ connection: OpaquePointer, _ sql: String, column: Int32 = 0) -> [String]? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "")
            case SQLITE_DONE: return rows
            default: return nil
            }
        }
    }
}
