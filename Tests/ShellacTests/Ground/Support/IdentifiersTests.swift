import Testing

@testable import Shellac

@Suite("Quotes of names and texts")
struct IdentifiersTests {
    @Test(
        "are doubled, also with an accent behind them",
        arguments: [
            (#"a"b'"#, #""a""b'""#, #"'a"b'''"#),
            ("\"\u{301}'\u{301}", "\"\"\"\u{301}'\u{301}\"", "'\"\u{301}''\u{301}'"),
            ("", "\"\"", "''"),
        ])
    func quoted(text: String, identifier: String, literal: String) {
        #expect(Array(text.quotedDatabaseIdentifier.utf8) == Array(identifier.utf8))
        #expect(Array(text.quotedDatabaseLiteral.utf8) == Array(literal.utf8))
        #expect(Array(identifier.unquotedSQL.utf8) == Array(text.utf8))
        #expect(Array(literal.unquotedSQL.utf8) == Array(text.utf8))
    }

    @Test(
        "are removed, whichever they are",
        arguments: [
            ("`a``b`", "a`b"), ("[a]", "a"), ("a", "a"), ("'a", "a"), ("'", ""), ("", ""),
        ])
    func unquoted(sql: String, name: String) { #expect(sql.unquotedSQL == name) }
}
