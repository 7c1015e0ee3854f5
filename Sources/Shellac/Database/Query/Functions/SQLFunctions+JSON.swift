// SQLite's "JSON Functions And Operators". A path is SQLite's: `$.address.city`, `$[0]`.
//
// `.ci/spellings` makes the functions that return the binary form of these.

extension SQLSpecificExpressible {
    /// Returns a part of a JSON text as JSON: `json -> path`.
    ///
    /// - Parameter path: A path of SQLite (`$.address.city`), the key of an object (`city`), or the
    ///   index of an element, counted from 0. The result is NULL if nothing is there.
    public func json(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.json, sqlExpression, path.asConstant))
    }

    /// Returns a part of a JSON text as an SQL value: `json ->> path`.
    ///
    /// ```swift
    /// Player.filter(Column("address").jsonValue(at: "$.city") == "Arras")
    /// ```
    ///
    /// - Parameter path: A path of SQLite (`$.address.city`), the key of an object (`city`), or the
    ///   index of an element, counted from 0. The result is NULL if nothing is there.
    public func jsonValue(at path: any SQLExpressible) -> SQLExpression {
        SQLExpression(.infix(.jsonValue, sqlExpression, path.asConstant))
    }
}

/// Returns the JSON text in its shortest form: `JSON(text)`. The statement throws if it is
/// malformed.
///
/// - Parameter text: The JSON. NULL remains NULL.
public func json(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSON", [text]) }

/// Returns the JSON text in SQLite's binary form, from SQLite 3.45 on: `JSONB(text)`.
///
/// - Parameter text: The JSON. The statement throws if it is malformed. NULL remains NULL.
public func jsonb(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSONB", [text]) }

/// Returns a JSON array of values: `JSON_ARRAY(a, b, …)`.
///
/// - Parameters:
///   - first: The first element. A text becomes a JSON string, unless a JSON function returns it.
///     ``json(_:)`` makes JSON of a column.
///   - others: The other elements.
public func jsonArray(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression
{
    .function("JSON_ARRAY", [first] + others)
}

/// Returns the number of elements of a JSON array: `JSON_ARRAY_LENGTH(json)`.
///
/// - Parameter json: The JSON. The number is 0 if it is no array.
public func jsonArrayLength(_ json: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ARRAY_LENGTH", [json])
}

/// Returns the number of elements of an array inside of a JSON text:
/// `JSON_ARRAY_LENGTH(json, path)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite, to the array: `$.tags`. The number is NULL if nothing is there, and
///     0 if it is no array.
public func jsonArrayLength(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression
{
    .function("JSON_ARRAY_LENGTH", [json, path.asConstant])
}

/// Returns the position of the first JSON error in a text, counted from 1:
/// `JSON_ERROR_POSITION(text)`. It is 0 if there is none. From SQLite 3.42 on.
///
/// - Parameter text: The text. JSON5 that SQLite can read counts as JSON.
public func jsonErrorPosition(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_ERROR_POSITION", [text])
}

/// Returns a part of a JSON text as an SQL value: `JSON_EXTRACT(json, path, …)`. Several paths give
/// an array.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. The part is NULL if nothing is there. The statement throws if the
///     text is not a path.
///   - others: More paths.
public func jsonExtract(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_EXTRACT", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the JSON text with values added at paths that have none:
/// `JSON_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. A path that already has a value is
///     skipped. A text becomes a JSON string, unless a JSON function returns it.
public func jsonInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_INSERT", [json] + operands(values)) }

/// Returns the JSON text with elements inserted into its arrays:
/// `JSON_ARRAY_INSERT(json, path, value, …)`. From SQLite 3.53 on.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths of elements and the values to insert before them, applied in order. The
///     path `$[#]` is the position after the last element. A text becomes a JSON string, unless a
///     JSON function returns it. The statement throws if a path does not point to an element.
public func jsonArrayInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_ARRAY_INSERT", [json] + operands(values)) }

/// Returns the JSON text with existing values replaced: `JSON_REPLACE(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. A path without a value is skipped. A
///     text becomes a JSON string, unless a JSON function returns it.
public func jsonReplace(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_REPLACE", [json] + operands(values)) }

/// Returns the JSON text with values replaced or added: `JSON_SET(json, path, value, …)`.
///
/// ```swift
/// try Player.updateAll(db, [Column("settings").set(to: jsonSet(Column("settings"), ["$.sound": "off"]))])
/// ```
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. The path `$[#]` is the position after
///     the last element of an array. A text becomes a JSON string, unless a JSON function returns
///     it.
public func jsonSet(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSON_SET", [json] + operands(values)) }

/// Returns a JSON object: `JSON_OBJECT(key, value, …)`.
///
/// - Parameter values: The keys and values, in their order: a dictionary literal. A text becomes a
///   JSON string, unless a JSON function returns it.
public func jsonObject(_ values: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
    .function("JSON_OBJECT", operands(values))
}

/// Returns the JSON text merged with a patch: `JSON_PATCH(json, patch)`.
///
/// - Parameters:
///   - json: The JSON.
///   - patch: A merge patch of RFC 7396, as JSON. Objects are merged, null removes a key, and
///     anything else replaces the old value.
public func jsonPatch(_ json: some SQLSpecificExpressible, _ patch: any SQLExpressible) -> SQLExpression {
    .function("JSON_PATCH", [json, patch])
}

/// Returns the JSON text without the given parts: `JSON_REMOVE(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Nothing is removed if nothing is there.
///   - others: More paths. Each applies to the result of the previous ones.
public func jsonRemove(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSON_REMOVE", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the type of a JSON text as JSON names it: `JSON_TYPE(json)`.
///
/// - Parameter json: The JSON. NULL has no type, so the result is NULL. JSON's own null has the
///   type `null`.
public func jsonType(_ json: some SQLSpecificExpressible) -> SQLExpression { .function("JSON_TYPE", [json]) }

/// Returns the type of a part of a JSON text as JSON names it: `JSON_TYPE(json, path)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. The type is NULL if nothing is there.
public func jsonType(_ json: some SQLSpecificExpressible, at path: any SQLExpressible) -> SQLExpression {
    .function("JSON_TYPE", [json, path.asConstant])
}

/// Returns whether a text is JSON: `JSON_VALID(text)`.
///
/// - Parameter text: The text. JSON5, which other functions accept from SQLite 3.42 on, does not
///   count.
public func jsonValid(_ text: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_VALID", [text])
}

/// Returns the value as JSON: `JSON_QUOTE(value)`.
///
/// - Parameter value: A number, a text or NULL. SQLite refuses a blob that is not JSON. The result
///   of another JSON function remains unchanged.
public func jsonQuote(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_QUOTE", [value])
}

/// Returns a JSON array of the values of all rows: `JSON_GROUP_ARRAY(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func jsonGroupArray(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSON_GROUP_ARRAY", [value], filter: filter) }

/// Returns a JSON object of the keys and values of all rows: `JSON_GROUP_OBJECT(key, value)`.
///
/// - Parameters:
///   - key: The key of each row.
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func jsonGroupObject(
    _ key: some SQLSpecificExpressible, _ value: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSON_GROUP_OBJECT", [key, value], filter: filter) }

/// Returns the JSON text on several lines, from SQLite 3.46 on: `JSON_PRETTY(json)`.
///
/// - Parameter json: The JSON. Each level is indented by four spaces.
public func jsonPretty(_ json: some SQLSpecificExpressible) -> SQLExpression {
    .function("JSON_PRETTY", [json])
}

/// Returns the JSON text on several lines, with an indentation, from SQLite 3.46 on:
/// `JSON_PRETTY(json, indentation)`.
///
/// - Parameters:
///   - json: The JSON.
///   - indentation: The text that indents each level. Four spaces if NULL.
public func jsonPretty(_ json: some SQLSpecificExpressible, indentation: any SQLExpressible) -> SQLExpression
{
    .function("JSON_PRETTY", [json, indentation])
}

/// Returns whether a value is JSON of the given kinds, from SQLite 3.45 on:
/// `JSON_VALID(value, flags)`.
///
/// - Parameters:
///   - value: A text or a blob.
///   - flags: The sum of the accepted kinds. Add 1 for strict JSON, 2 for JSON5, 4 for possible
///     binary JSON, and 8 for certain binary JSON.
public func jsonValid(_ value: some SQLSpecificExpressible, flags: any SQLExpressible) -> SQLExpression {
    .function("JSON_VALID", [value, flags])
}

func operands(_ values: KeyValuePairs<String, any SQLExpressible>) -> [any SQLExpressible] {
    values.flatMap { [$0, $1] as [any SQLExpressible] }
}
