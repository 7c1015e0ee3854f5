import Shellac
import TestSupport
import Testing

/// All functions of SQLite's own pages: "Built-In Scalar SQL Functions", "Date And Time Functions",
/// "Built-In Aggregate Functions", "Window Functions", "Built-In Mathematical SQL Functions", "JSON
/// Functions And Operators".
@Suite("The catalogue of functions")
struct FunctionCatalogueTests {
    private static let x = Column("x")
    private static var paths: KeyValuePairs<String, any SQLExpressible> { ["$.a": 1] }

    static let scalars: [String: SQLExpression] = [
        "abs": abs(x), "changes": .changes, "char": char(x), "coalesce": coalesce(x, 1),
        "concat": concat(x, 1),
        "concat_ws": concat(separator: ", ", x, 1), "hex": hex(x), "ifnull": ifNull(x, 1),
        "iif": iif(x, 1, 2),
        "instr": instr(x, "a"), "last_insert_rowid": .lastInsertedRowID, "length": length(x),
        "likelihood": likelihood(x > 1, 0.25), "likely": likely(x), "lower": lower(x), "ltrim": ltrim(x),
        "max": greatest(x, 1), "min": least(x, 1), "nullif": nullIf(x, 1), "octet_length": octetLength(x),
        "printf": printf("%d", x), "quote": quote(x), "random": .random, "randomblob": randomBlob(x),
        "replace": replace(x, "a", with: "b"), "round": round(x), "rtrim": rtrim(x), "sign": sign(x),
        "soundex": soundex(x), "sqlite_compileoption_get": sqliteCompileOption(x),
        "sqlite_compileoption_used": isSQLiteCompileOptionUsed(x), "sqlite_offset": sqliteOffset(x),
        "sqlite_source_id": .sqliteSourceID, "sqlite_version": .sqliteVersion, "substr": substr(x, 1),
        "total_changes": .totalChanges, "trim": trim(x), "typeof": typeOf(x), "unhex": unhex(x),
        "unicode": unicode(x), "unistr": unistr(x), "unistr_quote": unistrQuote(x), "unlikely": unlikely(x),
        "upper": upper(x), "zeroblob": zeroBlob(x),
    ]

    static let dates: [String: SQLExpression] = [
        "date": date(x), "time": time(x), "datetime": dateTime(x), "julianday": julianDay(x),
        "unixepoch": unixEpoch(x), "strftime": strftime("%Y", x), "timediff": timeDiff(x, x),
    ]

    static let mathematics: [String: SQLExpression] = [
        "acos": acos(x), "acosh": acosh(x), "asin": asin(x), "asinh": asinh(x), "atan": atan(x),
        "atan2": atan2(x, 1), "atanh": atanh(x), "ceil": ceil(x), "cos": cos(x), "cosh": cosh(x),
        "degrees": degrees(x), "exp": exp(x), "floor": floor(x), "ln": ln(x), "log": log(x, base: 2),
        "log10": log10(x), "log2": log2(x), "mod": mod(x, 2), "pi": .pi, "pow": pow(x, 2),
        "radians": radians(x), "sin": sin(x), "sinh": sinh(x), "sqrt": sqrt(x), "tan": tan(x),
        "tanh": tanh(x), "trunc": trunc(x),
    ]

    static let aggregates: [String: SQLExpression] = [
        "avg": average(x), "count": count(x), "group_concat": groupConcat(x), "max": max(x), "min": min(x),
        "sum": sum(x), "total": total(x), "median": median(x), "percentile": percentile(x, 90),
        "percentile_cont": percentileContinuous(x, 0.9), "percentile_disc": percentileDiscrete(x, 0.9),
        "json_group_array": jsonGroupArray(x), "json_group_object": jsonGroupObject(x, x),
        "jsonb_group_array": jsonbGroupArray(x), "jsonb_group_object": jsonbGroupObject(x, x),
    ]

    static let windows: [String: SQLExpression] = [
        "row_number": rowNumber(), "rank": rank(), "dense_rank": denseRank(), "percent_rank": percentRank(),
        "cume_dist": cumeDist(), "ntile": ntile(2), "lag": lag(x), "lead": lead(x),
        "first_value": firstValue(x), "last_value": lastValue(x), "nth_value": nthValue(x, 1),
    ].mapValues { $0.over(order: [x]) }

