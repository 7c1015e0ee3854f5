// Whether values are equal for a column. "Stored" and "equal" are two questions: a row may be found by a key, and hold
// another text, which the column's collation takes for equal.

extension ColumnComparison {
    /// Whether ``comparable(_:)`` knows all that the column takes for equal.
    var isComparable: Bool {
        switch collation {
        case .binary, .noCase, .rightTrim: true
        case .added, .unknown: false
        }
    }

    /// Returns a value that is the same for all values that the column takes for equal.
    ///
    /// Where the column is not comparable, texts are kept as they are: equal ones may differ.
    func comparable(_ value: DatabaseValue) -> DatabaseValue {
        // Integers and real numbers are compared as the numbers that they are, whatever the column would make of them.
        let stored = (affinity == .real ? .numeric : affinity)?.storing(value) ?? value
        switch stored.storage {
        case .double(let real): return Int64(exactly: real).map { DatabaseValue(.int64($0)) } ?? stored
        case .string(let text): return collation.comparable(text).map { DatabaseValue(.string($0)) } ?? stored
        default: return stored
        }
    }

    /// Whether the column takes two values for equal. NULL is equal to nothing.
    ///
    /// A collation that is made in Swift is called. Of others that SQLite alone can call, texts are equal that have the
    /// same bytes.
    func areEqual(_ a: DatabaseValue, _ b: DatabaseValue) -> Bool {
        if a.isNull || b.isNull { return false }
        let (a, b) = (comparable(a), comparable(b))
        if a == b { return true }
        guard case .added(_, let areEqual?) = collation, case .string(let a) = a.storage,
            case .string(let b) = b.storage
        else { return false }
        return areEqual(a, b)
    }

    /// Whether a record that has a value in a column of its key means the row that holds another one: the column has stored
    /// the value as that, or takes both for equal.
    func isSameKey(_ value: DatabaseValue, as stored: DatabaseValue) -> Bool {
        ColumnAffinity.isStored(value, as: stored, in: affinity) || areEqual(value, stored)
    }

    /// Whether each row that is found by a value holds what the column would store of it, whatever the value is.
    var isExact: Bool {
        guard case .binary = collation, let affinity else { return false }
        return affinity != .blob
    }

    /// Whether each row that is found by a value holds what the column would store of that.
    func isExact(for value: DatabaseValue) -> Bool {
        if isExact { return true }
        let isBinary = if case .binary = collation { true } else { false }
        switch value.storage {
        case .null, .blob: return true
        case .string: return isBinary
        case .int64, .double:
            switch affinity {
            // A text of digits, perhaps with spaces behind them.
            case .text: return isBinary
            // 1 finds 1.0, which is stored as that.
            case .blob, nil: return false
            case .integer, .numeric, .real: return true
            }
        }
    }
}

extension ColumnComparison.Collation {
    /// Returns a text that is the same for all texts that the collation takes for equal. Nil for the text itself.
    fileprivate func comparable(_ text: String) -> String? {
        switch self {
        case .noCase:
            var folded = text.utf8.map(CaseInsensitiveName.folded)
            // Of what stands behind a NUL, the length alone counts.
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
