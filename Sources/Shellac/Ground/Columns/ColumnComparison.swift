/// A column's rules for comparing values: its affinity, and its collation for texts.
///
/// Outside of SQLite, all code that matches rows, records and values by a key uses this one rule.
/// See "Datatypes In SQLite", sections "Comparison Expressions" and "Collating Sequences".
struct ColumnComparison: Equatable, Sendable {
    /// The column's affinity, or nil if the column is unknown. Numbers are then compared as
    /// numbers, and texts are never converted.
    let affinity: ColumnAffinity?
    let collation: Collation

    /// The comparison for a column about which nothing is known.
    static let unknown = ColumnComparison(affinity: nil, collation: .unknown)

    /// The rule for comparing two texts.
    enum Collation: Sendable {
        /// Byte by byte.
        case binary
        /// SQLite's NOCASE, which only folds ASCII letters.
        case noCase
        /// SQLite's RTRIM, which ignores trailing spaces.
        case rightTrim
        /// A collation that the program has added. Without a function, only SQLite can call it.
        case added(name: String, areEqual: (@Sendable (String, String) -> Bool)?)
        /// The collation of a view's column, which SQLite does not report.
        case unknown
    }
}

extension ColumnComparison.Collation: Equatable {
    /// The name in SQL. Nil if it is unknown.
    var name: String? {
        switch self {
        case .binary: "BINARY"
        case .noCase: "NOCASE"
        case .rightTrim: "RTRIM"
        case .added(let name, _): name
        case .unknown: nil
        }
    }

    static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.binary, .binary), (.noCase, .noCase), (.rightTrim, .rightTrim), (.unknown, .unknown): true
        case (.added(let a, _), .added(let b, _)): CaseInsensitiveName.matches(a, b)
        default: false
        }
    }
}

/// The columns of a primary key, with the comparison of each.
struct KeyColumns: Equatable, Sendable {
    let names: [String]
    /// The comparisons, in the order of the names.
    let comparisons: [ColumnComparison]

    /// A key about which nothing is known.
    static let none = KeyColumns(names: [], comparisons: [])

    var isEmpty: Bool { names.isEmpty }

    /// Returns the affinity of a key column, if it is known.
    func affinity(of name: String) -> ColumnAffinity? {
        names.firstIndex { CaseInsensitiveName.matches($0, name) }.flatMap { comparisons[$0].affinity }
    }
}