    static let json: [String: SQLExpression] = [
        "json": Shellac.json(x), "jsonb": jsonb(x), "json_array": jsonArray(x), "jsonb_array": jsonbArray(x),
        "json_array_length": jsonArrayLength(x), "json_error_position": jsonErrorPosition(x),
        "json_extract": jsonExtract(x, at: "$.a"), "jsonb_extract": jsonbExtract(x, at: "$.a"),
        "json_insert": jsonInsert(x, paths), "jsonb_insert": jsonbInsert(x, paths),
        "json_array_insert": jsonArrayInsert(x, ["$[0]": 1]),
        "jsonb_array_insert": jsonbArrayInsert(x, ["$[0]": 1]),
        "json_object": jsonObject(paths), "jsonb_object": jsonbObject(paths),
        "json_patch": jsonPatch(x, "{}"), "jsonb_patch": jsonbPatch(x, "{}"),
        "json_pretty": jsonPretty(x), "json_quote": jsonQuote(x), "json_remove": jsonRemove(x, at: "$.a"),
        "jsonb_remove": jsonbRemove(x, at: "$.a"), "json_replace": jsonReplace(x, paths),
        "jsonb_replace": jsonbReplace(x, paths), "json_set": jsonSet(x, paths),
        "jsonb_set": jsonbSet(x, paths), "json_type": jsonType(x), "json_valid": jsonValid(x),
    ]

    @Test(
        "has them all: each runs where SQLite has it, and where it has not, it throws so, with the SQL",
        arguments: [scalars, dates, mathematics, aggregates, windows, json])
    func all(_ functions: [String: SQLExpression]) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES ('1')")
            let known = try Set(String.fetchAll(db, sql: "SELECT name FROM pragma_function_list"))
            for (name, expression) in functions {
                let request = Table("t").select(expression)
                do {
                    let statement = try request.makePreparedRequest(db, forSingleResult: false).statement
                    #expect(statement.sql.hasPrefix("SELECT \(name.uppercased())("))
                    #expect(known.contains(name), "\(name)")
                } catch let error as DatabaseError {
                    #expect(!known.contains(name), "\(error)")
                    #expect(error.message == "no such function: \(name.uppercased())")
                    #expect(error.sql?.contains(name.uppercased()) == true)
                }
            }
        }
    }

    @Test("has no function twice, but those with a second name in SQLite, and none that would load code")
    func rest() throws {
        let spelled = [
            Self.scalars, Self.dates, Self.mathematics, Self.aggregates, Self.windows, Self.json,
        ].reduce(into: Set()) { $0.formUnion($1.keys) }
        let secondNames: Set = [
            "ceiling", "power", "format", "if", "substring", "string_agg",  // of others here
            "like", "glob", "match", "regexp", "->", "->>",  // operators
            "current_date", "current_time", "current_timestamp",  // words
            "load_extension", "sqlite_log", "stamp",
        ]
        let others = try DatabaseQueue().read { db in
            try Set(String.fetchAll(db, sql: "SELECT name FROM pragma_function_list"))
                .subtracting(spelled).subtracting(secondNames)
        }
        // The others belong to extensions that have pages of their own.
        let extensions = [
            "fts", "rtree", "geopoly", "bm25", "highlight", "snippet", "offsets", "optimize", "matchinfo",
            "subtype", "sqlite_", "shellac", "icu", "session", "rtreecheck", "rtreedepth", "rtreenode",
        ]
        #expect(others.filter { name in !extensions.contains { name.hasPrefix($0) } } == [])
    }

    @Test("writes the young ones as SQLite does")
    func spelling() throws {
        let cases: [(SQLExpression, String)] = [
            (concat(Self.x, "a", 1), #"CONCAT("x", ?, ?)"#),
            (concat(separator: "-", Self.x, 1), #"CONCAT_WS(?, "x", ?)"#),
            (unhex(Self.x, ignoring: " "), #"UNHEX("x", ?)"#),
            (likelihood(Self.x > 1, 0.25), #"LIKELIHOOD("x" > ?, 0.25)"#),
            (jsonPretty(Self.x, indentation: "  "), #"JSON_PRETTY("x", ?)"#),
            (jsonValid(Self.x, flags: 8), #"JSON_VALID("x", ?)"#),
            (jsonbSet(Self.x, ["$.a": 1]), #"JSONB_SET("x", ?, ?)"#),
            (median(Self.x, filter: Self.x > 1), #"MEDIAN("x") FILTER (WHERE "x" > ?)"#),
            (date(Self.x, .months(1), .floor), #"DATE("x", '+1 months', 'floor')"#),
            (dateTime(Self.x, .subsecond), #"DATETIME("x", 'subsec')"#),
            (date(Self.x, .ceiling), #"DATE("x", 'ceiling')"#),
        ]
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (x)")
            for (expression, sql) in cases {
                // If SQLite lacks the function, its error has the SQL.
                let request = Table("t").select(expression)
                var text: String?
                let error = databaseError {
                    text = try request.makePreparedRequest(db, forSingleResult: false).statement.sql
                }
                #expect((text ?? error?.sql) == "SELECT \(sql) FROM \"t\"")
            }
        }
        try League.database().read { db in
            let unlikely = try League.Player.filter(likelihood(Column("score") > 100, 0.01)).fetchCount(db)
            #expect(unlikely == 2)
            let id = try League.Player.select(SQLExpression.sqliteSourceID, as: String.self).fetchOne(db)
            let expected = try String.fetchOne(db, sql: "SELECT sqlite_source_id()")
            #expect(id == expected)
        }
    }
}
