// Finds the changes of one row among the journal's entries, by an index that is filled on demand.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The changes of the rows of one table in the journal.
///
/// The table `shellac_journal_key` has the entries of each row, by its key. No save writes it: a
/// request for a history fills it with the later entries. A connection that only reads goes
/// through the later entries instead.
struct JournalHistory {
    private let database: Database
    private let table: TableSchema
    private let columns: [String]
    private let key: [String]

    static let indexTable = "shellac_journal_key"

    init(_ database: Database, table name: String) throws {
        self.database = database
        table = try database.tableSchema(name, in: "main")
        columns = try database.changesetColumns(of: table.name)
        key = table.primaryKey.columns
    }

    /// Returns the values of the key in a record's columns.
    func key(in values: [String: DatabaseValue]) -> [DatabaseValue] {
        key.map { name in
            values.first { CaseInsensitiveName.matches($0.key, name) }?.value ?? .null
        }
    }

    /// The bytes of a key, in the format of a changeset.
    private static func bytes(of key: [DatabaseValue]) -> Data {
        var bytes = ChangesetBytes()
        for value in key { bytes.append(value: value) }
        return Data(bytes.bytes)
    }

    // MARK: - The index

    private var hasJournal: Bool {
        get throws { try database.tableExists(JournalWriter.table, in: "main") }
    }

