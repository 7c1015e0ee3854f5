// The columns of the kept tables, which the journal stores when they change.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The columns of the kept tables, by the names of the tables.
struct JournalColumns: Hashable, Codable, Sendable {
    struct Table: Hashable, Codable, Sendable {
        /// The names of the columns, without generated ones.
        let columns: [String]
        /// The names of the primary key's columns, in its order.
        let key: [String]
    }

    /// The change of a table's columns. A table that was not kept has none.
    struct Change: Hashable, Codable, Sendable {
        let before: Table?
        let after: Table?
    }

    /// The changes of several tables, in the entry of the transaction that made them.
    struct Changes: Hashable, Codable, Sendable {
        var tables: [String: Change] = [:]
        /// The tables that were rebuilt, whose rows may have changed as well.
        var rebuilt: [String] = []
        /// Whether the journal began to keep the tables with this entry.
        var isBeginning: Bool?
        /// The last migration that had run.
        var migration: String?

        var isEmpty: Bool { tables.isEmpty && rebuilt.isEmpty }
    }

    var tables: [String: Table] = [:]

    init(tables: [String: Table] = [:]) { self.tables = tables }

    init(_ journaled: [JournaledTable]) {
        for table in journaled {
            tables[table.name] = Table(
                columns: table.columnNames, key: table.key.map { table.columns[$0].name })
        }
    }

    func changes(to later: JournalColumns) -> Changes {
        var changes = Changes()
        for name in Set(tables.keys).union(later.tables.keys) where tables[name] != later.tables[name] {
            changes.tables[name] = Change(before: tables[name], after: later.tables[name])
        }
        return changes
    }
}

/// The form in which the journal stores its own values.
enum JournalJSON {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
