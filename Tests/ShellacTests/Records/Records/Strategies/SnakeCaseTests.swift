import Testing

@testable import Shellac

@Suite("Names in snake case")
struct SnakeCaseTests {
    @Test(
        "Names go to snake case",
        arguments: [
            ("", ""), ("a", "a"), ("name", "name"), ("createdAt", "created_at"), ("playerID", "player_id"),
            ("myURLString", "my_url_string"), ("URL", "url"), ("Name", "name"), ("_private", "_private"),
            ("a1B", "a1_b"), ("snake_case", "snake_case"), ("snake_Case", "snake_case"), ("éÉ", "é_é"),
        ])
    func toSnakeCase(_ name: String, _ expected: String) { #expect(name.snakeCased == expected) }

    @Test(
        "Names come from snake case",
        arguments: [
            ("", ""), ("_", "_"), ("name", "name"), ("Name", "Name"), ("created_at", "createdAt"),
            ("player_id", "playerId"), ("_created_at_", "_createdAt_"), ("a__b", "aB"),
            ("FULL_NAME", "fullName"),
        ])
    func fromSnakeCase(_ name: String, _ expected: String) { #expect(name.camelCased == expected) }
}