    /// Fills the index with the entries that are not in it. Returns the last one that is.
    private func fillIndex() throws -> Int64 {
        let hasIndex = try database.tableExists(Self.indexTable, in: "main")
        let sql = "SELECT value FROM main.\(JournalWriter.stateTable) WHERE name = 'indexed'"
        let last = hasIndex ? try Int64.fetchOne(database, sql: sql) ?? 0 : 0
        if database.isReadOnlyScope || database.configuration.readonly { return last }
        var latest = last
        try database.inSavepoint {
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS main.\(Self.indexTable) (
                        name TEXT NOT NULL, key BLOB NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (name, key, seq))
                        WITHOUT ROWID
                    """)
            let insertion = try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO main.\(Self.indexTable) VALUES (?, ?, ?)")
            try eachEntry(after: last) { number, changeset in
                for change in changeset {
                    let key = Self.bytes(of: change.key)
                    try insertion.execute(arguments: [change.table.lowercased(), key, number])
                }
                latest = number
            }
            if latest > last {
                try database.execute(
                    sql: "INSERT OR REPLACE INTO main.\(JournalWriter.stateTable) VALUES ('indexed', ?)",
                    arguments: [latest])
                try removeOldKeys()
            }
            return .commit
        }
        return latest
    }

    /// Deletes the keys of entries that are gone. This goes through the whole index, so it waits
    /// for some of them.
    private func removeOldKeys() throws {
        let state = "main.\(JournalWriter.stateTable)"
        let sql = "SELECT min(seq) FROM main.\(JournalWriter.table)"
        let first = try Int64.fetchOne(database, sql: sql) ?? 0
        let known = try Int64.fetchOne(
            database, sql: "SELECT value FROM \(state) WHERE name = 'firstIndexed'")
        guard first >= (known ?? 1) + 8 * JournalRetention.interval else { return }
        try database.execute(
            sql: "DELETE FROM main.\(Self.indexTable) WHERE seq < ?", arguments: [first])
        try database.execute(
            sql: "INSERT OR REPLACE INTO \(state) VALUES ('firstIndexed', ?)", arguments: [first])
    }

    private func eachEntry(
        after number: Int64, _ body: (Int64, Changeset) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT seq, changeset FROM main.\(JournalWriter.table) WHERE seq > ? ORDER BY seq",
            arguments: [number])
        while let row = try rows.next() {
            let number: Int64 = try row["seq"]
            try body(number, JournalEntry.changeset(of: row, number))
        }
    }

    /// Returns the numbers of the entries that may have changes of a row.
    private func numbers(of key: [DatabaseValue]) throws -> [Int64] {
        let last = try fillIndex()
        var numbers: [Int64] = []
        if last > 0 {
            numbers = try Int64.fetchAll(
                database,
                sql: "SELECT seq FROM main.\(Self.indexTable) WHERE name = ? AND key = ? ORDER BY seq",
                arguments: [table.name.lowercased(), Self.bytes(of: key)])
        }
        return try numbers
            + Int64.fetchAll(
                database, sql: "SELECT seq FROM main.\(JournalWriter.table) WHERE seq > ? ORDER BY seq",
                arguments: [last])
    }

    private func isAbout(_ key: [DatabaseValue], _ change: Changeset.Change) -> Bool {
        CaseInsensitiveName.matches(change.table, table.name) && change.key == key
    }

    private func entry(_ number: Int64) throws -> JournalEntry? {
        try Row.fetchOne(
            database, sql: "SELECT * FROM main.\(JournalWriter.table) WHERE seq = ?", arguments: [number]
        ).map(JournalEntry.init)
    }

    // MARK: - Versions

    func versions(of key: [DatabaseValue]) throws -> [JournalVersion] {
        guard try hasJournal else { return [] }
        var present = try row(key)
        var versions: [JournalVersion] = []
        for number in try numbers(of: key).reversed() {
            guard let entry = try entry(number) else { continue }
            // (If columns were added in the transaction, the row may have two changes.)
            for change in entry.changeset.reversed() where isAbout(key, change) {
                let names = columns.prefix(change.columnCount)
                var changes: [String: JournalVersion.Change] = [:]
                if change.operation == .update {
                    for (index, name) in names.enumerated() {
                        guard let old = change.initialValues[index], let new = change.finalValues[index]
                        else { continue }
                        changes[name] = JournalVersion.Change(old: old, new: new)
                    }
                }
                if change.operation == .insert {
                    present = Self.values(change.finalValues, names, in: present)
                }
                if change.operation == .delete { present = nil }
                versions.append(
                    JournalVersion(
                        number: number, date: entry.date, note: entry.note, operation: change.operation,
                        values: present, changes: changes, table: table.name, key: key))
                present =
                    change.operation == .insert
                    ? nil : Self.values(change.initialValues, names, in: present)
            }
        }
        return versions.reversed()
    }

    /// Returns the values of a row with some of them replaced.
    private static func values(
        _ values: [DatabaseValue?], _ names: some Sequence<String>, in row: [String: DatabaseValue]?
    ) -> [String: DatabaseValue] {
        var row = row ?? [:]
        for (name, value) in zip(names, values) { if let value { row[name] = value } }
        return row
    }

    private var condition: String {
        key.map { "\($0.quotedDatabaseIdentifier) IS ?" }.joined(separator: " AND ")
    }
    private var name: String { "main.\(table.name.quotedDatabaseIdentifier)" }

    private func row(_ key: [DatabaseValue]) throws -> [String: DatabaseValue]? {
        let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let row = try Row.fetchOne(
            database, sql: "SELECT \(names) FROM \(name) WHERE \(condition)",
            arguments: StatementArguments(key))
        return row.map { Dictionary(Array($0), uniquingKeysWith: { first, _ in first }) }
    }

    // MARK: - Changes

    func restore(_ version: JournalVersion) throws {
        guard let values = version.values else {
            return try database.execute(
                sql: "DELETE FROM \(name) WHERE \(condition)", arguments: StatementArguments(version.key))
        }
        let present = columns.filter { values[$0] != nil }
        let keyValues = key(in: values)
        func list(_ texts: [String]) -> String { texts.joined(separator: ", ") }
        let names = present.map(\.quotedDatabaseIdentifier)
        try database.inSavepoint {
            if try row(keyValues) == nil {
                try database.execute(
                    sql:
                        "INSERT OR ABORT INTO \(name) (\(list(names))) VALUES (\(list(names.map { _ in "?" })))",
                    arguments: StatementArguments(present.compactMap { values[$0] }))
            } else {
                try database.execute(
                    sql: "UPDATE OR ABORT \(name) SET \(list(names.map { "\($0) = ?" })) WHERE \(condition)",
                    arguments: StatementArguments(present.compactMap { values[$0] } + keyValues))
            }
            return .commit
        }
    }

    func forget(_ key: [DatabaseValue]) throws {
        guard try hasJournal else { return }
        try database.inSavepoint {
            for number in try numbers(of: key) {
                guard let entry = try entry(number), entry.changeset.contains(where: { isAbout(key, $0) })
                else { continue }
                try database.execute(
                    sql: "UPDATE main.\(JournalWriter.table) SET changeset = ? WHERE seq = ?",
                    arguments: [entry.changeset.leavingOut { isAbout(key, $0) }.data, number])
            }
            if try database.tableExists(Self.indexTable, in: "main") {
                try database.execute(
                    sql: "DELETE FROM main.\(Self.indexTable) WHERE name = ? AND key = ?",
                    arguments: [table.name.lowercased(), Self.bytes(of: key)])
            }
            return .commit
        }
    }
}
