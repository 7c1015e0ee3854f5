// The details of a constraint violation (kind, table, columns), parsed from SQLite's message.

import CSQLite

extension DatabaseError {
    /// A constraint of the schema that a statement has violated: see ``DatabaseError/constraint``.
    ///
    /// SQLite reports it in a message. This type gives its parts, so that a form can find the
    /// fields in question. Details that SQLite omits are looked up if possible.
    public struct Constraint: Hashable, Sendable {
        /// The kinds of constraints.
        public enum Kind: Hashable, Sendable {
            /// A value that another row already has: of a primary key, of UNIQUE columns, or of a
            /// unique index.
            case unique
            /// A NULL in a NOT NULL column.
            case notNull
            /// A CHECK expression that is false.
            case check
            /// A key that refers to a missing row, or to a row that would be missing.
            case foreignKey
            /// A value of another type than the column's, in a STRICT table.
            case dataType
            /// `RAISE(ABORT, …)`, or a similar call, in a trigger.
            case trigger
            /// Any other constraint, such as a change that a virtual table or a commit hook
            /// rejects.
            case other
        }

        /// The kind of the constraint.
        public let kind: Kind

        /// The table that has the constraint. For a foreign key, it is the referencing table. Nil
        /// if unknown.
        public internal(set) var table: String?

        /// The columns of the constraint. For a CHECK, the columns in its expression. Empty if
        /// unknown, as for an index on expressions only.
        public internal(set) var columns: [String] = []

        /// The name of a CHECK constraint, or else its expression. For a unique index on
        /// expressions, the index's name.
        public internal(set) var name: String?

        /// The values that a CHECK of the form `kind IN ('cat', 'dog')` accepts, besides NULL.
        /// Empty for others.
        ///
        /// ```swift
        /// catch let error as DatabaseError where error.constraint?.kind == .check {
        ///     form.offer(error.constraint?.values ?? [])
        /// }
        /// ```
        public internal(set) var values: [DatabaseValue] = []

        /// The foreign key, if it is known: see ``ForeignKey``.
        public internal(set) var foreignKey: ForeignKey?

        /// Whether the names in SQLite's message are ambiguous.
        var isDoubtful = false
    }
}

extension DatabaseError.Constraint {
    /// A foreign key that was violated.
    ///
    /// SQLite does not report which one it was. So, unless
    /// ``Configuration/namesForeignKeys`` is false, Shellac runs the statement once more, in a
    /// savepoint that is rolled back, and checks the rows that it changes. The key remains unknown
    /// in these cases:
    ///
    /// - This takes too long.
    /// - Rows of another statement are being fetched.
    /// - The statement calls functions implemented in Swift that are not `pure`.
    /// - A function or a virtual table runs the statement.
    /// - A commit violates several keys.
    public struct ForeignKey: Hashable, Sendable {
        /// The table that has the key.
        public let originTable: String
        /// The columns of the key.
        public let originColumns: [String]
        /// The referenced table.
        public let destinationTable: String
        /// The referenced columns.
        public let destinationColumns: [String]
    }

    /// Parses SQLite's message about a violated constraint. Fails for any other error.
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
                name = String(names.dropFirst(6)).unquotedSQL
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
        // To SQLite, ON DELETE RESTRICT is a trigger.
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

    /// Parses names of the form `table.column`. Either part may contain a dot.
    private mutating func readColumns(_ names: [String]) {
        let parts = names.map { $0.split(separator: ".", maxSplits: 1).map(String.init) }
        isDoubtful =
            names.contains { $0.count(where: { $0 == "." }) != 1 } || Set(parts.map(\.first)).count != 1
        table = parts.first?.first
        columns = parts.compactMap { $0.count == 2 ? $0[1] : nil }
    }
}
