import CSQLite
import Foundation

/// A process that copies a write-ahead log without a pause, by SQLite's functions alone.
struct Copying {
    private let connection: OpaquePointer

    struct Failure: Error {
        let code: Int32
    }

    init(path: String) throws {
        var connection: OpaquePointer?
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let connection else { throw Failure(code: code) }
        self.connection = connection
        sqlite3_exec(connection, "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF", nil, nil, nil)
    }

    /// Copies until the standard input has a line, or closes.
    func run() throws {
        let isEnd = Flag()
        Thread {
            _ = readLine()
            isEnd.set()
        }.start()
        FileHandle.standardOutput.write(Data("copying\n".utf8))
        var count = 0
        while !isEnd.isSet {
            sqlite3_wal_checkpoint_v2(connection, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
            count += 1
        }
        FileHandle.standardOutput.write(Data("\(count)\n".utf8))
        sqlite3_close_v2(connection)
    }
}

extension Copying {
    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 3, arguments[2] == "checkpoints" else { return false }
        try Copying(path: arguments[1]).run()
        return true
    }
}
