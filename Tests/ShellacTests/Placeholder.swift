import Testing

@testable import Shellac

@Test("identifiers are quoted") func quoting() { #expect("a\"b".quotedDatabaseIdentifier == "\"a\"\"b\"") }
