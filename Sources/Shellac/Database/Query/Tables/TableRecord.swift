/// A type that knows its table.
///
/// ```swift
/// struct Player: TableRecord {}
/// Player.databaseTableName                  // "player"
/// let count = try Player.fetchCount(db)
/// ```
public protocol TableRecord: SendableMetatype {
    /// The columns of the table, which closures are given: an `enum Columns` in the type.
    ///
    /// ```swift
    /// struct Player: TableRecord {
    ///     enum Columns {
    ///         static let score = Column("score")
    ///     }
    /// }
    /// try Player.updateAll(db) { $0.score += 1 }
    /// ```
    ///
    /// It is as visible as the type: the compiler refuses a private one, and says what to write instead. Where there is
    /// none, closures take any name, and so they do in subclasses of `Record`, *also where these declare one*: Swift takes
    /// an associated type from the class that conforms, which is `Record`. A misspelled name is found when the request
    /// runs, and the error says which column is near. Closures of a subclass that shall be checked name the columns
    /// themselves: `Player.filter(Player.Columns.score > 100)`.
    associatedtype Columns = AnyColumns

    /// The name of the table: by default, that of the type, with a lower-case first letter.
    ///
    /// It must always be the same: statements are kept for the type. Another name stops a debug build, with a sentence. Use
    /// ``Table`` for a table whose name is known when the program runs alone.
    static var databaseTableName: String { get }

    /// The selection when the type is fetched without SQL: by default, all columns.
    static var databaseSelection: [any SQLSelectable] { get }

    /// The columns of the primary key, where the schema does not tell: of a view. By default, nil.
    static var databasePrimaryKey: [String]? { get }

    /// Returns what is looked for in a column, where a row is found by a date, by data, or by a UUID. (Other values are
    /// stored in one way.)
    ///
    /// By default, an ``EncodableRecord`` stores them by its strategies, and other types as they store themselves. A
    /// type that encodes its key by hand, in another way, says so here:
    ///
    /// ```swift
    /// class Player: Record {
    ///     var id = UUID()
    ///
    ///     override class func databaseKeyValue(
    ///         _ value: any DatabaseValueConvertible, for column: String
    ///     ) throws -> DatabaseValue {
    ///         if let id = value as? UUID { return id.uuidString.databaseValue }
    ///         return try super.databaseKeyValue(value, for: column)
    ///     }
    ///
    ///     override func encode(to container: inout PersistenceContainer) throws {
    ///         container["id"] = id.uuidString
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: What a row is looked for by: a `Date`, a `Data` or a `UUID`.
    ///   - column: The name of the column, as the table spells it.
    static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue

    /// The conditions on the rows of the type that hold unless a request leaves them out by their names: by default, none.
    ///
    /// ```swift
    /// static var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchived") == false] }
    /// ```
    ///
    /// They hold of all that is read of the type by requests, keys and relations, and of what requests update and delete. They do
    /// not hold of insertions, raw SQL, nor of what a record does with its own row: it is updated, deleted and reloaded wherever it is.
    ///
    /// A connection may ask for them once: let them depend on nothing that changes. ``unfiltered(by:)`` leaves one out. Write columns as ``Column``: where several tables are read, SQL would have to say whose they
    /// are.
    static var databaseDefaultFilter: DefaultFilter { get }

    /// The column that says since when a row is deleted: by default, there is none, and deleted rows are gone.
    ///
    /// ```swift
    /// static var databaseSoftDelete: SoftDelete? { "deletedAt" }
    /// ```
    ///
    /// With it, `delete` and `deleteAll`, of requests and of the type, give the rows the ``Database/transactionDate``, and these are
    /// left out as by a default filter that is named `.deleted`. `destroy` and `destroyAll` delete them for good; `restore` and
    /// `restoreAll` bring them back. ``SoftDelete`` tells what goes along with them.
    static var databaseSoftDelete: SoftDelete? { get }

    /// What holds of all rows of the type: Shellac's own.
    static var _ownConditions: _OwnConditions? { get }
}

extension TableRecord {
    public static var databaseTableName: String { nameOfTable(namedAfter: Self.self) }

    /// Returns the name of a type, with a lower-case first letter: `HTTPRequest` is stored in "httpRequest", `Player`
    /// in "player".
    static func nameOfTable(namedAfter type: Any.Type) -> String {
        let name = String("\(type)".prefix { $0 != "<" })
        let capitals = name.prefix { $0.isUppercase }
        switch capitals.count {
        case 0, 1: return name.prefix(1).lowercased() + name.dropFirst()
        case name.count: return name.lowercased()
        default: return capitals.dropLast().lowercased() + name.dropFirst(capitals.count - 1)
        }
    }

    public static var databaseSelection: [any SQLSelectable] { [.allColumns] }

    public static var databasePrimaryKey: [String]? { nil }

    public static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue { value.databaseValue }
}
