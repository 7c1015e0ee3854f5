/// An operation on a record, which ``MutablePersistableRecord/persist(_:in:)`` runs.
///
/// The methods that save records make operations. You need not make any.
@_documentation(visibility: internal)
public struct PersistenceOperation {
    enum Verb {
        case insert
        case update(columns: Set<String>?)
        case save
        case upsert
        case delete
        case destroy
    }

    let verb: Verb
    let options: SaveOptions?

    init(
        _ verb: Verb, _ resolution: Database.ConflictResolution? = nil, upsert: UpsertClause? = nil,
        returning: Returning? = nil, checking condition: (any UpdateCondition)? = nil
    ) {
        self.verb = verb
        options =
            resolution == nil && upsert == nil && returning == nil && condition == nil
            ? nil : SaveOptions(resolution, upsert: upsert, returning: returning, checking: condition)
    }
}

@available(*, unavailable, message: "an operation belongs to the access that runs it")
extension PersistenceOperation: Sendable {}

/// The options of a save, beyond the settings of the record's type. Most saves have none.
final class SaveOptions {
    /// The conflict resolution. If nil, the type's policy applies.
    let conflictResolution: Database.ConflictResolution?
    /// The changes that an upsert makes to a conflicting row.
    let upsert: UpsertClause?
    /// The values to fetch from the saved row.
    let returning: Returning?
    /// The columns in which the row must still hold the values that the record remembers.
    let condition: (any UpdateCondition)?
    /// The columns that the record encoded when the columns to update were found.
    let encoded: RecordWriter?
    /// Whether the insertion or update is a part of a save, which calls `willSave`, `aroundSave`
    /// and all `did` callbacks.
    let isPartOfSave: Bool
    /// Whether that part has resolved a conflict by ignoring the record.
    var isIgnored = false
    /// The outcome of that part.
    var outcome: SaveOutcome?

    init(
        _ resolution: Database.ConflictResolution? = nil, upsert: UpsertClause? = nil,
        returning: Returning? = nil, checking condition: (any UpdateCondition)? = nil,
        encoded: RecordWriter? = nil, isPartOfSave: Bool = false
    ) {
        self.isPartOfSave = isPartOfSave
        conflictResolution = resolution
        self.upsert = upsert
        self.returning = returning
        self.condition = condition
        self.encoded = encoded
    }
}

extension SaveOptions {
    /// Makes the options of a save whose columns are already encoded.
    convenience init(_ asked: SaveOptions?, encoded: RecordWriter, isPartOfSave: Bool? = nil) {
        self.init(
            asked?.conflictResolution, returning: asked?.returning, checking: asked?.condition,
            encoded: encoded,
            isPartOfSave: isPartOfSave ?? asked?.isPartOfSave ?? false)
    }
}

/// The values to fetch from a saved row, by RETURNING.
final class Returning {
    /// The SQL after RETURNING.
    let selection: String
    private let take: (Row) throws -> Void
    /// Whether there was a row.
    private(set) var hasTaken = false
    private var error: (any Error)?

    init(_ selection: String, take: @escaping (Row) throws -> Void) {
        self.selection = selection
        self.take = take
    }

    /// Takes the row. An error has to wait: the row is written, and the statement must run to its
    /// end.
    func take(_ row: Row) {
        hasTaken = true
        do {
            try take(row)
        } catch {
            self.error = error
        }
    }

    /// Throws the error that taking the row has thrown.
    func finish() throws {
        if let error { throw error }
    }
}
