// Describes the content of a database with texts that can be compared.

import Shellac

extension Database {
    /// The schema and all rows, as texts.
    func content() throws -> [String] {
        let schema = try Row.fetchAll(
            self, sql: "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name")
        var content = schema.map { "\($0)" }
        for object in schema {
            let (type, name): (String, String) = try (object["type"], object["name"])
            guard type == "table" else { continue }
            let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
            content += try Row.fetchAll(self, sql: "SELECT * FROM \(quoted)").map { "\(name): \($0)" }
                .sorted()
        }
        return content
    }
}
