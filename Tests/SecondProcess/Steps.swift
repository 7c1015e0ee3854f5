import Foundation
import Shellac

/// A process that repeats one kind of work, and prints the number of each completed step, from 1
/// on. A test kills it in the middle of a step.
///
/// The database has a table `item (id, name)` of 1,000 rows, and a table `done (number)` with one
/// row.
struct Steps {
    enum Work: String {
        case save, migrate, rebuild, vacuum, backup, `import`, journal
    }

    let path: String
    let writer: any DatabaseWriter
    let work: Work

    init(path: String, _ work: Work) throws {
        (self.path, self.work) = (path, work)
        writer = try work == .backup ? DatabasePool(path: path) : DatabaseQueue(path: path)
    }

    func run() throws {
        var number = 0
        while true {
            number += 1
            try step(number)
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }

    private func step(_ number: Int) throws {
        switch work {
        case .save:
            try writer.write { db in
                try db.execute(sql: "INSERT INTO item (name) VALUES ('new'), ('newer')")
                try Self.note(number, db)
            }
        case .migrate:
            var migrator = DatabaseMigrator()
            for number in 1...number {
                migrator.registerMigration("step \(number)") { db in
                    try db.create(table: "step\(number)") { t in t.autoIncrementedPrimaryKey("id") }
                    try db.execute(sql: "UPDATE item SET name = ?", arguments: ["step \(number)"])
                    try Self.note(number, db)
                }
            }
            try migrator.migrate(writer)
        case .rebuild:
            try writer.write { db in
                try db.rebuild(table: "item") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", number % 2 == 0 ? .text : .blob).notNull()
                    t.column("step\(number)", .integer)
                }
                try Self.note(number, db)
            }
        case .vacuum:
            try writer.write { db in
                try db.execute(
                    sql: "UPDATE item SET name = zeroblob(1000) WHERE id % 2 = ?", arguments: [number % 2])
                try Self.note(number, db)
                try db.execute(sql: "UPDATE item SET name = ''")
            }
            try writer.vacuum()
        case .backup:
            try writer.write { db in try Self.note(number, db) }
            try (writer as? DatabasePool)?.backup(to: DatabaseQueue(path: path + ".copy"))
        case .journal: try changeKeptItems(number)
        case .import:
            let lines = (1...200).map { "imported \($0)\n" }.joined()
            try writer.write { db in
                _ = try db.importRows(into: "item", from: .bytes(("name\n" + lines).utf8))
                try Self.note(number, db)
            }
        }
    }

    /// Transactions of several kinds, of which a journal is kept.
    private func changeKeptItems(_ number: Int) throws {
        if number == 1 { try writer.keepJournal(of: .tables(["item"])) }
        try writer.write { db in
            try db.execute(sql: "INSERT INTO item (name) VALUES ('new'), (hex(randomblob(\(number % 3000))))")
            try db.execute(
                sql: "UPDATE item SET name = name || 'x' WHERE id % 97 = ?", arguments: [number % 97])
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM item WHERE id % 50 = ?", arguments: [number % 50])
                return number % 2 == 0 ? .commit : .rollback
            }
            try Self.note(number, db)
        }
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: "REPLACE INTO item (id, name) VALUES (?, 'alone')", arguments: [number % 100])
        }
    }

    private static func note(_ number: Int, _ db: Database) throws {
        try db.execute(sql: "UPDATE done SET number = ?", arguments: [number])
    }
}

extension Steps {
    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 4, arguments[2] == "steps", let work = Work(rawValue: arguments[3]) else {
            return false
        }
        try Steps(path: arguments[1], work).run()
        return true
    }
}
