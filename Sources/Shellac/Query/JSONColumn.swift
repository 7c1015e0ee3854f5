/// An expression whose text is JSON: a ``JSONColumn``, or what ``SQLSpecificExpressible/asJSON`` makes of another one.
///
/// ```swift
/// let info = JSONColumn("info")
/// Player.filter(info["city"] == "Arras")
/// // SELECT * FROM "player" WHERE "info" ->> 'city' = 'Arras'
/// ```
///
/// As an element of an array or of an object that SQLite makes, it is JSON, and no text that holds JSON.
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

/// A column that holds JSON.
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

    /// Creates the column of a name.
    public init(_ name: String) { self.name = name }

    /// Creates the column named as a coding key.
    public init(_ key: some CodingKey) { name = key.stringValue }
}

/// An expression whose text is JSON.
public struct SQLJSONExpression: SQLJSONExpressible {
    public let sqlExpression: SQLExpression
}

extension SQLSpecificExpressible {
    /// The same expression, whose text is JSON.
    ///
    /// ```swift
    /// Column("info").asJSON["address"]
    /// // "info" ->> 'address'
    /// ```
    public var asJSON: SQLJSONExpression { SQLJSONExpression(sqlExpression: sqlExpression) }
}

extension SQLJSONExpressible {
    /// A part of the JSON, as the SQL value that it is: `json ->> path`. It is NULL where there is none.
    ///
    /// - Parameter path: The key of an object, or a path of SQLite: `$.address.city`.
    public subscript(_ path: some SQLExpressible) -> SQLExpression { jsonValue(at: path) }

    /// An element of the array that the JSON is, from 0, as the SQL value that it is: `json ->> index`.
    public subscript(_ index: Int) -> SQLExpression { jsonValue(at: index) }

    /// Returns a part of the JSON, as the SQL value that it is: `JSON_EXTRACT(json, path)`.
    public func jsonExtract(atPath path: any SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [self, path])
    }

    /// Returns some parts of the JSON, as a JSON array: `JSON_EXTRACT(json, path, …)`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_EXTRACT", [self] + paths.map { $0 as any SQLExpressible })
    }

    /// Returns a part of the JSON, as JSON: `json -> path`.
    public func jsonRepresentation(atPath path: any SQLExpressible) -> SQLExpression { json(at: path) }
}
