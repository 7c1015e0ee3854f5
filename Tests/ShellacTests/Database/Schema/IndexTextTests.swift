import Testing

@testable import Shellac

@Suite("What the SQL of an index says")
struct IndexTextTests {
    @Test(
        "Keys and condition stand without directions, comments, and names of tables",
        arguments: [
            ("CREATE UNIQUE INDEX i ON t (a)", ["a"], nil),
            ("CREATE UNIQUE INDEX \"i(\" ON [t)] (lower(a) DESC , b ASC)", ["lower(a)", "b"], nil),
            ("CREATE UNIQUE INDEX i ON t(lower(u) DESC /* c */)", ["lower(u)"], nil),
            ("CREATE UNIQUE INDEX i ON t(lower(u)desc -- c\n,\n\"desc\")", ["lower(u)", "\"desc\""], nil),
            ("CREATE UNIQUE INDEX i ON t(a -- , b)\n) WHERE t.a > 1 -- c", ["a"], "a > 1"),
            (
                "CREATE UNIQUE INDEX i ON t (t.a||'x.y', \"t\".\"b\", main . t /**/ . [c d])/**/where`t`.a>=1.5 AND .5<>x'00'",
                ["a||'x.y'", "\"b\"", "[c d]"], "a>=1.5 AND .5<>x'00'"
            ),
            (
                "CREATE UNIQUE INDEX i ON t (a + 1e-5, (b, c) = (1, 0x1e-2), 'it''s')",
                [
                    "a + 1e-5", "(b, c) = (1, 0x1e-2)", "'it''s'",
                ], nil
            ),
            (
                "CREATE UNIQUE INDEX i ON t (\"a\"\"(\") WHERE \"a\"\"(\" IS NOT NULL", ["\"a\"\"(\""],
                "\"a\"\"(\" IS NOT NULL"
            ),
        ] as [(String, [String], String?)])
    func pieces(_ sql: String, keys: [String], condition: String?) throws {
        let text = try #require(IndexText(sql))
        #expect(text.keys == keys)
        #expect(text.condition == condition)
    }

    @Test(
        "A text that ends too early is not understood, whatever is open",
        arguments: [
            "", "CREATE UNIQUE INDEX i ON t", "i ON t (", "i ON t (a, (b)", "t ('a",
            "t (a) ".dropLast(2) + "", "t (a /*", "t (a --", "t ([",
        ]
    )
    func unfinished(_ sql: String) { #expect(IndexText(sql) == nil) }
}
