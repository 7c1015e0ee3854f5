// Takes the rows of one table back by the changes of a changeset.

import CSQLite

/// A table of a copy that is rewound.
final class RewoundTable {
    private let database: Database
    private let bytes: UnsafeRawBufferPointer
    private let heading: ChangesetReader.Heading
    private let name: String
    private let entry: Int64
    private let isStrict: Bool
    private let key: [Int]
    /// All columns of the table but generated ones. There may be more than in the changes.
    private let columns: [String]
    private let affinities: [JournaledTable.Column]
    private let selection: OpaquePointer
    private let deletion: OpaquePointer
    private let insertion: OpaquePointer
    private let insertionOfAll: OpaquePointer
    /// The statements that update some columns, by their places.
    private var updates: [[Int]: OpaquePointer] = [:]
    /// The names of the columns of unique keys. Nil if any column may be part of one.
    private let keyColumns: Set<CaseInsensitiveName>?
    private let sqlName: String
    private let keyCondition: String
    /// The rows that updates lead back to, one after the other, with all columns of the table.
    private var updated = ChangesetBytes()
    private var updatedCount = 0

    init(
        _ database: Database, _ heading: ChangesetReader.Heading, _ bytes: UnsafeRawBufferPointer,
        _ entry: Int64, isStrict: Bool
    ) throws {
        self.database = database
        self.bytes = bytes
        self.heading = heading
        self.entry = entry
        self.isStrict = isStrict
        name = String(decoding: bytes[heading.nameRange], as: UTF8.self)
        guard let schema = try database.schema.table(name, in: "main") else {
            throw JournalError.disagreement(entry: entry, table: name)
        }
        let journaled = try JournaledTable(schema, database)
        key = heading.keyColumns(in: bytes)
        guard heading.columnCount <= journaled.columns.count, journaled.key == key else {
            throw JournalError.disagreement(entry: entry, table: name)
        }
        affinities = journaled.columns
        columns = journaled.columnNames
        let table = "main.\(schema.name.quotedDatabaseIdentifier)"
        (sqlName, keyCondition) = (table, journaled.keyCondition)
        let keys = schema.indexes.filter(\.isUnique).map { UniqueKey(index: $0, sql: "").columns(schema) }
        keyColumns =
            keys.contains { $0 == nil }
            ? nil : Set(keys.flatMap { $0 ?? [] }.map { CaseInsensitiveName($0) })
        func insertion(_ names: some Collection<String>) -> String {
            let list = names.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let places = names.map { _ in "?" }.joined(separator: ", ")
            return "INSERT OR ABORT INTO \(table) (\(list)) VALUES (\(places))"
        }
        let error = JournalError.disagreement(entry: entry, table: name)
        func prepare(_ sql: String) throws -> OpaquePointer { try Self.prepare(sql, database, or: error) }
        selection = try prepare(journaled.selection)
        deletion = try prepare("DELETE FROM \(table) WHERE \(journaled.keyCondition)")
        self.insertion = try prepare(insertion(columns.prefix(heading.columnCount)))
        insertionOfAll = try prepare(insertion(columns))
    }

    private static func prepare(
        _ sql: String, _ database: Database, or error: JournalError
    ) throws -> OpaquePointer {
        var statement: OpaquePointer?
        try database.check(sqlite3_prepare_v2(database.pointer, sql, -1, &statement, nil))
        guard let statement else { throw error }
        return statement
    }

    deinit {
        for statement in [selection, deletion, insertion, insertionOfAll] + updates.values {
            sqlite3_finalize(statement)
        }
    }

    private var disagreement: JournalError { .disagreement(entry: entry, table: name) }

    private func bindKey(_ statement: OpaquePointer, from start: Int) throws {
        var values = ChangesetValues(bytes, from: start)
        try values.bind(key, ofColumns: heading.columnCount, to: statement, database)
    }

    private func finish(_ statement: OpaquePointer) throws {
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else {
            throw database.error(code, sql: String(cString: sqlite3_sql(statement)))
        }
    }

