// The functions of SQLite's page "JSON Functions And Operators", as methods of Database. Each is the function of the same name that
// stands alone, but for what becomes a part of JSON: of a `JSONColumn`, that one makes a text, and these make JSON.

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
    ///
    /// - Parameter value: The JSON. The statement throws where it is malformed. NULL stays NULL.
    public static func json(_ value: any SQLExpressible) -> SQLExpression { .function("JSON", [value]) }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    ///
    /// - Parameter values: The elements, in their order. What is JSON, as a ``JSONColumn`` is, stays JSON; another text becomes a
    ///   string of JSON. With none, the array is empty.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.jsonElement))
    }

    /// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
    ///
    /// - Parameter values: The elements, in their order. What is JSON, as a ``JSONColumn`` is, stays JSON; another text becomes a
    ///   string of JSON. With none, the array is empty.
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
    ///
    /// - Parameter value: A number, a text or NULL: SQLite refuses a blob that is no JSON. What is JSON, as a ``JSONColumn`` is,
    ///   stays as it is.
    public static func jsonQuote(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.jsonElement])
    }

    /// Returns the JSON in SQLite's binary form, from SQLite 3.45 on: `JSONB(json)`.
    ///
    /// - Parameter value: The JSON, as a text or in that form. The statement throws where it is malformed. NULL stays NULL.
    public static func jsonb(_ value: any SQLExpressible) -> SQLExpression { .function("JSONB", [value]) }

    // MARK: - Questions

    /// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
    ///
    /// - Parameter value: The JSON. Where it is no array, the number is 0.
    public static func jsonArrayLength(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value])
    }

    /// Returns the number of elements of an array inside of JSON: `JSON_ARRAY_LENGTH(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite, to the array: `$.tags`. Where there is nothing, the number is NULL, and where there is no array,
    ///     0.
    public static func jsonArrayLength(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_ARRAY_LENGTH", [value, path.asConstant])
    }

    /// Returns where a text is no JSON, counted from 1, or 0, from SQLite 3.42 on: `JSON_ERROR_POSITION(text)`.
    ///
    /// - Parameter value: The text. What SQLite reads as JSON5 counts as JSON.
    public static func jsonErrorPosition(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value])
    }

    /// Returns a part of JSON, as the SQL value that it is: `JSON_EXTRACT(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite: `$.address.city`, `$[0]`. Where there is nothing, the result is NULL. The statement throws for a
    ///     text that is no path.
    public static func jsonExtract(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_EXTRACT", [value, path.asConstant])
    }

    /// Returns some parts of JSON, as a JSON array: `JSON_EXTRACT(json, path, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - paths: Paths of SQLite. With one alone, the result is its part, and no array; with none, it is NULL.
    public static func jsonExtract(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_EXTRACT", [value] + paths.map(\.asConstant)) }

    /// Whether a text is JSON: `JSON_VALID(text)`.
    ///
    /// - Parameter value: The text. JSON5, which other functions read from SQLite 3.42 on, does not count.
    public static func jsonIsValid(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_VALID", [value])
    }

    /// Returns the type of JSON, in JSON's words: `JSON_TYPE(json)`.
    ///
    /// - Parameter value: The JSON. NULL has no type, and the result is NULL; JSON's own null has the type `null`.
    public static func jsonType(_ value: any SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value])
    }

    /// Returns the type of a part of JSON, in JSON's words: `JSON_TYPE(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite. Where there is nothing, the type is NULL.
    public static func jsonType(_ value: any SQLExpressible, atPath path: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_TYPE", [value, path.asConstant])
    }

    // MARK: - Changes

    /// Returns the JSON with new values where there are none: `JSON_INSERT(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths, and what is put there, one after the other. A path where there is a value is passed over. What
    ///     is JSON, as a ``JSONColumn`` is, stays JSON.
    public static func jsonInsert(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_INSERT", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with other values where there are some: `JSON_REPLACE(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths, and what is put there, one after the other. A path where there is no value is passed over. What
    ///     is JSON, as a ``JSONColumn`` is, stays JSON.
    public static func jsonReplace(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_REPLACE", [value] + jsonOperands(assignments)) }

    /// Returns the JSON with other values, or new ones: `JSON_SET(json, path, value, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - assignments: The paths, and what is put there, one after the other: `$[#]` is the place behind the last element of an
    ///     array. What is JSON, as a ``JSONColumn`` is, stays JSON.
    public static func jsonSet(
        _ value: any SQLExpressible, _ assignments: KeyValuePairs<String, any SQLExpressible>
    ) -> SQLExpression { .function("JSON_SET", [value] + jsonOperands(assignments)) }

    /// Returns the JSON, merged with another one: `JSON_PATCH(json, patch)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - patch: A merge patch of RFC 7396, as JSON: objects are merged, null removes a key, and anything else replaces what is
    ///     there.
    public static func jsonPatch(_ value: any SQLExpressible, with patch: any SQLExpressible) -> SQLExpression
    {
        .function("JSON_PATCH", [value, patch])
    }

    /// Returns the JSON without one of its parts: `JSON_REMOVE(json, path)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - path: A path of SQLite. Where there is nothing, nothing is removed.
    public static func jsonRemove(_ value: any SQLExpressible, atPath path: any SQLExpressible)
        -> SQLExpression
    {
        .function("JSON_REMOVE", [value, path.asConstant])
    }

    /// Returns the JSON without some of its parts: `JSON_REMOVE(json, path, …)`.
    ///
    /// - Parameters:
    ///   - value: The JSON.
    ///   - paths: Paths of SQLite. Each is looked for in what those before it have left. With none, the JSON only gets its shortest
    ///     form.
    public static func jsonRemove(
        _ value: any SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression { .function("JSON_REMOVE", [value] + paths.map(\.asConstant)) }

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
