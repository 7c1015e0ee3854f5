/// The conversion that a column applies to the values stored in it.
///
/// For example, a column of integer affinity stores the text `'1'` as the integer 1: see "Datatypes
/// In SQLite" in the SQLite documentation.
public enum ColumnAffinity: String, Hashable, Sendable, CaseIterable {
    /// Numbers, and texts that look like numbers, are stored as integers if that loses nothing.
    case integer
    /// Numbers are stored as text.
    case text
    /// Values are stored as they are.
    case blob
    /// Integers, and texts that look like numbers, are stored as real numbers.
    case real
    /// The same as `integer`, except in CAST expressions.
    case numeric

    /// Determines the affinity of a column from its declared type.
    ///
    /// ```swift
    /// ColumnAffinity(declaredType: "VARCHAR(10)")     // .text
    /// ColumnAffinity(declaredType: "FLOATING POINT")  // .integer, for the sake of its last letters
    /// ColumnAffinity(declaredType: "STRING")          // .numeric
    /// ```
    ///
    /// The rules, and their order, are those of section 3.1, "Determination Of Column Affinity", of
    /// "Datatypes In SQLite". Pass an empty string for a column without a declared type.
    ///
    /// - Parameters:
    ///   - declaredType: The type that a table declares for a column.
    ///   - isStrict: Whether the table is STRICT. In such a table, a column of type `ANY` stores
    ///     values unchanged. In other tables, it is numeric ("STRICT Tables" in the SQLite
    ///     documentation).
    public init(declaredType: String, isStrict: Bool = false) {
        let type = declaredType.utf8.map(CaseInsensitiveName.folded)
        func contains(_ word: StaticString) -> Bool {
            word.withUTF8Buffer { word in
                type.count >= word.count
                    && (0...(type.count - word.count)).contains { start in
                        type[start..<(start + word.count)].elementsEqual(word)
                    }
            }
        }
        if contains("int") {
            self = .integer
        } else if contains("char") || contains("clob") || contains("text") {
            self = .text
        } else if type.isEmpty || contains("blob") {
            self = .blob
        } else if contains("real") || contains("floa") || contains("doub") {
            self = .real
        } else if isStrict, type.elementsEqual("any".utf8) {
            self = .blob
        } else {
            self = .numeric
        }
    }
}
