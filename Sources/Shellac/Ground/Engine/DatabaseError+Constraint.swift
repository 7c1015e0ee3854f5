// The details of a constraint violation (kind, table, columns), parsed from SQLite's message.

import CSQLite

extension DatabaseError {
    /// A constraint of the schema that a statement has violated: see ``DatabaseError/constraint``.
    ///
    /// SQLite tells of it in a message. Here it stands in parts, so that a form can tell its fields from it: what SQLite does not
    /// say is looked up where it can be found.
    public struct Constraint: Hashable, Sendable {
        /// The kinds of constraints.
        public enum Kind: Hashable, Sendable {
            /// A value that another row has: of a primary key, of UNIQUE columns, or of a unique index.
            case unique
            /// A NULL in a column that is NOT NULL.
            case notNull
            /// A CHECK expression that is false.
            case check
            /// A key that refers to a row that is not there, or would not be there any more.
            case foreignKey
            /// A value of another type than the column's, in a STRICT table.
            case dataType
            /// `RAISE(ABORT, …)` and its kin, in a trigger.
            case trigger
            /// Anything else: what a virtual table or a commit hook refuses, say.
            case other
        }

        /// The kind of the constraint.
        public let kind: Kind

        /// The table that has the constraint: of a foreign key, the one that refers to another. Nil where it is not known.
        public internal(set) var table: String?

        /// The columns of the constraint, and of a CHECK those that stand in its expression. Empty where they are not known, as of
        /// an index on expressions alone.
        public internal(set) var columns: [String] = []

        /// The name of a CHECK constraint, or else its expression; or the name of a unique index on expressions.
        public internal(set) var name: String?

        /// The values that a CHECK of the form `kind IN ('cat', 'dog')` accepts, beside NULL. Empty for others.
        ///
        /// ```swift
        /// catch let error as DatabaseError where error.constraint?.kind == .check {
        ///     form.offer(error.constraint?.values ?? [])
        /// }
        /// ```
        public internal(set) var values: [DatabaseValue] = []

        /// The foreign key, where it is known: see ``ForeignKey``.
        public internal(set) var foreignKey: ForeignKey?

        /// Whether the names in SQLite's message can be read in several ways.
        var isDoubtful = false
    }
}

extension DatabaseError.Constraint {
    /// A foreign key that was violated.
    ///
    /// SQLite does not say which one it was. So, unless ``Configuration/namesForeignKeys`` is false, the statement runs once more, in a savepoint that is rolled back, and the rows that
    /// it changes are looked at. It is not known where this takes too long, while rows of another statement are being fetched, where
    /// functions made in Swift are called that are not `pure`, and where a function or a virtual table runs it; nor at a commit that
    /// violates several.
    public struct ForeignKey: Hashable, Sendable {
        /// The table that has the key.
        public let originTable: String
        /// The columns of the key.
        public let originColumns: [String]
        /// The table that the key refers to.
        public let destinationTable: String
        /// The columns that the key refers to.
        public let destinationColumns: [String]
    }

    /// Reads what SQLite says of a violated constraint. Nil where it is another error.
    init?(_ code: ResultCode, _ message: String) {
        guard code.primaryResultCode == .SQLITE_CONSTRAINT else { return nil }
        let kind = Self.kind(code, message)
        self.init(kind: kind)
        func said(behind prefix: String) -> String? {
            message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : nil
        }
        switch kind {
        case .unique:
            guard let names = said(behind: "UNIQUE constraint failed: ") else { return }
            if names.hasPrefix("index '"), names.hasSuffix("'") {
                name = String(names.dropFirst(7).dropLast()).replacing("''", with: "'")
            } else {
                readColumns(names.split(separator: ", ").map(String.init))
            }
        case .notNull:
            if let column = said(behind: "NOT NULL constraint failed: ") { readColumns([column]) }
        case .check: name = said(behind: "CHECK constraint failed: ")
        case .dataType:
            if let range = message.ranges(of: " column ").last {
                readColumns([String(message[range.upperBound...])])
            }
        case .foreignKey, .trigger, .other: break
        }
    }

    private static func kind(_ code: ResultCode, _ message: String) -> Kind {
        // ON DELETE RESTRICT is a trigger to SQLite.
        if message.hasPrefix("FOREIGN KEY constraint failed") { return .foreignKey }
        return switch code {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID: .unique
        case .SQLITE_CONSTRAINT_NOTNULL: .notNull
        case .SQLITE_CONSTRAINT_CHECK: .check
        case .SQLITE_CONSTRAINT_FOREIGNKEY: .foreignKey
        case .SQLITE_CONSTRAINT_DATATYPE: .dataType
        case .SQLITE_CONSTRAINT_TRIGGER: .trigger
        default: .other
        }
    }

    /// Reads names of the form `table.column`. A dot may be a part of either.
    private mutating func readColumns(_ names: [String]) {
        let parts = names.map { $0.split(separator: ".", maxSplits: 1).map(String.init) }
        isDoubtful =
            names.contains { $0.count(where: { $0 == "." }) != 1 } || Set(parts.map(\.first)).count != 1
        table = parts.first?.first
        columns = parts.compactMap { $0.count == 2 ? $0[1] : nil }
    }
}
