// A table that changes of a changeset are applied to.

import CSQLite

/// A table that changes are applied to, and the SQL that does so.
///
/// Values are bound as they are in the changeset, byte by byte. So a text that is no valid UTF-8
/// stays what it is.
final class ChangesetTarget {
    private let database: Database
    /// The name of the table, quoted.
    private let table: String
    /// The names of all columns of the table, without generated ones.
    private let columns: [String]
    /// The number of columns in the changeset.
    private let columnCount: Int
    /// The places of the key's columns, in the order of the key.
    private let key: [Int]
    private let keyCondition: String
    /// The places of counters. Triggers maintain them, as the rows that they count come and go, so
    /// a change neither compares nor writes them.
    private let counters: Set<Int>

    /// Finds the table of a heading.
    ///
    /// - Throws: a ``ChangesetError`` if there is none, or if its columns do not fit.
    init(_ database: Database, _ heading: ChangesetReader.Heading, _ bytes: UnsafeRawBufferPointer) throws {
        self.database = database
        let name = String(decoding: bytes[heading.nameRange], as: UTF8.self)
        guard let schema = try database.schema.table(name, in: "main"), schema.kind == .table else {
            throw ChangesetError.noTable(name)
        }
        let present = schema.allColumns.filter { !$0.isGenerated && !$0.isHidden }
        columns = present.map(\.name)
        counters = Set(present.indices.filter { schema.isMaintained(present[$0].name) })
        columnCount = heading.columnCount
        guard columnCount <= columns.count else {
            throw ChangesetError.missingColumns(table: schema.name, count: columnCount - columns.count)
        }
        key = heading.keyColumns(in: bytes)
        let declared = present.indices.filter { present[$0].primaryKeyIndex > 0 }
        guard Set(declared) == Set(key) else { throw ChangesetError.differentColumns(table: schema.name) }
        table = "main.\(schema.name.quotedDatabaseIdentifier)"
        let names = columns
        keyCondition = key.enumerated().map { place, column in
            let name = names[column].quotedDatabaseIdentifier
            return "\(name) IS ?\(place + 1) AND \(name) COLLATE BINARY IS ?\(place + 1)"
        }.joined(separator: " AND ")
    }

    // MARK: - Rows

    /// Returns the row that a change is about.
    func row(of change: Changeset.Change) throws -> Row? {
        let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        return try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(names) FROM \(table) WHERE \(keyCondition)"),
            arguments: StatementArguments(change.key))
    }

    /// Whether a row has the values of a change, in the columns that the change has.
    func has(_ row: Row, _ values: [DatabaseValue?]) -> Bool {
        values.enumerated().allSatisfy { column, value in
            value.map { Array(row)[column].1 == $0 || counters.contains(column) } ?? true
        }
    }

    /// Returns a row with the values of a change, and those of another row in the other columns.
    func row(_ row: Row?, with values: [DatabaseValue?]) -> Row {
        let others = row.map { Array($0).map(\.1) } ?? []
        return Row(
            columns.enumerated().map { column, name in
                let value = column < values.count ? values[column] : nil
                return (name, value ?? (column < others.count ? others[column] : .null))
            })
    }

    // MARK: - Writes

    private func run(_ sql: String, _ values: [UnsafeRawBufferPointer]) throws {
        let statement = try database.cachedStatement(sql: sql)
        try statement.begin { pointer in
            for (index, value) in values.enumerated() {
                let code = value.bindChangesetValue(to: pointer, at: Int32(index + 1))
                if code != SQLITE_OK { return code }
            }
            return SQLITE_OK
        }
        while try statement.step() {}
    }

    private func values(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [UnsafeRawBufferPointer] {
        var walk = ChangesetValues(bytes, from: range.lowerBound)
        return (0..<columnCount).map { _ in walk.next() }
    }

    func insert(_ bytes: UnsafeRawBufferPointer, _ final: Range<Int>) throws {
        let values = values(bytes, final)
        let written = values.indices.filter { !counters.contains($0) }
        let names = written.map { columns[$0].quotedDatabaseIdentifier }.joined(separator: ", ")
        let places = written.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        // (OR ABORT: the conflict clause of a constraint would drop or replace rows.)
        try run("INSERT OR ABORT INTO \(table) (\(names)) VALUES (\(places))", written.map { values[$0] })
    }

    /// Sets the new values of a change, apart from the key.
    func update(_ bytes: UnsafeRawBufferPointer, _ place: ChangesetReader.Place, _ change: Changeset.Change)
        throws
    {
        let final = values(bytes, place.final)
        let keyValues = values(bytes, change.operation == .insert ? place.final : place.initial)
        let changed = final.indices.filter { place in
            final[place][0] != ChangesetFormat.undefined && !key.contains(place) && !counters.contains(place)
        }
        if changed.isEmpty { return }
        let settings = changed.enumerated().map { place, column in
            "\(columns[column].quotedDatabaseIdentifier) = ?\(key.count + place + 1)"
        }
        try run(
            "UPDATE OR ABORT \(table) SET \(settings.joined(separator: ", ")) WHERE \(keyCondition)",
            key.map { keyValues[$0] } + changed.map { final[$0] })
    }

    func delete(_ change: Changeset.Change) throws {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE \(keyCondition)")
            .execute(arguments: StatementArguments(change.key))
    }

    /// Sets the values of some columns, by name.
    func write(_ given: [String: DatabaseValue], _ change: Changeset.Change, isThere: Bool) throws {
        var values: [(name: String, value: DatabaseValue)] = []
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            guard let column = columns.first(where: { CaseInsensitiveName.matches($0, name) }) else {
                throw DatabaseError(message: "table \(change.table) has no column named \(name)")
            }
            values.append((column, value))
        }
        if isThere {
            if values.isEmpty { return }
            let settings = values.enumerated().map { place, value in
                "\(value.name.quotedDatabaseIdentifier) = ?\(key.count + place + 1)"
            }
            try database.execute(
                sql: "UPDATE OR ABORT \(table) SET \(settings.joined(separator: ", ")) WHERE \(keyCondition)",
                arguments: StatementArguments(change.key + values.map(\.value)))
        } else {
            for (place, column) in key.enumerated()
            where !values.contains(where: { CaseInsensitiveName.matches($0.name, columns[column]) }) {
                values.append((columns[column], change.key[place]))
            }
            let names = values.map(\.name.quotedDatabaseIdentifier).joined(separator: ", ")
            let places = values.map { _ in "?" }.joined(separator: ", ")
            try database.execute(
                sql: "INSERT OR ABORT INTO \(table) (\(names)) VALUES (\(places))",
                arguments: StatementArguments(values.map(\.value)))
        }
    }
}
