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
    /// none, and in subclasses of `Record`, closures take any name.
    associatedtype Columns = AnyColumns

    /// The name of the table: by default, that of the type, with a lower-case first letter.
    static var databaseTableName: String { get }

    /// What is selected when the type is fetched without SQL: by default, all columns.
    static var databaseSelection: [any SQLSelectable] { get }

    /// The columns of the primary key, where the schema does not tell: of a view. By default, nil.
    static var databasePrimaryKey: [String]? { get }
}

extension TableRecord {
    public static var databaseTableName: String {
        // `HTTPRequest` is stored in "httpRequest", `Player` in "player".
        let name = String("\(Self.self)".prefix { $0 != "<" })
        let capitals = name.prefix { $0.isUppercase }
        switch capitals.count {
        case 0, 1: return name.prefix(1).lowercased() + name.dropFirst()
        case name.count: return name.lowercased()
        default: return capitals.dropLast().lowercased() + name.dropFirst(capitals.count - 1)
        }
    }

    public static var databaseSelection: [any SQLSelectable] { [.allColumns] }

    public static var databasePrimaryKey: [String]? { nil }
}
