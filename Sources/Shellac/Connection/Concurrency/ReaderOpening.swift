// Opens the further connections of a pool: for readers, snapshots, checkpoints, the log index.

import CSQLite

/// The way to open the connections that a pool reads with, and those of its snapshots.
struct ReaderOpening: Sendable {
    let description: String
    private(set) var configuration: Configuration
    let group: ConnectionGroup
    /// The name by which SQLite opens the file.
    private let name: String
    /// The full path.
    let path: String
    private let places: [Place]

    /// A file that the pool has open, with the name that belongs to it.
    private struct Place {
        let part: FilePlace.Part
        let path: String
        let identity: FileIdentity
    }

    /// Prepares to open further connections to the file that a pool's writer has opened.
    ///
    /// They use its full path, as the process may change its working directory.
    init(_ writer: Database, path: String, configuration: Configuration) {
        description = writer.description
        group = writer.group
        self.path = sqlite3_db_filename(writer.pointer, "main").map(String.init(cString:)) ?? path
        name = path.hasPrefix("file:") ? Self.uri(self.path, like: path) : self.path
        let parts = [
            (FilePlace.Part.file, self.path), (.log, self.path + "-wal"), (.log, self.path + "-shm"),
        ]
        places = parts.compactMap { part, path in
            FileIdentity(path).map { Place(part: part, path: path, identity: $0) }
        }
        var configuration = configuration
        configuration.readonly = true
        configuration.verifiesCommits = false
        configuration.journalMode = .default
        configuration.defaultTransactionKind = .deferred
        self.configuration = configuration
    }

    var closedError: DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "the database \(description) is closed")
    }

    /// The same, for connections that keep a transaction open from one access to the next one.
    var keepingTransactions: ReaderOpening {
        var opening = self
        opening.configuration.allowsUnsafeTransactions = true
        return opening
    }

    /// Throws if the path of the file, or of the log, leads to another file by now: a new
    /// connection would see that one.
    func checkPlace() throws {
        for place in places where FileIdentity(place.path) != place.identity {
            throw DatabaseError.lost(place.part, of: description, at: place.path, .SQLITE_CANTOPEN)
        }
    }

    /// Opens a connection that reads.
    ///
    /// It is opened read-only: whatever SQL it runs, it cannot write to the file. (If it relied on
    /// `PRAGMA query_only`, SQL could switch that off.)
    func open(_ activity: ConnectionActivity) throws -> Database {
        try open(configuration, activity)
    }

    /// Opens a connection that reads the log's index.
    func openForIndex() throws -> Database { try open(configuration, nil) }

    /// Opens a connection that copies the log.
    func openForCheckpoints() throws -> Database {
        var configuration = configuration
        configuration.readonly = false
        let database = try open(configuration, nil, as: "\(description).checkpoints")
        _ = shellac_persist_wal(database.pointer, 1)
        database.hooks.place?.noteLog(of: database)
        return database
    }

    private func open(
        _ configuration: Configuration, _ activity: ConnectionActivity?, as label: String? = nil
    ) throws -> Database {
        try checkPlace()
        let database = try Database(
            path: name, configuration: configuration, description: description, group: group,
            activity: activity, name: label)
        do {
            try database.withAccess { db in
                db.installTransactionLog()
                try db.setUp(path: path)
                try db.endAccess()
            }
        } catch {
            database.giveUp()
            throw error
        }
        activity?.forgetStatement()
        return database
    }

    /// Returns the URI of a path with the parameters of another URI, except `mode`.
    private static func uri(_ path: String, like uri: String) -> String {
        let escaped = path.utf8.map { byte in
            let isSafe = byte > 0x20 && byte < 0x7F && !"%?#".utf8.contains(byte)
            return isSafe
                ? String(UnicodeScalar(byte)) : "%" + byte.twoHexadecimalDigits
        }
        let query =
            uri.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            .split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let parameters = query.split(separator: "&").filter { !$0.hasPrefix("mode=") }
        return "file:" + escaped.joined()
            + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
    }
}

extension UInt8 {
    /// The byte as a URI escapes it, without the percent sign.
    var twoHexadecimalDigits: String { (self < 16 ? "0" : "") + String(self, radix: 16) }
}
