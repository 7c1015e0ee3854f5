// The conversion of a value that is stored in a column.
//
// See "Datatypes In SQLite", section "Type Affinity". A record's snapshot contains the stored
// values, and the record encodes the values it was given. These functions determine whether both
// are the same.

extension ColumnAffinity {
    /// Whether a column that was given a value holds the given stored value.
    static func isStored(
        _ value: DatabaseValue, as stored: DatabaseValue, in affinity: ColumnAffinity?
    ) -> Bool {
        if value == stored { return true }
        switch (affinity, value.storage, stored.storage) {
        case (_, .null, _), (_, _, .null): return false
        // If the column is unknown, two numbers are equal if they are the same number.
        case (nil, .int64(let integer), .double(let real)), (nil, .double(let real), .int64(let integer)):
            return real == Double(integer) && Int64(exactly: real) == integer
        case (nil, _, _): return false
        // RETURNING returns 2 for the 2.0 that a REAL column holds.
        case (let affinity?, _, _): return affinity.storing(value) == affinity.storing(stored)
        }
    }

    /// Returns the value that a column holds after it was given a value.
    func storing(_ value: DatabaseValue) -> DatabaseValue {
        switch self {
        case .blob: return value
        case .text:
            switch value.storage {
            case .int64(let integer): return DatabaseValue(.string("\(integer)"))
            case .double(let real): return DatabaseValue(.string(RunningSQLite.text(of: real)))
            default: return value
            }
        case .integer, .numeric:
            let number = Self.number(value) ?? value
            guard case .double(let real) = number.storage, let integer = Int64(exactly: real),
                integer > .min, integer < .max
            else { return number }
            return DatabaseValue(.int64(integer))
        case .real:
            let number = Self.number(value) ?? value
            guard case .int64(let integer) = number.storage else { return number }
            return DatabaseValue(.double(Double(integer)))
        }
    }

    /// Returns the number that makes up a whole text. Surrounding spaces are ignored.
    private static func number(_ value: DatabaseValue) -> DatabaseValue? {
        guard case .string(let text) = value.storage else { return nil }
        var rest = text.utf8[...]
        func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
        rest = rest.drop(while: isSpace)
        if rest.contains(0), RunningSQLite.endsNumbersAtNUL { rest = rest.prefix { $0 != 0 } }
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        guard rest.isNumber else { return nil }
        if let integer = Int64(Substring(rest)) { return DatabaseValue(.int64(integer)) }
        // SQLite and Swift may read the same digits as two neighbouring numbers.
        return RunningSQLite.real(of: rest).map { DatabaseValue(.double($0)) }
    }
}
