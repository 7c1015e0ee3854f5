/// A source of facts about a schema that SQLite does not report.
///
/// Set it in ``Configuration/schemaSource``:
///
/// ```swift
/// struct ViewKeys: DatabaseSchemaSource {
///     func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
///         view.name == "bestPlayer" ? ["id"] : nil
///     }
/// }
/// configuration.schemaSource = ViewKeys()
/// ```
public protocol DatabaseSchemaSource: Sendable {
    /// Returns the columns that identify the rows of a view, or nil if they are unknown. The rows
    /// are then found by these columns, as those of a table are by its primary key.
    ///
    /// Shellac calls the method once, when a connection reads the columns of the view.
    ///
    /// - Parameters:
    ///   - db: The connection that reads the columns. The method must not request them from it.
    ///   - view: The view. It may be temporary, or belong to an attached database.
    /// - Throws: an error that is passed on to the caller that needs the columns of the view.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

/// The identity of a table or a view: its name, and that of its database.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The name, as it was declared.
    public let name: String
    /// The database: `main`, `temp`, or the name of an attached one.
    public let schemaName: String
}

extension DatabaseSchemaSource {
    /// Returns nil: by default, no view has a key.
    ///
    /// - Parameters:
    ///   - db: The connection that reads the columns of the view.
    ///   - view: The view, which is ignored.
    /// - Throws: an error that is passed on to the caller that needs the columns of the view.
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        nil
    }

    /// Returns a source that falls back to another one if this one returns nil.
    ///
    /// - Parameter next: The source to ask if this one returns nil. It is not asked if this one
    ///   throws.
    public func then(_ next: some DatabaseSchemaSource) -> any DatabaseSchemaSource {
        SchemaSourceChain(first: self, next: next)
    }
}

private struct SchemaSourceChain: DatabaseSchemaSource {
    let first: any DatabaseSchemaSource
    let next: any DatabaseSchemaSource

    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        try first.columnsForPrimaryKey(db, inView: view) ?? next.columnsForPrimaryKey(db, inView: view)
    }
}

extension Database {
    /// A function that gets the number of its previous calls for a lock, and returns whether SQLite
    /// should try again.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The end of a transaction.
    public typealias TransactionCompletion = Shellac.TransactionCompletion

    /// The strategy for a lock that another connection holds.
    public typealias BusyMode = Shellac.BusyMode

    /// The time at which a transaction takes its locks.
    public typealias TransactionKind = Shellac.TransactionKind

    /// An event that a trace reports.
    public typealias TraceEvent = Shellac.TraceEvent
}
