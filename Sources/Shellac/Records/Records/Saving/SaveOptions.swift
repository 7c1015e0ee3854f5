/// What a record is asked to do: ``MutablePersistableRecord/persist(_:in:)`` does it.
///
/// The methods that save records make operations, and you need none.
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
        returning: Returning? = nil, ifUnchanged unchanged: UnchangedColumns? = nil
    ) {
        self.verb = verb
        options =
            resolution == nil && upsert == nil && returning == nil && unchanged == nil
            ? nil : SaveOptions(resolution, upsert: upsert, returning: returning, ifUnchanged: unchanged)
    }
}

@available(*, unavailable, message: "an operation belongs to the access that runs it")
extension PersistenceOperation: Sendable {}

/// How a record is saved, beyond what its type says. Mostly, there is nothing to say.
final class SaveOptions {
    /// What is done about a conflict: what the type says, if nil.
    let conflictResolution: Database.ConflictResolution?
    /// What an upsert does to a row that is in the way.
    let upsert: UpsertClause?
    /// What is fetched from the saved row.
    let returning: Returning?
    /// The columns that an update is to find as the record remembers them.
    let unchanged: UnchangedColumns?
    /// What the record encoded when the columns to update were found.
    let encoded: RecordWriter?
    /// Whether the insertion or update is a part of a save, which calls `willSave`, `aroundSave` and all `did` callbacks.
    let isPartOfSave: Bool
    /// Whether that part has resolved a conflict by ignoring the record.
    var isIgnored = false
    /// What that part has written.
    var outcome: Written?

    init(
        _ resolution: Database.ConflictResolution? = nil, upsert: UpsertClause? = nil,
        returning: Returning? = nil, ifUnchanged unchanged: UnchangedColumns? = nil,
        encoded: RecordWriter? = nil, isPartOfSave: Bool = false
    ) {
        self.isPartOfSave = isPartOfSave
        conflictResolution = resolution
        self.upsert = upsert
        self.returning = returning
        self.unchanged = unchanged
        self.encoded = encoded
    }
}

extension SaveOptions {
    /// Makes the options of a save whose columns were encoded already.
    convenience init(_ asked: SaveOptions?, encoded: RecordWriter, isPartOfSave: Bool? = nil) {
        self.init(
            asked?.conflictResolution, returning: asked?.returning, ifUnchanged: asked?.unchanged,
            encoded: encoded,
            isPartOfSave: isPartOfSave ?? asked?.isPartOfSave ?? false)
    }
}

/// What is fetched from a saved row, by RETURNING.
final class Returning {
    /// What stands behind RETURNING.
    let selection: String
    private let take: (Row) throws -> Void
    /// Whether there was a row.
    private(set) var hasTaken = false
    private var error: (any Error)?

    init(_ selection: String, take: @escaping (Row) throws -> Void) {
        self.selection = selection
        self.take = take
    }

    /// Takes the row. An error must wait: the row is written, and the statement goes on to its end.
    func take(_ row: Row) {
        hasTaken = true
        do {
            try take(row)
        } catch {
            self.error = error
        }
    }

    /// Throws what taking the row has thrown.
    func finish() throws {
        if let error { throw error }
    }
}
