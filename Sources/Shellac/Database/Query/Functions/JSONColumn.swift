/// An expression whose text is JSON: a ``JSONColumn``, or what ``SQLSpecificExpressible/asJSON`` makes of another one.
///
/// ```swift
/// let info = JSONColumn("info")
/// Player.filter(info["city"] == "Arras")
/// // SELECT * FROM "player" WHERE "info" ->> 'city' = 'Arras'
/// ```
///
/// As an element of an array or of an object that functions of ``Database`` make, as `Database.jsonArray` does, it is JSON, and no
/// text that holds JSON. Functions that stand alone, as `jsonArray`, make a string of it: give them ``json(_:)`` of it.
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
    ///
    /// - Parameter name: The name, without quotes: SQL gets it quoted.
    public init(_ name: String) { self.name = name }

    /// Creates the column named as a coding key.
    ///
    /// - Parameter key: The key, whose `stringValue` is the name.
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

    /// An element of the array that the JSON is, as the SQL value that it is: `json ->> index`.
    ///
    /// - Parameter index: The place of the element, from 0. Where there is none, the value is NULL.
    public subscript(_ index: Int) -> SQLExpression { jsonValue(at: index) }

    /// Returns a part of the JSON, as the SQL value that it is: `JSON_EXTRACT(json, path)`.
    ///
    /// - Parameter path: A path of SQLite: `$.address.city`, `$[0]`. Where there is nothing, the result is NULL. The statement
    ///   throws for a text that is no path.
    public func jsonExtract(atPath path: any SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [self, path.asConstant])
    }

    /// Returns some parts of the JSON, as a JSON array: `JSON_EXTRACT(json, path, …)`.
    ///
    /// - Parameter paths: Paths of SQLite. With one alone, the result is its part, and no array; with none, it is NULL.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_EXTRACT", [self] + paths.map(\.asConstant))
    }

    /// Returns a part of the JSON, as JSON: `json -> path`.
    ///
    /// - Parameter path: The key of an object, the place of an element, from 0, or a path of SQLite: `$.address.city`. Where there
    ///   is nothing, the result is NULL.
    public func jsonRepresentation(atPath path: any SQLExpressible) -> SQLExpression { json(at: path) }
}
