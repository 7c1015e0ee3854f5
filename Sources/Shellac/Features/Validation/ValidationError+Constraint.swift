// Validation errors of violated constraints, and of records that are not saved.

extension ValidationError {
    /// Creates a validation error from an error that a save has thrown. Returns nil if the error is
    /// about something else.
    ///
    /// - Parameters:
    ///   - error: A ``ValidationError``, which stays as it is, or the ``DatabaseError`` of a
    ///     violated constraint: see ``DatabaseError/constraint``. It must be a constraint of the
    ///     record's table, or a foreign key that refers to this table.
    ///   - record: The record that was saved.
    public init?(_ error: any Error, for record: some MutablePersistableRecord) {
        if let error = error as? ValidationError {
            self = error
            return
        }
        guard let error = error as? DatabaseError, let constraint = error.constraint else { return nil }
        func isOwn(_ table: String?) -> Bool {
            table.map { CaseInsensitiveName.matches($0, record.recordType.databaseTableName) } ?? true
        }
        self.init()
        if isOwn(constraint.table) {
            guard let message = Self.message(of: constraint, error) else { return nil }
            add(message, constraint.columns)
        } else if let key = constraint.foreignKey, isOwn(key.destinationTable) {
            add(.inUse)
        } else {
            return nil
        }
    }

    private static func message(
        of constraint: DatabaseError.Constraint, _ error: DatabaseError
    ) -> Message? {
        switch constraint.kind {
        case .unique: .taken
        case .notNull: .missing
        case .check where constraint.values.isEmpty: .notAllowed
        case .check:
            Message(
                "is not among %@", constraint.values.map(\.description).joined(separator: ", "))
        case .foreignKey: .noSuchRow
        case .dataType: .wrongType
        case .trigger: error.message.map { Message($0) }
        case .other: nil
        }
    }
}

extension MutablePersistableRecord {
    /// Validates the record without saving it, and returns its errors. Returns nil if it is valid.
    ///
    /// ```swift
    /// let errors = try dbQueue.read { db in try player.validationErrors(db) }
    /// ```
    ///
    /// This method runs only `validate(_:)`. It runs no other callback, and checks no constraint of
    /// the table.
    ///
    /// - Parameter db: A connection to the database.
    /// - Throws: errors of `validate(_:)` that are no ``ValidationError``.
    public func validationErrors(_ db: Database) throws -> ValidationError? {
        db.checkAccess()
        do { try db.readOnly { try validate(db) } } catch let errors as ValidationError { return errors }
        return nil
    }
}
