// The check of database files with arbitrary content.

import Foundation
import Shellac

/// Checks that a file with any content is read, or causes an error.
func checkFile(_ bytes: [UInt8]) throws {
    // (Linux keeps these files in memory.)
    let folder = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
    let path = "\(folder)/shellac-\(UUID().uuidString).sqlite"
    defer { for end in ["", "-journal", "-wal", "-shm"] { unlink(path + end) } }
    try Data(bytes).write(to: URL(filePath: path))
    var configuration = Configuration()
    configuration.readonly = bytes.count % 2 == 0
    configuration.busyMode = .immediateError
    guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return }
    try? queue.inDatabase { db in
        try? db.execute(sql: "PRAGMA trusted_schema = 0")
        for table in (try? db.tableNames() + db.viewNames()) ?? [] { look(at: table, db) }
        _ = try? String.fetchAll(db, sql: "PRAGMA integrity_check")
        try? db.execute(sql: "DELETE FROM player; INSERT INTO player (name) VALUES ('a'); VACUUM")
    }
    try? queue.close()
}

/// Reads all that can be read of a table.
private func look(at table: String, _ db: Database) {
    let name = table.quotedDatabaseIdentifier
    _ = try? db.columns(in: table)
    _ = try? db.primaryKey(table)
    _ = try? db.indexes(on: table)
    _ = try? db.foreignKeys(on: table)
    let rows = try? Row.fetchCursor(db, sql: "SELECT * FROM \(name) LIMIT 100")
    while let row = try? rows?.next() {
        _ = row.databaseValues.map(\.description)
        for column in row.columnNames {
            _ = try? row.decode(Date?.self, forColumn: column)
            _ = try? row.decode(Int32?.self, forColumn: column)
            _ = try? row.decode(UUID?.self, forColumn: column)
        }
    }
    _ = try? Row.fetchAll(db, Table<Row>(table).limit(10).reversed())
    _ = try? Looked.fetchAll(db, sql: "SELECT * FROM \(name) LIMIT 10")
    _ = try? db.exportRows(of: table, to: .chunks { _ in }, as: .jsonLines)
}

/// A record that decodes what it can.
private struct Looked: Codable, FetchableRecord {
    var id: Int64?
    var name: String?
    var score: Int?
}
