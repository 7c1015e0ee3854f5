// The functions and operators of SQLite's page "JSON Functions And Operators". A path is SQLite's: `$.address.city`,
// `$[0]`.

extension SQLSpecificExpressible {
    /// Returns a part of a JSON text, as JSON: `json -> path`.
    ///
    /// The path may also be the key of an object: `Column("address").json(at: "city")`.
    public func json(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.json, sqlExpression, path.sqlExpression))
    }

    /// Returns a part of a JSON text, as the SQL value that it is: `json ->> path`.
    ///
    /// ```swift
    /// Player.filter(Column("address").jsonValue(at: "$.city") == "Arras")
    /// ```
    public func jsonValue(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.jsonValue, sqlExpression, path.sqlExpression))
    }
}

/// Returns the JSON text in its shortest form; it throws where it is malformed: `JSON(text)`.
public func json(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSON", [text]) }

/// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
public func jsonArray(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression
{
    .function("JSON_ARRAY", [first] + others)
}

/// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
public func jsonArrayLength(_ json: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ARRAY_LENGTH", [json])
}

/// Returns the number of elements of an array inside of a JSON text: `JSON_ARRAY_LENGTH(json, path)`.
public func jsonArrayLength(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression
{
    .function("JSON_ARRAY_LENGTH", [json, path])
}

/// Returns where a text is no JSON, counted from 1, or 0, from SQLite 3.42 on: `JSON_ERROR_POSITION(text)`.
public func jsonErrorPosition(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ERROR_POSITION", [text])
}

/// Returns a part of a JSON text, as the SQL value that it is; an array where there are several paths:
/// `JSON_EXTRACT(json, path, …)`.
public func jsonExtract(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_EXTRACT", [json, path] + others) }

/// Returns the JSON text with new values where there are none: `JSON_INSERT(json, path, value, …)`.
public func jsonInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_INSERT", [json] + operands(values)) }

/// Returns the JSON text with other values where there are some: `JSON_REPLACE(json, path, value, …)`.
public func jsonReplace(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_REPLACE", [json] + operands(values)) }

/// Returns the JSON text with other values, or new ones: `JSON_SET(json, path, value, …)`.
///
/// ```swift
/// try Player.updateAll(db, [Column("settings").set(to: jsonSet(Column("settings"), ["$.sound": "off"]))])
/// ```
public func jsonSet(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_SET", [json] + operands(values)) }

/// Returns a JSON object: `JSON_OBJECT(key, value, …)`.
public func jsonObject(_ values: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
    .function("JSON_OBJECT", operands(values))
}

/// Returns the JSON text, merged with another one: `JSON_PATCH(json, patch)`.
public func jsonPatch(_ json: some SQLSpecificExpressible, _ patch: any SQLExpressible) -> SQLExpression {
    .function("JSON_PATCH", [json, patch])
}

/// Returns the JSON text without some of its parts: `JSON_REMOVE(json, path, …)`.
public func jsonRemove(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_REMOVE", [json, path] + others) }

/// Returns the type of a JSON text, in JSON's words: `JSON_TYPE(json)`.
public func jsonType(_ json: some SQLSpecificExpressible) -> SQLExpression { .function("JSON_TYPE", [json]) }

/// Returns the type of a part of a JSON text, in JSON's words: `JSON_TYPE(json, path)`.
public func jsonType(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression {
    .function("JSON_TYPE", [json, path])
}

/// Whether a text is JSON: `JSON_VALID(text)`.
public func jsonValid(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_VALID", [text])
}

/// Returns the value as JSON: `JSON_QUOTE(value)`.
public func jsonQuote(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_QUOTE", [value])
}

/// Returns a JSON array of the values of all rows: `JSON_GROUP_ARRAY(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func jsonGroupArray(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSON_GROUP_ARRAY", [value], filter: filter) }

/// Returns a JSON object of the keys and values of all rows: `JSON_GROUP_OBJECT(key, value)`.
///
/// - Parameters:
///   - key: The key of each row.
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func jsonGroupObject(
    _ key: some SQLSpecificExpressible, _ value: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSON_GROUP_OBJECT", [key, value], filter: filter) }

func operands(_ values: KeyValuePairs<String, any SQLExpressible>) -> [any SQLExpressible] {
    values.flatMap { [$0, $1] as [any SQLExpressible] }
}
