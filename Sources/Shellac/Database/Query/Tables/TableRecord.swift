/// A type that determines how the dates, data and UUIDs of keys are stored.
@_documentation(visibility: internal)
public protocol _KeyStoring: SendableMetatype {
    static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue
}

/// A type with a table.
///
/// ```swift
/// struct Player: TableRecord {}
/// Player.databaseTableName                  // "player"
/// let count = try Player.fetchCount(db)
/// ```
public protocol TableRecord: _KeyStoring {
    /// The columns of the table, which closures receive: an `enum Columns` in the type.
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
    /// It must be as visible as the type. The compiler refuses a private one, and says what to
    /// write instead. Without one, closures accept any name.
    ///
    /// They also do so in subclasses of `Record`, *even if these declare one*. Swift takes an
    /// associated type from the class that conforms, which is `Record`. A misspelled name is then
    /// detected when the request runs, and the error suggests a similar column. To get a compiler
    /// check in a subclass, name the columns: `Player.filter(Player.Columns.score > 100)`.
    associatedtype Columns = AnyColumns

    /// The name of the table. By default, the name of the type with a lower-case first letter.
    ///
    /// It must always be the same, because statements are cached for the type. Traps in debug
    /// builds if the name changes. For a table whose name is known only at run time, use ``Table``.
    static var databaseTableName: String { get }

    /// The selection when the type is fetched without SQL. By default, all columns.
    static var databaseSelection: [any SQLSelectable] { get }

    /// The columns of the primary key, if the schema does not define it, as for a view. By default,
    /// nil.
    static var databasePrimaryKey: [String]? { get }

    /// Returns the database value of a key that is a date, data, or a UUID, for looking up a row in
    /// a column. (Other values have only one stored form.)
    ///
    /// By default, an ``EncodableRecord`` stores them by its strategies, and other types as they
    /// store themselves. If a type encodes its key by hand in another way, override this:
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
    ///   - value: The value of the key: a `Date`, a `Data` or a `UUID`.
    ///   - column: The name of the column, as the table spells it.
    static func databaseKeyValue(
        _ value: any DatabaseValueConvertible, for column: String
    ) throws -> DatabaseValue

    /// The conditions on the rows of the type that apply unless a request leaves them out by name.
    /// By default, none.
    ///
    /// ```swift
    /// static var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchived") == false] }
    /// ```
    ///
    /// They apply to everything that requests, keys and relations read of the type, and to
    /// everything that requests update and delete. They do not apply to insertions, to raw SQL, or
    /// to a record's operations on its own row: it is updated, deleted and reloaded regardless.
    ///
    /// A connection may read them only once, so let them depend on nothing that changes.
    /// ``ignoringDefaultFilter(_:)`` leaves one out. Write columns as ``Column``. If several tables
    /// are read, SQL would have to qualify them.
    static var databaseDefaultFilter: DefaultFilter { get }

    /// The column with the date when a row was deleted. By default there is none, and deleted rows
    /// are gone.
    ///
    /// ```swift
    /// static var databaseSoftDelete: SoftDelete? { "deletedAt" }
    /// ```
    ///
    /// With it, `delete` and `deleteAll`, of requests and of the type, set the
    /// ``Database/transactionDate`` in the rows. These rows are then left out as by a default
    /// filter named `.deleted`. `destroy` and `destroyAll` delete them for good; `restore` and
    /// `restoreAll` bring them back. ``SoftDelete`` describes which other rows are included.
    static var databaseSoftDelete: SoftDelete? { get }

    /// The conditions on all rows of the type, used by Shellac itself.
    static var _ownConditions: _OwnConditions? { get }
}

extension TableRecord {
    public static var databaseTableName: String { nameOfTable(namedAfter: Self.self) }

    /// Returns the name of a type with a lower-case first letter: "httpRequest" for `HTTPRequest`,
    /// "player" for `Player`.
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
