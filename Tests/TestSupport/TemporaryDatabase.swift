public import Foundation

/// A folder with a database file, which has a table of players. The folder goes with its last
/// reference.
///
/// It is made of one table, `player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)`.
public final class TemporaryDatabase: Sendable {
    public let folder: URL
    public let path: String

    /// - Parameter journalMode: The journal mode that the file says.
    public init(journalMode: JournalMode = .default) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "shellac-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "test.sqlite").path
        try queue { $0.journalMode = journalMode }.inDatabase { db in try db.createPlayers() }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Another connection to the file.
    public func queue(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "test"
        configure(&configuration)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    /// A pool of connections to the file.
    public func pool(configure: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "test"
        configure(&configuration)
        return try DatabasePool(path: path, configuration: configuration)
    }
}

/// The kinds of writers to a database: for tests that hold for all of them.
public enum Writer: String, CaseIterable, Sendable, Codable {
    case queue, pool

    /// Opens the file of a database, which must outlive what is opened.
    public func open(
        _ file: TemporaryDatabase, configure: (inout Configuration) -> Void = { _ in }
    ) throws -> any DatabaseWriter {
        switch self {
        case .queue: try file.queue(configure: configure)
        case .pool: try file.pool(configure: configure)
        }
    }

    /// Opens a database of its own with a table of players. It is in memory if the writer allows
    /// that, and else in a file that is deleted with it.
    public func withPlayers(
        configure: (inout Configuration) -> Void = { _ in }
    ) throws -> any DatabaseWriter {
        guard self == .pool else { return try DatabaseQueue.withPlayers(configure: configure) }
        let file = try TemporaryDatabase()
        return try file.pool { configuration in
            // No access of Shellac's own waits in the writer's line, in which tests count.
            configuration.checkpoints = .atCommit
            configure(&configuration)
            configuration.prepareDatabase { _ in withExtendedLifetime(file) {} }
        }
    }
}

extension Database {
    /// Makes the table `player`.
    public func createPlayers() throws {
        try execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    }

    /// Inserts a player.
    public func insert(_ name: String) throws {
        try execute(sql: "INSERT INTO player (name) VALUES (?)", arguments: [name])
    }

    /// The names of the players, in the order of their insertion.
    public func names() throws -> [String] {
        try String.fetchAll(self, sql: "SELECT name FROM player ORDER BY id")
    }
}

extension DatabaseWriter {
    /// The names of the players, in the order of their insertion.
    public func names() throws -> [String] { try inDatabase { db in try db.names() } }
}

extension DatabaseQueue {
    /// A database in memory with a table of players.
    public static func withPlayers(
        configure: (inout Configuration) -> Void = { _ in }
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "test"
        configure(&configuration)
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.inDatabase { db in try db.createPlayers() }
        return queue
    }
}

/// An error that only a test throws.
public struct TestError: Error, Hashable, Sendable {
    public let number: Int
    public init(_ number: Int = 0) { self.number = number }
}
