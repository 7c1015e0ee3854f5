// SQLite's "JSON Functions And Operators", as methods of Database.
//
// Each is like the global function of the same name, except for the elements of JSON. For a
// `JSONColumn`, the global function makes a string, and these make JSON.

extension SQLExpressible {
    /// The expression as an element of JSON. JSON remains JSON, and does not become a string.
    fileprivate var jsonElement: SQLExpression {
        self is any SQLJSONExpressible ? .function("JSON", [sqlExpression]) : sqlExpression
    }
}

/// Returns the paths and values of a function as alternating arguments.
private func jsonOperands(
    _ values: some Collection<(key: String, value: any SQLExpressible)>
) -> [any SQLExpressible] {
    values.flatMap { [$0.key as any SQLExpressible, $0.value.jsonElement] }
}

extension Database {
    // MARK: - Values

    /// Returns the JSON text in its shortest form: `JSON(text)`.
    ///
    /// - Parameter value: The JSON. The statement throws if it is malformed. NULL remains NULL.
    public static func json(_ value: any SQLExpressible) -> SQLExpression { .function("JSON", [value]) }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    ///
    /// - Parameter values: The elements, in their order. JSON, such as a ``JSONColumn``, remains
    ///   JSON. Other text becomes a JSON string. An empty collection gives an empty array.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonElement))
    }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    ///
    /// - Parameter values: The elements, in their order. JSON, such as a ``JSONColumn``, remains
    ///   JSON. Other text becomes a JSON string. An empty collection gives an empty array.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonElement))
    }

    /// Returns a JSON object: `JSON_OBJECT(key, value, …)`.
    ///
    /// - Parameter elements: The keys and values, in their order: a dictionary literal, or pairs.
    public static func jsonObject(_ elements: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
        .function("JSON_OBJECT", jsonOperands(elements))
    }

    /// Returns the value as JSON: `JSON_QUOTE(value)`.
    ///
    /// - Parameter value: A number, a text or NULL. SQLite refuses a blob that is not JSON. JSON,
    ///   such as a ``JSONColumn``, remains unchanged.
    public static func jsonQuote(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.jsonElement])
    }

    /// Returns the JSON in SQLite's binary form, from SQLite 3.45 on: `JSONB(json)`.
    ///
    /// - Parameter value: The JSON, as a text or in that form. The statement throws if it is
    ///   malformed. NULL remains NULL.
    public static func jsonb(_ value: any SQLExpressible) -> SQLExpression { .function("JSONB", [value]) }

    // MARK: - Questions

    /// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
    ///
    /// - Parameter value: The JSON. The number is 0 if it is no array.
    public static func jsonArrayLength(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value])
    }

    /// Returns the number of elements of an array inside of JSON: `JSON_ARRAY_LENGTH(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite, to the array: `$.tags`. The number is NULL if nothing is there,
    ///     and 0 if it is no array.
    public static func jsonArrayLength(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value, path.asConstant])
    }

    /// Returns the position of the first JSON error in a text, counted from 1:
    /// `JSON_ERROR_POSITION(text)`. It is 0 if there is none. From SQLite 3.42 on.
    ///
    /// - Parameter value: The text. JSON5 that SQLite can read counts as JSON.
    public static func jsonErrorPosition(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value])
    }

    /// Returns a part of JSON as an SQL value: `JSON_EXTRACT(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite: `$.address.city`, `$[0]`. The result is NULL if nothing is
    ///     there. The statement throws if the text is not a path.
    public static func jsonExtract(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_EXTRACT", [value, path.asConstant])
    }

    /// Returns several parts of JSON as a JSON array: `JSON_EXTRACT(json, path, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - paths: Paths of SQLite. A single path gives its part, and not an array. An empty
    ///     collection gives NULL.
    public static func jsonExtract(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_EXTRACT", [value] + paths.map(\.asConstant)) }

    /// Whether a text is JSON: `JSON_VALID(text)`.
    ///
    /// - Parameter value: The text. JSON5, which other functions accept from SQLite 3.42 on, does
    ///   not count.
    public static func jsonIsValid(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_VALID", [value])
    }

    /// Returns the type of JSON as JSON names it: `JSON_TYPE(json)`.
    ///
    /// - Parameter value: The JSON. NULL has no type, so the result is NULL. JSON's own null has
    ///   the type `null`.
    public static func jsonType(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value])
    }

    /// Returns the type of a part of JSON as JSON names it: `JSON_TYPE(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite. The type is NULL if nothing is there.
    public static func jsonType(_ value: any SQLExpressible, atPath path: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_TYPE", [value, path.asConstant])
    }

    // MARK: - Changes

    /// Returns the JSON with values added at paths that have none:
    /// `JSON_INSERT(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths and their values, applied in order. A path that already has a
    ///     value is skipped. JSON, such as a ``JSONColumn``, remains JSON.
    public static func jsonInsert(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_INSERT", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with existing values replaced: `JSON_REPLACE(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths and their values, applied in order. A path without a value is
    ///     skipped. JSON, such as a ``JSONColumn``, remains JSON.
    public static func jsonReplace(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_REPLACE", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with values replaced or added: `JSON_SET(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths and their values, applied in order. The path `$[#]` is the
    ///     position after the last element of an array. JSON, such as a ``JSONColumn``, remains
    ///     JSON.
    public static func jsonSet(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_SET", [value] + jsonOperands(assignments)) }

    /// Returns the JSON merged with a patch: `JSON_PATCH(json, patch)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - patch: A merge patch of RFC 7396, as JSON. Objects are merged, null removes a key, and
    ///     anything else replaces the old value.
    public static func jsonPatch(_ value: any SQLExpressible, with patch: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_PATCH", [value, patch])
    }

    /// Returns the JSON without one of its parts: `JSON_REMOVE(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite. Nothing is removed if nothing is there.
    public static func jsonRemove(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_REMOVE", [value, path.asConstant])
    }

    /// Returns the JSON without several of its parts: `JSON_REMOVE(json, path, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - paths: Paths of SQLite. Each applies to the result of the previous ones. An empty
    ///     collection only gives the JSON its shortest form.
    public static func jsonRemove(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_REMOVE", [value] + paths.map(\.asConstant)) }

    // MARK: - Aggregates

    /// Returns a JSON array of the values of all rows: `JSON_GROUP_ARRAY(value)`.
    ///
    /// - Parameters:
    ///   - value: The value of each row.
    ///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
    public static func jsonGroupArray(
        _ value: any SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression { .function("JSON_GROUP_ARRAY", [value.jsonElement], filter: filter) }

    /// Returns a JSON object of the keys and values of all rows: `JSON_GROUP_OBJECT(key, value)`.
    ///
    /// - Parameters:
    ///   - key: The key of each row.
    ///   - value: The value of each row.
    ///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
    public static func jsonGroupObject(
        key: any SQLExpressible, value: any SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression { .function("JSON_GROUP_OBJECT", [key, value.jsonElement], filter: filter) }
}
