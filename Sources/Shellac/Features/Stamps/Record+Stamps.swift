// Stamps of class records: touch(_:), and updating the properties after a save.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The stamps that the save of a class record has written: the record takes them, or restores the
// old ones.

extension Record {
    /// Stamps the record's row with the transaction date, and writes nothing else.
    ///
    /// ```swift
    /// try player.touch(db)        // UPDATE "player" SET "updatedAt" = ? WHERE "id" = ?
    /// ```
    ///
    /// The class declares the column: see ``databaseStamps``. The method uses
    /// ``update(_:columns:)``, without any column if the class does not store the stamp itself.
    ///
    /// - Throws: ``RecordError/recordNotFound(databaseTableName:key:)`` if there is no row with the
    ///   record's primary key. ``RecordError/columnNotEncoded(databaseTableName:column:)`` if the
    ///   table has no such column. ``RecordError/rowNotTaken(recordType:reason:)`` if the class
    ///   encodes its stamp but does not take it, by ``columns(_:)`` or by ``updateFromRow(_:)``.
    public final func touch(_ db: Database) throws {
        db.checkAccess()
        let type = Swift.type(of: self)
        guard let name = type.databaseStamps.updated else {
            Misuse.trap(
                "touch(_:) was called on a \(type), which has no stamp to update. "
                    + "Override `class var databaseStamps`, and declare its `updated` column.")
        }
        let columns = try encoded()
        guard let column = columns.layout.column(named: name) else {
            guard try db.plan(for: type).use({ $0.table.column(named: name) != nil }) else {
                throw RecordError.columnNotEncoded(databaseTableName: type.databaseTableName, column: name)
            }
            // Each update writes it beside the record's own columns.
            return try db.stamps.resume { try update(db, columns: []) }
        }
        let date = try db.transactionDate.databaseValue
        let isAutocommit = !db.isInsideTransaction && db.lastBegun == nil
        let stamp = GivenValue(name: name, old: columns[column], new: date)
        do {
            try take([stamp])
            guard try encodes(date, in: name) else {
                throw RecordError.rowNotTaken(
                    recordType: "\(type)",
                    reason: "list \(name) in columns(_:), or read it in updateFromRow(_:)")
            }
            if isAutocommit {
                db.currentDate = Date.fromDatabaseValue(date)
                db.owesAutocommitEnd = true
            }
            // If no statement has run, nothing has ended what ends with an autocommit statement.
            defer {
                if isAutocommit, db.owesAutocommitEnd, db.lastBegun == nil { db.endAutocommitStatement() }
            }
            try update(db, columns: [name])
        } catch {
            try? take([stamp.reversed])
            throw error
        }
        noteGiven(GivenValues([stamp]), in: db)
    }

    /// Takes the stamps that a save has written, into the properties and into the snapshot.
    final func takeStamps(_ bound: FilledColumns, of filling: RecordStamps, from writer: RecordWriter) {
        let db = writer.database
        do {
            try writer.readStamps(of: bound)
        } catch {
            ErrorLog.warn("the stamps of a \(type(of: self)) could not be read: \(error)")
        }
        noteComputedStamp(from: writer)
        let names = writer.columns.layout.names
        let stamps = bound.columns.compactMap { stamp in
            stamp.stored.map { GivenValue(name: names[stamp.column], old: stamp.old, new: $0) }
        }
        guard !stamps.isEmpty else { return }
        // Along with its row id, the record has read the values bound for an insertion, which an
        // upsert may not have stored.
        let bindings = bound.columns.compactMap { stamp in
            stamp.stored.map {
                GivenValue(name: names[stamp.column], old: writer.columns[stamp.column], new: $0)
            }
        }
        let changed = stamps.filter { $0.old != $0.new }
        if !changed.isEmpty { noteGiven(GivenValues(changed), in: db) }
        var reason: (any Error)?
        do { try take(stamps + bindings) } catch { reason = error }
        // If the class does not take a stamp, the snapshot keeps the old one: otherwise the record
        // would seem changed. If the program has set another stamp meanwhile, the record differs
        // from its row.
        let remembered = stamps.map { stamp in
            let isTaken = (try? encodes(stamp.new, in: stamp.name)) == true
            let isKept = !isTaken && (try? encodes(stamp.old, in: stamp.name)) != false
            if isKept { warnOfStamp(stamp.name, reason, filling) }
            return isKept ? stamp.reversed : stamp
        }
        snapshot = snapshot?.with(remembered.map { ($0.name, $0.new) })
    }

    /// Stores the stamp that the record does not encode in the snapshot, if the snapshot has its
    /// column.
    private func noteComputedStamp(from writer: RecordWriter) {
        guard let name = writer.statements.written.computed?.updated.first, let row = snapshot,
            row.layout.column(named: name) != nil, let text = try? writer.database.stamps.currentText()
        else { return }
        snapshot = row.with([(name, DatabaseValue(.string(String(decoding: text, as: UTF8.self))))])
    }

    private func warnOfStamp(_ name: String, _ reason: (any Error)?, _ filling: RecordStamps) {
        if filling.hasWarned { return }
        filling.hasWarned = true
        let why =
            reason.map { ": reading it threw \($0)" }
            ?? ". List it in columns(_:), or read it in updateFromRow(_:)"
        ErrorLog.warn("\(type(of: self)) was saved, but did not take its stamp \(name)\(why)")
    }
}

extension RecordWriter {
    /// Reads the stamps that a trigger may have written.
    fileprivate func readStamps(of bound: FilledColumns) throws {
        let unread = bound.unread
        if unread.isEmpty { return }
        let names = columns.layout.names
        let selection = unread.map { names[bound.columns[$0].column].quotedDatabaseIdentifier }
            .joined(separator: ", ")
        let key = statements.key.columns.map { columns[$0] }
        let statement = try database.cachedStatement(
            sql: "SELECT \(selection) FROM \(plan.quotedTable) "
                + "WHERE \(RecordPlan.condition(statements.key.columns.map { names[$0] }))")
        guard let row = try Row.fetchOne(statement, arguments: StatementArguments(key)) else { return }
        for (index, value) in zip(unread, row.databaseValues) { bound.columns[index].stored = value }
    }
}
