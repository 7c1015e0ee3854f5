import Foundation
import Testing

@testable import Shellac

/// A record that was inserted without its row id reads a row of all that it has encoded: see
/// ``RecordStatements/withRow(on:_:)``.
@Suite struct InsertedRowReadingTests {
    private static func makeQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { (db) throws in
            try db.execute(
                sql:
                    "CREATE TABLE shell (id INTEGER PRIMARY KEY, name TEXT, size REAL, notch INTEGER, blob BLOB)"
            )
            // From the first one on it is known how the class takes its row id.
            try Shell("first").insert(db)
        }
        return queue
    }

    @Test("The row of an insertion can be read in any order, by name and by number, and again and again")
    func anyOrder() throws {
        try Self.makeQueue().write { (db) throws in
            for pass in 0..<3 {
                let shell = Shell("whelk \(pass)")
                shell.blob = pass == 1 ? nil : [1, 2, 3]
                var reads = 0
                shell.read = { (row) throws in
                    reads += 1
                    #expect(row.count == 5)
                    #expect(try row[4] as Data? == shell.blob.map { Data($0) })
                    #expect(try row["size"] as Double == 1.5)
                    #expect(try row["NAME"] as String == "whelk \(pass)")
                    #expect(try row[0] as Int64 == Int64(pass + 2))
                    #expect(try row["notch"] as Int == -300)
                    #expect(try row["id"] as Int64 == Int64(pass + 2))
                    #expect(!row.hasColumn("nothing"))
                    #expect(try row["nothing"] as Int? == nil)
                    #expect(throws: RowDecodingError.self) { try row["nothing"] as Int }
                    #expect(throws: RowDecodingError.self) { try row["name"] as Int }
                    #expect(row.map(\.0) == ["id", "name", "size", "notch", "blob"])
                }
                try shell.insert(db)
                #expect(reads == 1 && shell.id == Int64(pass + 2))
                #expect(!shell.hasDatabaseChanges)
            }
        }
    }

    @Test("A copy of the row can be kept")
    func copies() throws {
        var rows: [Row] = []
        try Self.makeQueue().write { (db) throws in
            for number in 0..<3 {
                let shell = Shell("cowrie \(number)")
                shell.read = { rows.append($0.copy()) }
                try shell.insert(db)
            }
        }
        #expect(try rows.map { try $0["name"] as String } == ["cowrie 0", "cowrie 1", "cowrie 2"])
        #expect(try rows.map { try $0["id"] as Int64 } == [2, 3, 4])
    }

    @Test("A record that is inserted while another one reads its row takes its own")
    func nested() throws {
        try Self.makeQueue().write { (db) throws in
            let (outer, inner, innermost) = (Shell("outer"), Shell("inner"), Shell("innermost"))
            inner.read = { (row) throws in
                try innermost.insert(db)
                #expect(try row["name"] as String == "inner")
            }
            outer.read = { (row) throws in
                #expect(try row["name"] as String == "outer")
                try inner.insert(db)
                #expect(try row["size"] as Double == 1.5)
                #expect(try row["name"] as String == "outer")
            }
            try outer.insert(db)
            #expect([outer.id, inner.id, innermost.id] == [2, 3, 4])
            #expect([outer.name, inner.name, innermost.name] == ["outer", "inner", "innermost"])
            #expect(!outer.hasDatabaseChanges && !inner.hasDatabaseChanges && !innermost.hasDatabaseChanges)
        }
    }

    @Test("A record that is made of the row of an insertion was not fetched")
    func notFetched() throws {
        try Self.makeQueue().write { (db) throws in
            let shell = Shell("limpet")
            var twin: Shell?
            shell.read = { twin = try Shell(row: $0) }
            try shell.insert(db)
            #expect(twin?.name == "limpet" && twin?.id == 2)
            #expect(twin?.hasDatabaseChanges == true)
        }
    }

    @Test("A record that throws while it reads its row is inserted, and the next one reads its own")
    func throwing() throws {
        try Self.makeQueue().write { (db) throws in
            let shell = Shell("conch")
            shell.read = { _ in throw DatabaseError(message: "no") }
            #expect(throws: RecordError.self) { try shell.insert(db) }
            let next = Shell("murex")
            try next.insert(db)
            #expect(next.id == 3 && next.name == "murex")
            #expect(
                try String.fetchAll(db, sql: "SELECT name FROM shell WHERE id > 1") == ["conch", "murex"])
        }
    }

    @Test("A class whose schema changes while it reads its row goes on with the new one")
    func changedSchema() throws {
        try Self.makeQueue().write { (db) throws in
            let shell = Shell("nautilus")
            shell.read = { (row) throws in
                try db.execute(sql: "ALTER TABLE shell ADD COLUMN color TEXT")
                try Shell("inside").insert(db)
                #expect(try row["name"] as String == "nautilus")
            }
            try shell.insert(db)
            #expect(shell.id == 2 && shell.name == "nautilus")
            let next = Shell("ammonite")
            try next.insert(db)
            #expect(next.id == 4 && !next.hasDatabaseChanges)
        }
    }
}

private final class Shell: Record {
    var id: Int64?
    var name = ""
    var size = 1.5
    var notch = -300
    var blob: [UInt8]?
    /// Called with the row that is read next.
    var read: ((Row) throws -> Void)?

    override class var databaseTableName: String { "shell" }

    init(_ name: String) {
        self.name = name
        super.init()
    }

    required init(row: Row) throws { try super.init(row: row) }

    override func updateFromRow(_ row: Row) throws {
        let read = self.read
        self.read = nil
        try read?(row)
        if row.hasColumn("id") { id = try row["id"] }
        if row.hasColumn("name") { name = try row["name"] }
        if row.hasColumn("size") { size = try row["size"] }
        if row.hasColumn("notch") { notch = try row["notch"] }
        try super.updateFromRow(row)
    }

    override func encode(to container: inout PersistenceContainer) throws {
        container["id"] = id
        container["name"] = name
        container["size"] = size
        container["notch"] = notch
        container["blob"] = blob.map { Data($0) }
    }
}
