import Testing

@testable import Shellac

@Suite("The values that a CHECK lists")
struct CheckExpressionsTests {
    @Test(
        "are those of a constraint that is nothing but a list",
        arguments: [
            ("kind IN ('cat', 'dog')", ["'cat', 'dog'"]),
            ("\"kind\" COLLATE NOCASE IN ('cat')", ["'cat'"]),
            ("[KIND] in (1, (2), -(3))", ["1, (2), -(3)"]),
            ("kind IN ('cat') OR (kind IS NULL)", []),
            ("kind IN ('cat') OR kind IS NULL", []),
            ("kind IN (\"cat\")", []),
            ("other IN ('cat')", []),
            ("kind NOT IN ('cat')", []),
        ])
    func lists(condition: String, lists: [String]) {
        let checks = CheckExpressions("CREATE TABLE animal (kind CHECK (\(condition)), other)")
        #expect(checks.valueLists(of: "kind").map(\.sql) == lists)
    }
}
