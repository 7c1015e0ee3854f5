#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The names of tables that SQLite has told, each made a string once.
struct TableNames {
    struct Name {
        let schema: String
        let table: String
        fileprivate let schemaBytes: ContiguousArray<CChar>
        fileprivate let tableBytes: ContiguousArray<CChar>
    }
    private(set) var names: [Name] = []
    private var last = 0

    /// The number of a name.
    mutating func number(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Int32 {
        if last < names.count, matches(last, schema, table) { return Int32(truncatingIfNeeded: last) }
        last = names.indices.first { matches($0, schema, table) } ?? names.count
        if last == names.count {
            let (schema, table) = (String(cString: schema), String(cString: table))
            names.append(
                Name(
                    schema: schema, table: table, schemaBytes: schema.utf8CString,
                    tableBytes: table.utf8CString))
        }
        return Int32(last)
    }

    mutating func number(_ schema: String, _ table: String) -> Int32 {
        schema.withCString { schema in table.withCString { table in number(schema, table) } }
    }

    private func matches(
        _ index: Int, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>
    ) -> Bool {
        names[index].tableBytes.withUnsafeBufferPointer {
            strcmp($0.baseAddress.unsafelyUnwrapped, table) == 0
        }
            && names[index].schemaBytes.withUnsafeBufferPointer {
                strcmp($0.baseAddress.unsafelyUnwrapped, schema) == 0
            }
    }
}
