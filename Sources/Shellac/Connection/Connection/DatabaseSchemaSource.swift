/// What tells of a schema what SQLite does not: see ``Configuration/schemaSource``.
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
    /// Returns the columns that tell the rows of a view apart: its rows are then found by them, as those of a table are by its primary
    /// key. Nil where they are not known.
    ///
    /// It is asked once, when a connection learns the columns of the view.
    ///
    /// - Parameters:
    ///   - db: The connection that learns them, and must not be asked for them.
    ///   - view: The view. Temporary ones, and those of attached databases, are asked for, too.
    /// - Throws: an error that whoever needs the columns of the view gets.
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]?
}

/// A table or a view, by its name and by that of its database.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The name, as it was declared.
    public let name: String
    /// The database: `main`, `temp`, or the name of an attached one.
    public let schemaName: String
}

extension DatabaseSchemaSource {
    /// By default, no view has a key.
    ///
    /// - Parameters:
    ///   - db: The connection that learns the columns of the view.
    ///   - view: The view, which does not matter.
    /// - Throws: an error that whoever needs the columns of the view gets.
    public func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        nil
    }

    /// Returns a source that asks another one where this one does not know.
    ///
    /// - Parameter next: The source that is asked where this one returns nil. It is not asked where this one throws.
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
    /// A function that is told how many times it has been called for a lock, and returns whether SQLite should try again.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool

    /// The end of a transaction.
    public typealias TransactionCompletion = Shellac.TransactionCompletion

    /// The way to deal with a lock that another connection holds.
    public typealias BusyMode = Shellac.BusyMode

    /// The time at which a transaction takes its locks.
    public typealias TransactionKind = Shellac.TransactionKind

    /// An event that a trace hears of.
    public typealias TraceEvent = Shellac.TraceEvent
}
