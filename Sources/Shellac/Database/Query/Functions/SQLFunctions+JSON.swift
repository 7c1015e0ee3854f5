// The functions and operators of SQLite's page "JSON Functions And Operators". A path is SQLite's: `$.address.city`,
// `$[0]`.

extension SQLSpecificExpressible {
    /// Returns a part of a JSON text, as JSON: `json -> path`.
    ///
    /// - Parameter path: A path of SQLite: `$.address.city`; the key of an object: `city`; or the place of an element, from 0.
    ///   Where there is nothing, the result is NULL.
    public func json(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.json, sqlExpression, path.asConstant))
    }

    /// Returns a part of a JSON text, as the SQL value that it is: `json ->> path`.
    ///
    /// ```swift
    /// Player.filter(Column("address").jsonValue(at: "$.city") == "Arras")
    /// ```
    ///
    /// - Parameter path: A path of SQLite: `$.address.city`; the key of an object: `city`; or the place of an element, from 0.
    ///   Where there is nothing, the result is NULL.
    public func jsonValue(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.jsonValue, sqlExpression, path.asConstant))
    }
}

/// Returns the JSON text in its shortest form; it throws where it is malformed: `JSON(text)`.
///
/// - Parameter text: The JSON. NULL stays NULL.
public func json(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSON", [text]) }

/// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
///
/// - Parameters:
///   - first: The first element. A text becomes a string of JSON, unless a function of JSON gives it: ``json(_:)`` makes JSON of a
///     column.
///   - others: The elements behind it.
public func jsonArray(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression
{
    .function("JSON_ARRAY", [first] + others)
}

/// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
///
/// - Parameter json: The JSON. Where it is no array, the number is 0.
public func jsonArrayLength(_ json: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ARRAY_LENGTH", [json])
}

/// Returns the number of elements of an array inside of a JSON text: `JSON_ARRAY_LENGTH(json, path)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite, to the array: `$.tags`. Where there is nothing, the number is NULL, and where there is no array, 0.
public func jsonArrayLength(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression
{
    .function("JSON_ARRAY_LENGTH", [json, path.asConstant])
}

/// Returns where a text is no JSON, counted from 1, or 0, from SQLite 3.42 on: `JSON_ERROR_POSITION(text)`.
///
/// - Parameter text: The text. What SQLite reads as JSON5 counts as JSON.
public func jsonErrorPosition(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ERROR_POSITION", [text])
}

/// Returns a part of a JSON text, as the SQL value that it is; an array where there are several paths:
/// `JSON_EXTRACT(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Where there is nothing, the part is NULL. The statement throws for a text that is no path.
///   - others: More paths.
public func jsonExtract(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_EXTRACT", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the JSON text with new values where there are none: `JSON_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other. A path where there is a value is passed over. A text becomes
///     a string of JSON, unless a function of JSON gives it.
public func jsonInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_INSERT", [json] + operands(values)) }

/// Returns the JSON text with new elements in its arrays, from SQLite 3.53 on: `JSON_ARRAY_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths of elements, and what is put in front of each, one after the other: `$[#]` is the place behind the last
///     element. A text becomes a string of JSON, unless a function of JSON gives it. The statement throws for a path that is not
///     that of an element.
public func jsonArrayInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_ARRAY_INSERT", [json] + operands(values)) }

/// Returns the JSON text with other values where there are some: `JSON_REPLACE(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other. A path where there is no value is passed over. A text becomes
///     a string of JSON, unless a function of JSON gives it.
public func jsonReplace(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_REPLACE", [json] + operands(values)) }

/// Returns the JSON text with other values, or new ones: `JSON_SET(json, path, value, …)`.
///
/// ```swift
/// try Player.updateAll(db, [Column("settings").set(to: jsonSet(Column("settings"), ["$.sound": "off"]))])
/// ```
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other: `$[#]` is the place behind the last element of an array. A
///     text becomes a string of JSON, unless a function of JSON gives it.
public func jsonSet(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_SET", [json] + operands(values)) }

/// Returns a JSON object: `JSON_OBJECT(key, value, …)`.
///
/// - Parameter values: The keys and values, in their order: a literal of a dictionary. A text becomes a string of JSON, unless a
///   function of JSON gives it.
public func jsonObject(_ values: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
    .function("JSON_OBJECT", operands(values))
}

/// Returns the JSON text, merged with another one: `JSON_PATCH(json, patch)`.
///
/// - Parameters:
///   - json: The JSON.
///   - patch: A merge patch of RFC 7396, as JSON: objects are merged, null removes a key, and anything else replaces what is there.
public func jsonPatch(_ json: some SQLSpecificExpressible, _ patch: any SQLExpressible) -> SQLExpression {
    .function("JSON_PATCH", [json, patch])
}

/// Returns the JSON text without some of its parts: `JSON_REMOVE(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Where there is nothing, nothing is removed.
///   - others: More paths. Each is looked for in what those before it have left.
public func jsonRemove(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_REMOVE", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the type of a JSON text, in JSON's words: `JSON_TYPE(json)`.
///
/// - Parameter json: The JSON. NULL has no type, and the result is NULL; JSON's own null has the type `null`.
public func jsonType(_ json: some SQLSpecificExpressible) -> SQLExpression { .function("JSON_TYPE", [json]) }

/// Returns the type of a part of a JSON text, in JSON's words: `JSON_TYPE(json, path)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Where there is nothing, the type is NULL.
public func jsonType(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression {
    .function("JSON_TYPE", [json, path.asConstant])
}

/// Whether a text is JSON: `JSON_VALID(text)`.
///
/// - Parameter text: The text. JSON5, which other functions read from SQLite 3.42 on, does not count.
public func jsonValid(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_VALID", [text])
}

/// Returns the value as JSON: `JSON_QUOTE(value)`.
///
/// - Parameter value: A number, a text or NULL: SQLite refuses a blob that is no JSON. What another function of JSON gives stays as
///   it is.
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
