// Describes the content of a database with texts that can be compared.

import Shellac

extension Database {
    /// Returns the schema and all rows, as texts.
    ///
    /// - Parameter rewrite: Returns the text of a row without what may differ.
    package func content(rewriting rewrite: (String) -> String = { $0 }) throws -> [String] {
        let schema = try Row.fetchAll(
            self, sql: "SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        var content = schema.map { "\($0)" }
        for object in schema {
            let (type, name): (String, String) = try (object["type"], object["name"])
            guard type == "table" else { continue }
            let rows = try Row.fetchAll(self, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier)")
            content += rows.map { rewrite("\(name): \($0)") }.sorted()
        }
        return content
    }
}
