// Comparison of values by the rules of a column.
//
// "Stored" and "equal" are two questions. A row that is found by a key may hold another text, which
// the column's collation treats as equal.

extension ColumnComparison {
    /// Whether ``comparable(_:)`` maps all values that the column treats as equal to one value.
    var isComparable: Bool {
        switch collation {
        case .binary, .noCase, .rightTrim: true
        case .added, .unknown: false
        }
    }

    /// Returns a value that is the same for all values that the column treats as equal.
    ///
    /// If the column is not comparable, texts are returned unchanged, so equal ones may differ.
    func comparable(_ value: DatabaseValue) -> DatabaseValue {
        // Integers and real numbers are compared by their numeric value, however the column would
        // store them.
        let stored = (affinity == .real ? .numeric : affinity)?.storing(value) ?? value
        switch stored.storage {
        case .double(let real): return Int64(exactly: real).map { DatabaseValue(.int64($0)) } ?? stored
        case .string(let text): return collation.comparable(text).map { DatabaseValue(.string($0)) } ?? stored
        default: return stored
        }
    }

    /// Whether the column treats two values as equal. NULL is equal to nothing.
    ///
    /// A collation that is implemented in Swift is called. For other collations that only SQLite
    /// can call, texts are equal if they have the same bytes.
    func areEqual(_ a: DatabaseValue, _ b: DatabaseValue) -> Bool {
        if a.isNull || b.isNull { return false }
        let (a, b) = (comparable(a), comparable(b))
        if a == b { return true }
        guard case .added(_, let areEqual?) = collation, case .string(let a) = a.storage,
            case .string(let b) = b.storage
        else { return false }
        return areEqual(a, b)
    }

    /// Whether a record with one value in a key column refers to a row with another. It does if the
    /// column has stored the value as that, or treats both as equal.
    func isSameKey(_ value: DatabaseValue, as stored: DatabaseValue) -> Bool {
        ColumnAffinity.isStored(value, as: stored, in: affinity) || areEqual(value, stored)
    }

    /// Whether every row that is found by any value holds the value as the column would store it.
    var isExact: Bool {
        guard case .binary = collation, let affinity else { return false }
        return affinity != .blob
    }

    /// Whether every row that is found by the given value holds that value as the column would
    /// store it.
    func isExact(for value: DatabaseValue) -> Bool {
        if isExact { return true }
        let isBinary = if case .binary = collation { true } else { false }
        switch value.storage {
        case .null, .blob: return true
        case .string: return isBinary
        case .int64, .double:
            switch affinity {
            // The stored value may be a text of digits, perhaps with trailing spaces.
            case .text: return isBinary
            // 1 finds 1.0, which is stored as a real number.
            case .blob, nil: return false
            case .integer, .numeric, .real: return true
            }
        }
    }
}

extension ColumnComparison.Collation {
    /// Returns a text that is the same for all texts that the collation treats as equal. Nil means
    /// the text itself.
    fileprivate func comparable(_ text: String) -> String? {
        switch self {
        case .noCase:
            var folded = text.utf8.map(CaseInsensitiveName.folded)
            // After a NUL, only the length counts.
            if let end = folded.firstIndex(of: 0) { for index in end..<folded.count { folded[index] = 0 } }
            return String(decoding: folded, as: UTF8.self)
        case .rightTrim:
            var rest = Substring(text).utf8
            while rest.last == 32 { rest.removeLast() }
            return String(Substring(rest))
        case .binary, .added, .unknown: return nil
        }
    }
}
