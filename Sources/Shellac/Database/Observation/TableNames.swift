/// The table names that SQLite has reported, each converted to a string once.
struct TableNames {
    final class Name {
        let schema: String
        let table: String
        /// The bytes of the table's name and then of the schema's, each followed by a zero.
        fileprivate let bytes: UnsafePointer<CChar>

        fileprivate init(_ schema: String, _ table: String) {
            (self.schema, self.table) = (schema, table)
            let (first, second) = (table.utf8CString, schema.utf8CString)
            let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: first.count + second.count)
            for (index, byte) in (first + second).enumerated() { bytes[index] = byte }
            self.bytes = UnsafePointer(bytes)
        }

        deinit { bytes.deallocate() }
    }
    private(set) var names: [Name] = []
    private var last: Int32 = 0
    private var lastBytes: UnsafePointer<CChar>?

    /// Returns the number of a name. Usually it is the same as the previous one.
    @inline(__always)
    mutating func number(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Int32 {
        if let lastBytes, Self.matches(lastBytes, schema, table) { return last }
        return find(schema, table)
    }

    mutating func number(_ schema: String, _ table: String) -> Int32 {
        schema.withCString { schema in table.withCString { table in number(schema, table) } }
    }

    @inline(never)
    private mutating func find(_ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>) -> Int32 {
        let index = names.firstIndex { Self.matches($0.bytes, schema, table) } ?? names.count
        if index == names.count { names.append(Name(String(cString: schema), String(cString: table))) }
        last = Int32(index)
        lastBytes = names[index].bytes
        return last
    }

    /// (Names are short: a call would take longer.)
    @inline(__always)
    private static func matches(
        _ bytes: UnsafePointer<CChar>, _ schema: UnsafePointer<CChar>, _ table: UnsafePointer<CChar>
    ) -> Bool {
        var bytes = bytes
        return skip(table, in: &bytes) && skip(schema, in: &bytes)
    }

    /// Skips a string with its terminating zero, if it comes next.
    private static func skip(_ text: UnsafePointer<CChar>, in bytes: inout UnsafePointer<CChar>) -> Bool {
        var text = text
        while bytes.pointee == text.pointee {
            let isAtEnd = text.pointee == 0
            bytes += 1
            text += 1
            if isAtEnd { return true }
        }
        return false
    }
}
