// The functions of SQLite's page "JSON Functions And Operators" that came with SQLite 3.45 and later. Those that begin with
// `jsonb` give JSON in SQLite's own binary form, which is smaller and quicker to read: see "The JSONB Format".
// Where one is missing, a statement that uses it throws "no such function", with the SQL.

/// Returns the JSON text in SQLite's binary form, from SQLite 3.45 on: `JSONB(text)`.
///
/// - Parameter text: The JSON. The statement throws where it is malformed. NULL stays NULL.
public func jsonb(_ text: some SQLSpecificExpressible) -> SQLExpression { .function("JSONB", [text]) }

/// Returns a JSON array of values, in binary form: `JSONB_ARRAY(a, b, …)`.
///
/// - Parameters:
///   - first: The first element. A text becomes a string of JSON, unless a function of JSON gives it: ``json(_:)`` makes JSON of a
///     column.
///   - others: The elements behind it.
public func jsonbArray(_ first: some SQLSpecificExpressible, _ others: any SQLExpressible...) -> SQLExpression
{
    .function("JSONB_ARRAY", [first] + others)
}

/// Returns parts of a JSON text, in binary form where they are arrays or objects: `JSONB_EXTRACT(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Where there is nothing, the part is NULL. The statement throws for a text that is no path.
///   - others: More paths, with which the result is an array.
public func jsonbExtract(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSONB_EXTRACT", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns the JSON with new elements in its arrays, in binary form, from SQLite 3.53 on: `JSONB_ARRAY_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths of elements, and what is put in front of each, one after the other: `$[#]` is the place behind the last
///     element. A text becomes a string of JSON, unless a function of JSON gives it. The statement throws for a path that is not
///     that of an element.
public func jsonbArrayInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_ARRAY_INSERT", [json] + operands(values)) }

/// Returns the JSON with values where it has none yet, in binary form: `JSONB_INSERT(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other. A path where there is a value is passed over. A text becomes
///     a string of JSON, unless a function of JSON gives it.
public func jsonbInsert(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_INSERT", [json] + operands(values)) }

/// Returns the JSON with other values where it has some, in binary form: `JSONB_REPLACE(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other. A path where there is no value is passed over. A text becomes
///     a string of JSON, unless a function of JSON gives it.
public func jsonbReplace(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_REPLACE", [json] + operands(values)) }

/// Returns the JSON with values, whether it has some there or not, in binary form: `JSONB_SET(json, path, value, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - values: The paths, and what is put there, one after the other: `$[#]` is the place behind the last element of an array. A
///     text becomes a string of JSON, unless a function of JSON gives it.
public func jsonbSet(
    _ json: some SQLSpecificExpressible, _ values: KeyValuePairs<String, any SQLExpressible>
) -> SQLExpression { .function("JSONB_SET", [json] + operands(values)) }

/// Returns a JSON object, in binary form: `JSONB_OBJECT(key, value, …)`.
///
/// - Parameter values: The keys and values, in their order: a literal of a dictionary. A text becomes a string of JSON, unless a
///   function of JSON gives it.
public func jsonbObject(_ values: KeyValuePairs<String, any SQLExpressible>) -> SQLExpression {
    .function("JSONB_OBJECT", operands(values))
}

/// Returns the JSON with a merge patch applied, in binary form: `JSONB_PATCH(json, patch)`.
///
/// - Parameters:
///   - json: The JSON.
///   - patch: A merge patch of RFC 7396, as JSON: objects are merged, null removes a key, and anything else replaces what is there.
public func jsonbPatch(_ json: some SQLSpecificExpressible, _ patch: any SQLExpressible) -> SQLExpression {
    .function("JSONB_PATCH", [json, patch])
}

/// Returns the JSON without some parts, in binary form: `JSONB_REMOVE(json, path, …)`.
///
/// - Parameters:
///   - json: The JSON.
///   - path: A path of SQLite. Where there is nothing, nothing is removed.
///   - others: More paths. Each is looked for in what those before it have left.
public func jsonbRemove(
    _ json: some SQLSpecificExpressible, at path: any SQLExpressible, _ others: any SQLExpressible...
) -> SQLExpression { .function("JSONB_REMOVE", [json, path.asConstant] + others.map(\.asConstant)) }

/// Returns a JSON array of the values of all rows, in binary form: `JSONB_GROUP_ARRAY(value)`.
///
/// - Parameters:
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
public func jsonbGroupArray(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression { .function("JSONB_GROUP_ARRAY", [value], filter: filter) }

/// Returns a JSON object of the keys and values of all rows, in binary form: `JSONB_GROUP_OBJECT(key, value)`.
///
/// - Parameters:
///   - key: The key of each row.
///   - value: The value of each row.
///   - filter: A condition on the rows that count, all if nil: `FILTER (WHERE …)`.
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

/// Returns the JSON text on several lines, with an indentation, from SQLite 3.46 on: `JSON_PRETTY(json, indentation)`.
///
/// - Parameters:
///   - json: The JSON.
///   - indentation: The text that each level is indented by; four spaces if NULL.
public func jsonPretty(_ json: some SQLSpecificExpressible, indentation: any SQLExpressible) -> SQLExpression
{
    .function("JSON_PRETTY", [json, indentation])
}

/// Whether a value is JSON of some kinds, from SQLite 3.45 on: `JSON_VALID(value, flags)`.
///
/// - Parameters:
///   - value: A text or a blob.
///   - flags: The kinds that count, as a sum: 1 for strict JSON, 2 for JSON5, 4 for what may be binary JSON, 8 for what surely is.
public func jsonValid(_ value: some SQLSpecificExpressible, flags: any SQLExpressible) -> SQLExpression {
    .function("JSON_VALID", [value, flags])
}
