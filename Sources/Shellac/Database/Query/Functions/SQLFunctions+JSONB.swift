// Functions of SQLite's page "JSON Functions And Operators" from SQLite 3.45 and later.
//
// Functions that begin with `jsonb` return JSON in SQLite's own binary form, which is smaller and
// faster to read: see "The JSONB Format". If one is missing, a statement that uses it throws "no
// such function", with the SQL.

/// Returns the JSON text in SQLite's binary form, from SQLite 3.45 on: `JSONB(text)`.
///
/// - Parameter text: The JSON. The statement throws if it is malformed. NULL remains NULL.
public func jsonb(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSONB", [text]) }

/// Returns a JSON array of values, in binary form: `JSONB_ARRAY(a, b, …)`.
///
/// - Parameters:
///   - first: The first element. A text becomes a JSON string, unless a JSON function returns it.
///     ``json(_:)`` makes JSON of a column.
///   - others: The other elements.
public func jsonbArray(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression
{
    .function("JSONB_ARRAY", [first] + others)
}

/// Returns parts of a JSON text: `JSONB_EXTRACT(json, path, …)`. Arrays and objects are in binary
/// form.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. The part is NULL if nothing is there. The statement throws if the
///     text is not a path.
///   - others: More paths. With them, the result is an array.
public func jsonbExtract(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSONB_EXTRACT", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the JSON with elements inserted into its arrays, in binary form:
/// `JSONB_ARRAY_INSERT(json, path, value, …)`. From SQLite 3.53 on.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths of elements and the values to insert before them, applied in order. The
///     path `$[#]` is the position after the last element. A text becomes a JSON string, unless a
///     JSON function returns it. The statement throws if a path does not point to an element.
public func jsonbArrayInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_ARRAY_INSERT", [json] + operands(values)) }

/// Returns the JSON with values added at paths that have none, in binary form:
/// `JSONB_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. A path that already has a value is
///     skipped. A text becomes a JSON string, unless a JSON function returns it.
public func jsonbInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_INSERT", [json] + operands(values)) }

/// Returns the JSON with existing values replaced, in binary form:
/// `JSONB_REPLACE(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. A path without a value is skipped. A
///     text becomes a JSON string, unless a JSON function returns it.
public func jsonbReplace(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_REPLACE", [json] + operands(values)) }

/// Returns the JSON with values replaced or added, in binary form:
/// `JSONB_SET(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths and their values, applied in order. The path `$[#]` is the position after
///     the last element of an array. A text becomes a JSON string, unless a JSON function returns
///     it.
public func jsonbSet(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_SET", [json] + operands(values)) }

/// Returns a JSON object, in binary form: `JSONB_OBJECT(key, value, …)`.
///
/// - Parameter values: The keys and values, in their order: a dictionary literal. A text becomes a
///   JSON string, unless a JSON function returns it.
public func jsonbObject(_ values: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
    .function("JSONB_OBJECT", operands(values))
}

/// Returns the JSON with a merge patch applied, in binary form: `JSONB_PATCH(json, patch)`.
///
/// - Parameters:
///   - json: The JSON.
///   - patch: A merge patch of RFC 7396, as JSON. Objects are merged, null removes a key, and
///     anything else replaces the old value.
public func jsonbPatch(_ json: some SQLSpecificExpressible, _ patch: any SQLExpressible) -> SQLExpression {
    .function("JSONB_PATCH", [json, patch])
}

/// Returns the JSON without the given parts, in binary form: `JSONB_REMOVE(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Nothing is removed if nothing is there.
///   - others: More paths. Each applies to the result of the previous ones.
public func jsonbRemove(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSONB_REMOVE", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns a JSON array of the values of all rows, in binary form: `JSONB_GROUP_ARRAY(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func jsonbGroupArray(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSONB_GROUP_ARRAY", [value], filter: filter) }

/// Returns a JSON object of the keys and values of all rows, in binary form:
/// `JSONB_GROUP_OBJECT(key, value)`.
///
/// - Parameters:
///   - key: The key of each row.
///   - value: The value of each row.
///   - filter: A condition on the included rows, all if nil: `FILTER (WHERE …)`.
public func jsonbGroupObject(
    _ key: some SQLSpecificExpressible, _ value: any SQLExpressible,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSONB_GROUP_OBJECT", [key, value], filter: filter) }

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
