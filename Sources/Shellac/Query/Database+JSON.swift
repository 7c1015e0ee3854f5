// The functions of SQLite's page "JSON Functions And Operators", as methods of Database. Each is the function of the same name that
// stands alone.

extension SQLExpressible {
    /// The expression as an element of JSON: what is JSON stays JSON, and becomes no text.
    fileprivate var jsonElement: SQLExpression {
        self is any SQLJSONExpressible ? .function("JSON", [sqlExpression]) : sqlExpression
    }
}

/// The paths and values of a function, one after the other.
private func jsonOperands(
    _ values: some Collection<(key: String, value: any SQLExpressible)>
) -> [any SQLExpressible] {
    values.flatMap { [$0.key as any SQLExpressible, $0.value.jsonElement] }
}

extension Database {
    // MARK: - Values

    /// Returns the JSON text in its shortest form: `JSON(text)`.
    public static func json(_ value: any SQLExpressible) -> SQLExpression { .function("JSON", [value]) }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonElement))
    }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonElement))
    }

    /// Returns a JSON object: `JSON_OBJECT(key, value, …)`.
    ///
    /// - Parameter elements: The keys and values, in their order: a literal of a dictionary, or pairs.
    public static func jsonObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        .function("JSON_OBJECT", jsonOperands(elements))
    }

    /// Returns the value as JSON: `JSON_QUOTE(value)`.
    public static func jsonQuote(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.jsonElement])
    }

    /// Returns the JSON in SQLite's binary form, from SQLite 3.45 on: `JSONB(json)`.
    public static func jsonb(_ value: any SQLExpressible) -> SQLExpression { .function("JSONB", [value]) }

    // MARK: - Questions

    /// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
    public static func jsonArrayLength(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value])
    }

    /// Returns the number of elements of an array inside of JSON: `JSON_ARRAY_LENGTH(json, path)`.
    public static func jsonArrayLength(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value, path])
    }

    /// Returns where a text is no JSON, counted from 1, or 0, from SQLite 3.42 on: `JSON_ERROR_POSITION(text)`.
    public static func jsonErrorPosition(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value])
    }

    /// Returns a part of JSON, as the SQL value that it is: `JSON_EXTRACT(json, path)`.
    public static func jsonExtract(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_EXTRACT", [value, path])
    }

    /// Returns some parts of JSON, as a JSON array: `JSON_EXTRACT(json, path, …)`.
    public static func jsonExtract(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_EXTRACT", [value] + paths.map { $0 as any SQLExpressible }) }

    /// Whether a text is JSON: `JSON_VALID(text)`.
    public static func jsonIsValid(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_VALID", [value])
    }

    /// Returns the type of JSON, in JSON's words: `JSON_TYPE(json)`.
    public static func jsonType(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value])
    }

    /// Returns the type of a part of JSON, in JSON's words: `JSON_TYPE(json, path)`.
    public static func jsonType(_ value: any SQLExpressible, atPath path: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_TYPE", [value, path])
    }

    // MARK: - Changes

    /// Returns the JSON with new values where there are none: `JSON_INSERT(json, path, value, …)`.
    public static func jsonInsert(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_INSERT", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with other values where there are some: `JSON_REPLACE(json, path, value, …)`.
    public static func jsonReplace(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_REPLACE", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with other values, or new ones: `JSON_SET(json, path, value, …)`.
    public static func jsonSet(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_SET", [value] + jsonOperands(assignments)) }

    /// Returns the JSON, merged with another one: `JSON_PATCH(json, patch)`.
    public static func jsonPatch(_ value: any SQLExpressible, with patch: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_PATCH", [value, patch])
    }

    /// Returns the JSON without one of its parts: `JSON_REMOVE(json, path)`.
    public static func jsonRemove(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_REMOVE", [value, path])
    }

    /// Returns the JSON without some of its parts: `JSON_REMOVE(json, path, …)`.
    public static func jsonRemove(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_REMOVE", [value] + paths.map { $0 as any SQLExpressible }) }

    // MARK: - Of all rows

    /// Returns a JSON array of the values of all rows: `JSON_GROUP_ARRAY(value)`.
    ///
    /// - Parameters:
    ///   - value: The value of each row.
    ///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
    public static func jsonGroupArray(
        _ value: any SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression { .function("JSON_GROUP_ARRAY", [value.jsonElement], filter: filter) }

    /// Returns a JSON object of the keys and values of all rows: `JSON_GROUP_OBJECT(key, value)`.
    ///
    /// - Parameters:
    ///   - key: The key of each row.
    ///   - value: The value of each row.
    ///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
    public static func jsonGroupObject(
        key: any SQLExpressible, value: any SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression { .function("JSON_GROUP_OBJECT", [key, value.jsonElement], filter: filter) }
}
