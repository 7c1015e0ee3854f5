// The workloads that are interrupted at each step: one for each feature that writes.

// An assignment to a column is an expression here.
// swift-format-ignore-file: NoAssignmentInExpressions

import Foundation
import TestSupport

@testable import Shellac

/// A ship with a soft delete, which also deletes the crew.
private final class Ship: Record {
    static let sailors = hasMany(Sailor.self, using: ["shipID"])

    var id: Int64?
    var name = ""
    var sailorsCount = 0
    var updatedAt: Date?
    var deletedAt: Date?

    init(_ name: String) {
        self.name = name
        super.init()
    }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "ship" }
    override class var databaseStamps: DatabaseStamps { DatabaseStamps(updated: "updatedAt") }
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Ship.sailors) }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("sailorsCount", sailorsCount) { sailorsCount = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
}

/// A sailor with callbacks that write a log.
private final class Sailor: Record {
    static let ship = belongsTo(Ship.self, using: ["shipID"])

    var id: Int64?
    var shipID: Int64?
    var name = ""
    var score = 0
    var createdAt: Date?
    var updatedAt: Date?
    var deletedAt: Date?

    init(_ name: String, on shipID: Int64? = nil) {
        (self.name, self.shipID) = (name, shipID)
        super.init()
    }
    required init(row: Row) throws { try super.init(row: row) }

    override class var databaseTableName: String { "sailor" }
    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("shipID", shipID) { shipID = $0 }
        try column("name", name) { name = $0 }
        try column("score", score) { score = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
        try column("deletedAt", deletedAt) { deletedAt = $0 }
    }
    override func willSave(_ db: Database) throws {
        try db.execute(sql: "INSERT INTO log (line) VALUES (?)", arguments: ["will save \(name)"])
    }
    override func didInsert(_ inserted: InsertionSuccess) {
        super.didInsert(inserted)
        id = inserted.rowID
    }
}

