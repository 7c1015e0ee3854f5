/// An expression whose text is JSON.
///
/// It is a ``JSONColumn``, or an expression converted by ``SQLSpecificExpressible/asJSON``.
///
/// ```swift
/// let info = JSONColumn("info")
/// Player.filter(info["city"] == "Arras")
/// // SELECT * FROM "player" WHERE "info" ->> 'city' = 'Arras'
/// ```
///
/// In an array or an object built by functions of ``Database``, such as `Database.jsonArray`, it is
/// JSON, and not a string that contains JSON. Global functions such as `jsonArray` make a string of
/// it. Pass them ``json(_:)`` of it.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

/// A column that contains JSON.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns {
///         static let name = Column("name")
///         static let info = JSONColumn("info")
///     }
/// }
/// let players = try Player.filter { $0.info["city"] == "Arras" }.fetchAll(db)
/// ```
public struct JSONColumn: SQLJSONExpressible, ColumnExpression, Hashable {
    /// The name of the column.
    public let name: String

    /// Creates a column with the given name.
    ///
    /// - Parameter name: The name, without quotes. It is quoted in SQL.
    public init(_ name: String) { self.name = name }

    /// Creates a column named by a coding key.
    ///
    /// - Parameter key: The key, whose `stringValue` is the name.
    public init(_ key: some CodingKey) { name = key.stringValue }
}

/// An expression whose text is JSON.
public struct SQLJSONExpression: SQLJSONExpressible {
    public let sqlExpression: SQLExpression
}

extension SQLSpecificExpressible {
    /// The same expression, treated as JSON.
    ///
    /// ```swift
    /// Column("info").asJSON["address"]
    /// // "info" ->> 'address'
    /// ```
    public var asJSON: SQLJSONExpression { SQLJSONExpression(sqlExpression: sqlExpression) }
}

extension SQLJSONExpressible {
    /// Returns a part of the JSON as an SQL value: `json ->> path`. It is NULL if there is none.
    ///
    /// - Parameter path: The key of an object, or a path of SQLite: `$.address.city`.
    public subscript(_ path: some SQLExpressible) -> SQLExpression { jsonValue(at: path) }

    /// Returns an element of a JSON array as an SQL value: `json ->> index`.
    ///
    /// - Parameter index: The index of the element, counted from 0. The value is NULL if there is
    ///   none.
    public subscript(_ index: Int) -> SQLExpression { jsonValue(at: index) }
}