    /// Checks that the row that a change has led to has its values, or that it is not there.
    private func check(_ place: ChangesetReader.Place) throws {
        let isInsertion = place.operation == ChangesetFormat.insert
        try bindKey(selection, from: isInsertion ? place.final.lowerBound : place.initial.lowerBound)
        defer { sqlite3_reset(selection) }
        let isThere = sqlite3_step(selection) == SQLITE_ROW
        guard isThere == (place.operation != ChangesetFormat.delete) else { throw disagreement }
        if !isThere { return }
        var values = ChangesetValues(bytes, from: place.final.lowerBound)
        var present = ChangesetBytes()
        try affinities.withUnsafeBufferPointer { columns in
            for index in 0..<heading.columnCount {
                let value = values.next()
                if value[0] == ChangesetFormat.undefined { continue }
                present.cut(to: 0)
                JournalRecorder.append(
                    sqlite3_column_value(selection, Int32(index)),
                    of: columns.baseAddress.unsafelyUnwrapped + index, isOld: false, to: &present)
                guard ChangesetValues.same(value, present.bytes) else { throw disagreement }
            }
        }
    }

    /// Returns the statement that leads an update back in place, or nil if it changes a unique key.
    private func update(of columns: [Int]) throws -> OpaquePointer? {
        if let known = updates[columns] { return known }
        guard let keyColumns, !columns.isEmpty,
            !columns.contains(where: { keyColumns.contains(CaseInsensitiveName(self.columns[$0])) })
        else { return nil }
        let values = columns.enumerated().map { place, column in
            "\(self.columns[column].quotedDatabaseIdentifier) = ?\(key.count + place + 1)"
        }
        let sql = "UPDATE OR ABORT \(sqlName) SET \(values.joined(separator: ", ")) WHERE \(keyCondition)"
        let statement = try Self.prepare(sql, database, or: disagreement)
        updates[columns] = statement
        return statement
    }

    /// Leads an update back in place, if it concerns no unique key.
    private func updateBack(_ place: ChangesetReader.Place) throws -> Bool {
        var old = ChangesetValues(bytes, from: place.initial.lowerBound)
        var changed: [Int] = []
        for column in 0..<heading.columnCount
        where old.next()[0] != ChangesetFormat.undefined && !key.contains(column) { changed.append(column) }
        guard let statement = try update(of: changed) else { return false }
        try bindKey(statement, from: place.initial.lowerBound)
        old = ChangesetValues(bytes, from: place.initial.lowerBound)
        try old.bind(changed, ofColumns: heading.columnCount, to: statement, after: key.count, database)
        try finish(statement)
        guard sqlite3_changes(database.pointer) == 1 else { throw disagreement }
        return true
    }

    /// Removes the row that a change has led to.
    func remove(_ place: ChangesetReader.Place) throws {
        if isStrict { try check(place) }
        if place.operation == ChangesetFormat.delete { return }
        let isUpdate = place.operation == ChangesetFormat.update
        let start = isUpdate ? place.initial.lowerBound : place.final.lowerBound
        if isUpdate {
            if try updateBack(place) { return }
            try bindKey(selection, from: start)
            defer { sqlite3_reset(selection) }
            guard sqlite3_step(selection) == SQLITE_ROW else { throw disagreement }
            var old = ChangesetValues(bytes, from: place.initial.lowerBound)
            affinities.withUnsafeBufferPointer { columns in
                for index in columns.indices {
                    let value = index < heading.columnCount ? old.next() : nil
                    if let value, value[0] != ChangesetFormat.undefined {
                        updated.append(value)
                    } else {
                        JournalRecorder.append(
                            sqlite3_column_value(selection, Int32(index)),
                            of: columns.baseAddress.unsafelyUnwrapped + index, isOld: false, to: &updated)
                    }
                }
            }
            updatedCount += 1
        }
        try bindKey(deletion, from: start)
        try finish(deletion)
        guard sqlite3_changes(database.pointer) == 1 else { throw disagreement }
    }

    private func insert(_ statement: OpaquePointer, _ values: inout ChangesetValues, count: Int) throws {
        for column in 0..<count {
            try database.check(values.next().bindChangesetValue(to: statement, at: Int32(column + 1)))
        }
        do { try finish(statement) } catch let error as DatabaseError
            where error.resultCode == .SQLITE_CONSTRAINT
        {
            throw disagreement
        }
    }

    /// Inserts the rows that updates lead back to.
    func insertUpdatedRows() throws {
        guard updatedCount > 0 else { return }
        var values = ChangesetValues(updated.bytes, from: 0)
        for _ in 0..<updatedCount { try insert(insertionOfAll, &values, count: columns.count) }
    }

    /// Inserts the row that a change has deleted.
    func insert(_ place: ChangesetReader.Place) throws {
        var values = ChangesetValues(bytes, from: place.initial.lowerBound)
        try insert(insertion, &values, count: heading.columnCount)
    }
}