extension Workload {
    /// Inserts ships 1 to 3 with sailors 1 to 6, without callbacks.
    static func fill(_ writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.create(table: "ship") { t in
                t.primaryKey("id", .integer)
                t.column("name", .text).notNull().unique()
                t.counter("sailorsCount", of: "sailor")
                t.column("updatedAt", .datetime)
                t.column("deletedAt", .datetime)
            }
            try db.create(table: "sailor") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("shipID", .integer).references("ship", onDelete: .cascade).indexed()
                t.column("name", .text).notNull().unique()
                t.column("score", .integer).notNull().defaults(to: 0)
                t.column("createdAt", .datetime)
                t.column("updatedAt", .datetime)
                t.column("deletedAt", .datetime)
            }
            try db.execute(
                sql: """
                    CREATE TABLE log (line TEXT);
                    INSERT INTO ship (id, name) VALUES (1, 'Argo'), (2, 'Bounty'), (3, 'Calypso');
                    INSERT INTO sailor (shipID, name, score)
                        SELECT id, lower(name) || n, n FROM ship, (SELECT 1 AS n UNION SELECT 2);
                    """)
        }
    }

    private init(
        _ name: String, _ prepare: @escaping @Sendable (any DatabaseWriter) throws -> Run
    ) {
        self.init(name: name, prepare: prepare)
    }

    private static func sailors(_ queue: any DatabaseWriter) throws -> [Sailor] {
        try queue.read { db in try Sailor.order(Column("id")).fetchAll(db) }
    }

    private static func changeMuch(_ queue: any DatabaseWriter) throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    UPDATE sailor SET score = score + 1;
                    INSERT INTO sailor (shipID, name) VALUES (1, 'undone');
                    DELETE FROM ship WHERE id = 3;
                    """)
        }
    }

    static let all: [Workload] = [
        Workload("records are inserted, updated and deleted") { queue in
            let new = Sailor("new", on: 2)
            let old = try sailors(queue)
            old[0].score = 100
            old[1].name = "renamed"
            old[1].shipID = 3
            return Run(records: [new] + old) {
                try queue.write { db in
                    try new.insert(db)
                    try old[0].updateChanges(db)
                    try old[1].update(db)
                    try old[2].delete(db)
                    try old[3].destroy(db)
                }
            }
        },
        Workload("one record is saved in an access without a transaction") { queue in
            let new = Ship("Dido")
            return Run(records: [new]) { try queue.inDatabase { db in try new.save(db) } }
        },
        Workload("savepoints are released and rolled back") { queue in
            let (kept, dropped) = (Sailor("kept", on: 1), Sailor("dropped", on: 1))
            let old = try sailors(queue)
            old[4].score = 7
            return Run(records: [kept, dropped] + old) {
                try queue.write { db in
                    try db.inSavepoint {
                        try kept.insert(db)
                        try db.inSavepoint {
                            try dropped.insert(db)
                            try old[4].updateChanges(db)
                            return .rollback
                        }
                        return .commit
                    }
                    try old[4].updateChanges(db)
                }
            }
        },
        Workload("many records are inserted at once") { queue in
            let new = (0..<40).map { Sailor("many \($0)", on: Int64($0 % 3 + 1)) }
            return Run(records: new) { try queue.write { db in try Sailor.insertAll(db, new) } }
        },
        Workload("a record is upserted") { queue in
            let (known, new) = (Ship("Argo"), Ship("Dido"))
            return Run(records: [known, new]) {
                try queue.write { db in
                    try known.upsert(db)
                    try new.upsert(db)
                }
            }
        },
        Workload("rows are deleted softly with those that belong to them, and restored") { queue in
            let ship = try queue.read { db in try Ship.find(db, key: 1) }
            return Run(records: [ship]) {
                try queue.write { db in
                    try ship.delete(db)
                    try Ship.filter(Column("id") == 2).deleteAll(db)
                    try ship.restore(db)
                }
            }
        },
        Workload("requests update and delete many rows") { queue in
            Run {
                try queue.write { db in
                    try Sailor.filter(Column("score") == 1).updateAll(db, Column("score") += 10)
                    try Sailor.filter(Column("score") == 2).deleteAll(db)
                    try db.execute(sql: "DELETE FROM ship WHERE id = 3")
                }
            }
        },
        Workload("a graph of records is saved") { queue in
            let ship = Ship("Endeavour")
            let crew = [Sailor("james"), Sailor("joseph")]
            ship.set(Ship.sailors, to: crew)
            return Run(records: [ship] + crew) {
                try queue.write { db in try ship.save(db, with: Ship.sailors) }
            }
        },
        Workload("records with their relations are fetched, and changed") { queue in
            Run {
                try queue.write { db in
                    let ships = try Ship.including(Ship.sailors).order(Column("id")).fetchAll(db)
                    for sailor in try ships.flatMap({ try $0.sailors }) {
                        sailor.score += 1
                        try sailor.updateChanges(db)
                    }
                }
            }
        },
        Workload("rows are imported") { queue in
            let lines = (0..<30).map { "\($0 % 3 + 1),imported \($0),\($0)\n" }.joined()
            return Run {
                try queue.write { db in
                    _ = try db.importRows(into: "sailor", from: .bytes(("shipID,name,score\n" + lines).utf8))
                }
            }
        },
        Workload("a table is rebuilt") { queue in
            Run {
                try queue.write { db in
                    try db.rebuild(table: "sailor") { t in
                        t.autoIncrementedPrimaryKey("id")
                        t.column("shipID", .integer).references("ship", onDelete: .cascade).indexed()
                        t.column("name", .text).notNull().unique()
                        t.column("score", .real).notNull().defaults(to: 0)
                        t.column("rank", .text).notNull().defaults(to: "able")
                        t.column("createdAt", .datetime)
                        t.column("updatedAt", .datetime)
                        t.column("deletedAt", .datetime)
                    }
                }
            }
        },
        Workload("a counter is repaired") { queue in
            try queue.inDatabase { db in
                try db.execute(sql: "UPDATE ship SET sailorsCount = 99 WHERE id = 2")
            }
            return Run { try queue.write { db in _ = try db.recount("ship", "sailorsCount") } }
        },
        Workload("a group of changes is undone") { queue in
            let undo = try DatabaseUndo(queue, tables: ["ship", "sailor"])
            try changeMuch(queue)
            return Run(facts: { ["\(undo.undoCount) and \(undo.redoCount) groups"] }) { try undo.undo() }
        },
        Workload("a group of changes is done again") { queue in
            let undo = try DatabaseUndo(queue, tables: ["ship", "sailor"])
            try changeMuch(queue)
            try undo.undo()
            return Run(facts: { ["\(undo.undoCount) and \(undo.redoCount) groups"] }) { try undo.redo() }
        },
        Workload("changes are recorded for undo") { queue in
            let undo = try DatabaseUndo(queue, tables: ["ship", "sailor"])
            return Run(facts: { ["\(undo.undoCount) and \(undo.redoCount) groups"] }) {
                try changeMuch(queue)
            }
        },
        Workload("a migration changes the schema") { queue in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("ranks") { db in
                try db.create(table: "rank") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull().unique()
                }
                try db.execute(sql: "INSERT INTO rank (name) VALUES ('able'), ('master')")
                try db.alter(table: "sailor") { t in
                    t.add(column: "rankID", .integer).references("rank").indexed()
                }
                try db.execute(sql: "UPDATE sailor SET rankID = 1")
            }
            let ready = migrator
            return Run { try ready.migrate(queue) }
        },
    ]
}

extension Ship {
    fileprivate var sailors: [Sailor] { get throws { try self[Ship.sailors] } }
}
