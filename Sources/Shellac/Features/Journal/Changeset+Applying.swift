// Applies the changes of a changeset to a database, row by row.

import CSQLite

extension Changeset {
    /// Applies the changes to a database.
    ///
    /// ```swift
    /// try dbQueue.write { db in
    ///     try entry.changeset.inverted().apply(db) { conflict in .keepMine }
    /// }
    /// ```
    ///
    /// The changes are writes like any others: observers and the journal see them, triggers run,
    /// and a rollback undoes them. A change that has already been made is skipped. So a changeset
    /// that is applied twice changes nothing the second time. Nor are rows in conflict that
    /// triggers or foreign keys have changed along with others. Counters are neither compared nor
    /// written: they count the rows that are there. Foreign keys are checked at the end of the
    /// transaction.
    ///
    /// A changeset may have fewer columns than a table, which has got more of them later.
    /// Inserted rows have their defaults there.
    ///
    /// - Parameters:
    ///   - db: A connection.
    ///   - resolve: A function that is called for each conflict, in the middle of the
    ///     transaction. The default refuses all conflicts.
    /// - Throws: ``ChangesetError/conflict(table:key:reason:)``, or an error of the schema or of
    ///   the function, or a ``DatabaseError``. Nothing is applied then.
    public func apply(
        _ db: Database,
        resolving resolve: (ChangesetConflict) throws -> ChangesetResolution = { _ in .fail }
    ) throws {
        db.checkAccess()
        try db.inSavepoint {
            let wasDeferred = try Bool.fetchOne(db, sql: "PRAGMA defer_foreign_keys") ?? false
            if !wasDeferred { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
            defer { if !wasDeferred { try? db.execute(sql: "PRAGMA defer_foreign_keys = OFF") } }
            try withoutActuallyEscaping(resolve) { resolve in
                try data.withUnsafeBytes { bytes in
                    try ChangesetApplication(db, bytes, resolve).run()
                }
            }
            return .commit
        }
    }
}

/// The application of one changeset.
private final class ChangesetApplication {
    private let database: Database
    private let bytes: UnsafeRawBufferPointer
    private let resolve: (ChangesetConflict) throws -> ChangesetResolution
    private var targets: [Range<Int>: ChangesetTarget] = [:]

    private struct Pending {
        let heading: ChangesetReader.Heading
        let place: ChangesetReader.Place
    }

    init(
        _ database: Database, _ bytes: UnsafeRawBufferPointer,
        _ resolve: @escaping (ChangesetConflict) throws -> ChangesetResolution
    ) {
        self.database = database
        self.bytes = bytes
        self.resolve = resolve
    }

    /// Applies all changes. Changes that a constraint forbids are tried again after the others,
    /// for as long as some of them succeed.
    func run() throws {
        var reader = ChangesetReader(bytes)
        var waiting: [Pending] = []
        while let place = try reader.next(), let heading = reader.heading {
            let pending = Pending(heading: heading, place: place)
            if try apply(pending) != nil { waiting.append(pending) }
        }
        var failures: [(Pending, DatabaseError)] = []
        while !waiting.isEmpty {
            failures = []
            for pending in waiting {
                if let error = try apply(pending) { failures.append((pending, error)) }
            }
            if failures.count == waiting.count { break }
            waiting = failures.map(\.0)
            failures = []
        }
        for (pending, error) in failures { try settle(pending, error) }
    }

    private func target(_ heading: ChangesetReader.Heading) throws -> ChangesetTarget {
        if let known = targets[heading.range] { return known }
        let target = try ChangesetTarget(database, heading, bytes)
        targets[heading.range] = target
        return target
    }

    private func change(_ pending: Pending) -> Changeset.Change {
        Changeset.Change(
            bytes, pending.heading, pending.place,
            table: String(decoding: bytes[pending.heading.nameRange], as: UTF8.self))
    }

    /// Applies a change. Returns the error of a constraint.
    private func apply(_ pending: Pending) throws -> DatabaseError? {
        let target = try target(pending.heading)
        let change = change(pending)
        let mine = try target.row(of: change)
        do {
            switch change.operation {
            case .insert:
                if let mine {
                    if target.has(mine, change.finalValues) { return nil }
                    try resolve(pending, target, change, mine, .exists)
                } else {
                    try target.insert(bytes, pending.place.final)
                }
            case .update:
                guard let mine else {
                    try resolve(pending, target, change, nil, .missing)
                    return nil
                }
                if target.has(mine, change.finalValues) { return nil }
                if target.has(mine, change.initialValues) {
                    try target.update(bytes, pending.place, change)
                } else {
                    try resolve(pending, target, change, mine, .changed)
                }
            case .delete:
                guard let mine else { return nil }
                if target.has(mine, change.initialValues) {
                    try target.delete(change)
                } else {
                    try resolve(pending, target, change, mine, .changed)
                }
            }
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return error
        }
    }

    /// Resolves a conflict, other than one of a constraint.
    private func resolve(
        _ pending: Pending, _ target: ChangesetTarget, _ change: Changeset.Change, _ mine: Row?,
        _ reason: ChangesetConflict.Reason
    ) throws {
        try settle(
            try answer(pending, target, change, mine, reason, nil), pending, target, change, mine, reason)
    }

    /// Resolves a conflict with a constraint.
    private func settle(_ pending: Pending, _ error: DatabaseError) throws {
        let target = try target(pending.heading)
        let change = change(pending)
        let mine = try target.row(of: change)
        switch try answer(pending, target, change, mine, .constraint, error) {
        case .keepMine: break
        case .takeTheirs: throw error
        case .fail: throw failure(change, .constraint)
        case .write(let values): try target.write(values, change, isThere: mine != nil)
        }
    }

    private func settle(
        _ answer: ChangesetResolution, _ pending: Pending, _ target: ChangesetTarget,
        _ change: Changeset.Change, _ mine: Row?, _ reason: ChangesetConflict.Reason
    ) throws {
        switch answer {
        case .keepMine: break
        case .fail: throw failure(change, reason)
        case .write(let values): try target.write(values, change, isThere: mine != nil)
        case .takeTheirs:
            switch change.operation {
            case .insert, .update: if mine != nil { try target.update(bytes, pending.place, change) }
            case .delete: try target.delete(change)
            }
        }
    }

    private func failure(_ change: Changeset.Change, _ reason: ChangesetConflict.Reason) -> ChangesetError {
        .conflict(table: change.table, key: change.key, reason: reason)
    }

    private func answer(
        _ pending: Pending, _ target: ChangesetTarget, _ change: Changeset.Change, _ mine: Row?,
        _ reason: ChangesetConflict.Reason, _ error: DatabaseError?
    ) throws -> ChangesetResolution {
        try resolve(
            ChangesetConflict(
                database: database, change: change, reason: reason,
                base: change.operation == .insert ? nil : target.row(mine, with: change.initialValues),
                mine: mine,
                theirs: change.operation == .delete ? nil : target.row(mine, with: change.finalValues),
                error: error))
    }
}
