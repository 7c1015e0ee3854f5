/// The classes whose records share one table, and the column that holds the class of each row.
///
/// ```swift
/// class Animal: Record {
///     var id: Int64?
///     var name = ""
///
///     override class var databaseTableName: String { "animal" }
///     override class var databaseKinds: DatabaseKinds {
///         .column("kind", ["cat": Cat.self, "dog": Dog.self])
///     }
/// }
/// class Cat: Animal { var lives = 9 }
/// class Dog: Animal { var tricks = 0 }
///
/// let animals = try Animal.fetchAll(db)   // cats and dogs
/// let cats = try Cat.fetchAll(db)         // SELECT * FROM "animal" WHERE "kind" = 'cat'
/// ```
///
/// This is single-table inheritance. The class that declares the kinds is their *base*, and its
/// subclasses inherit the declaration. The database holds the names in the list, never those of
/// Swift classes. So a class can be renamed, and the rows stay as they are. Kinds are compared byte
/// by byte.
///
/// See ``Record/databaseKinds``.
public struct DatabaseKinds: Sendable {
    /// The value of the column in the rows of one class: a text, or an integer.
    public struct Value: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        let databaseValue: DatabaseValue

        /// Creates a kind from a value that is stored as a text or an integer, such as a case of an
        /// enum.
        ///
        /// - Parameter value: The value, as the column holds it.
        public init(_ value: some DatabaseValueConvertible) { databaseValue = value.databaseValue }

        public init(stringLiteral text: String) { self.init(text) }
        public init(integerLiteral number: Int64) { self.init(number) }
    }

    /// The treatment of rows whose column holds NULL, or a value that is not listed.
    public enum Unknown: Sendable {
        /// They are records of the base class.
        case base
        /// Fetching them throws ``RecordError/unknownKind(recordType:kind:row:)``.
        case error
    }

    /// A class among the kinds.
    struct Listed: Sendable {
        let kind: DatabaseValue
        let type: Record.Type
    }

    /// The column. Nil if the table has records of one class.
    let column: String?
    let listed: [Listed]
    let unknown: Unknown

    /// Declares that all rows of the table are of the class that fetches them. This is the default.
    public init() { (column, listed, unknown) = (nil, [], .base) }

    private init(_ column: String, _ listed: [Listed], _ unknown: Unknown) {
        (self.column, self.listed, self.unknown) = (column, listed, unknown)
    }

    /// Lists the classes whose records share the table.
    ///
    /// - Parameters:
    ///   - column: The name of the column that holds the kind. No class lists it among its own
    ///     columns. It is written when a record is inserted, and at no other time.
    ///   - classes: The classes, by the value of the column in their rows. The base class may be
    ///     among them.
    ///   - unknown: The treatment of rows of no listed class.
    /// - Returns: The kinds. Operations on records of the class throw a ``DatabaseError`` if two
    ///   classes claim one kind, or if a listed class is not a subclass.
    public static func column(
        _ column: String, _ classes: KeyValuePairs<Value, Record.Type>, unknown: Unknown = .base
    ) -> DatabaseKinds {
        DatabaseKinds(
            column, classes.map { Listed(kind: $0.key.databaseValue, type: $0.value) }, unknown)
    }

    /// Whether other kinds are the same, in any order.
    func isSame(as other: DatabaseKinds) -> Bool {
        guard let column, let otherColumn = other.column else { return column == nil && other.column == nil }
        return CaseInsensitiveName.matches(column, otherColumn) && unknown == other.unknown
            && listed.count == other.listed.count
            && listed.allSatisfy { one in other.listed.contains { $0.kind == one.kind && $0.type == one.type }
            }
    }
}
