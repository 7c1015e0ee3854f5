// The declaration of kinds: which class a row is of, by the value of a column.

extension DatabaseKinds {
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
            ListedKinds(
                column: column,
                listed: classes.map { ListedKinds.Listed(kind: $0.key.databaseValue, type: $0.value) },
                unknown: unknown))
    }
}

/// The kinds that a class declares.
struct ListedKinds: ClassList {
    /// A class among the kinds.
    struct Listed: Sendable {
        let kind: DatabaseValue
        let type: Record.Type
    }

    let column: String
    let listed: [Listed]
    let unknown: DatabaseKinds.Unknown

    func classes(of type: Record.Type) -> RecordClasses { ClassKind.of(type, in: self) }

    /// Whether other kinds are the same, in any order.
    func isSame(as other: ListedKinds?) -> Bool {
        guard let other else { return false }
        return CaseInsensitiveName.matches(column, other.column) && unknown == other.unknown
            && listed.count == other.listed.count
            && listed.allSatisfy { one in other.listed.contains { $0.kind == one.kind && $0.type == one.type }
            }
    }
}

extension Record {
    /// The kinds that the class declares or inherits.
    static var listedKinds: ListedKinds? { databaseKinds.list as? ListedKinds }
}
