/// How a column compares values: by its affinity, and two texts by its collation.
///
/// It is the one rule by which rows, records and values are matched by a key outside of SQLite. See "Datatypes In SQLite",
/// sections "Comparison Expressions" and "Collating Sequences".
struct ColumnComparison: Equatable, Sendable {
    /// Nil where the column is not known. Numbers are then compared as numbers, and texts are never converted.
    let affinity: ColumnAffinity?
    let collation: Collation

    /// The comparison by a column of which nothing is known.
    static let unknown = ColumnComparison(affinity: nil, collation: .unknown)

    /// How two texts compare.
    enum Collation: Sendable {
        /// Byte by byte.
        case binary
        /// SQLite's NOCASE, which folds ASCII letters, and no others.
        case noCase
        /// SQLite's RTRIM, which leaves out spaces at the end.
        case rightTrim
        /// A collation that the program has added. Without a function, only SQLite can call it.
        case added(name: String, areEqual: (@Sendable (String, String) -> Bool)?)
        /// That of a view's column, which SQLite does not tell.
        case unknown
    }
}

extension ColumnComparison.Collation: Equatable {
    /// The name in SQL. Nil where it is not known.
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

/// The columns of a primary key, and how each of them compares.
struct KeyColumns: Equatable, Sendable {
    let names: [String]
    /// The comparisons, in the order of the names.
    let comparisons: [ColumnComparison]

    /// A key of which nothing is known.
    static let none = KeyColumns(names: [], comparisons: [])

    var isEmpty: Bool { names.isEmpty }

    /// The affinity of a column of the key, where it is known.
    func affinity(of name: String) -> ColumnAffinity? {
        names.firstIndex { CaseInsensitiveName.matches($0, name) }.flatMap { comparisons[$0].affinity }
    }
}
