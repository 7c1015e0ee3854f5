/// A state of the row of a record: see ``Record/follow(in:)``.
public enum RecordState {
    /// The row is this one. ``Record/merge(_:)-(Row)`` takes it.
    case changed(Row)
    /// There is no row of the key. One may come again.
    case deleted
}

@available(
    *, unavailable,
    message:
        "a state has a row: it belongs to the loop that it was delivered to. Hand over what you read of it."
)
extension RecordState: Sendable {}

/// The states of the row of a record, one after the other: see ``Record/follow(in:)``.
public typealias RecordStates = DatabaseValues<RecordState>

extension Record {
    /// Follows the record's row: its present state comes first, and another one after each commit that has changed it.
    ///
    /// ```swift
    /// @MainActor
    /// func follow(_ player: Player) async throws {
    ///     for try await state in player.follow(in: dbQueue) {
    ///         switch state {
    ///         case .changed(let row): try player.merge(row)
    ///         case .deleted: print("\(player.name) is gone")
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// The record stays where it is, on the main actor or on another one: only its key is handed over. ``merge(_:)-(Row)`` has its
    /// clean columns take what was committed, and leaves what its owner has changed. A deletion is a state, and so is a row
    /// of the same key that is inserted later. The row is that of the key which the record has when this is called; where the
    /// key is changed in the database, the row is deleted for who follows it.
    ///
    /// A state comes for each commit that wrote other values to the row, also where they are in the end what they were: the record
    /// may have been saved in between. The newest waits for a slow reader. A row that comes late may be older than what
    /// the record has saved by then; the newer one comes behind it.
    ///
    /// All followed rows of a table share one observation: a commit that has changed some has those fetched, and no others, a
    /// hundred by one statement. The rows have all columns of the table. They are found by their keys in tables that stand
    /// in the main database, whose keys compare texts byte by byte. Of other tables, and of views, all followed rows are fetched, and
    /// told, where one may have been written. After VACUUM, or a change of the schema, those are told that differ. ``DatabaseValues/observingExternalChanges(every:)`` has other connections heard of.
    ///
    /// The loop ends as one over ``DatabaseValues`` does. It throws ``RecordError/noKey(databaseTableName:columns:)`` where the
    /// record has no primary key, as one that was never inserted, what encoding the record throws, and the error of a
    /// fetch.
    ///
    /// - Parameter writer: The database. The sequence does not keep it alive.
    public final func follow(in writer: some DatabaseWriter) -> RecordStates {
        let followed = Result { try FollowedRecord(self) }
        return RecordStates(policy: .bufferingNewest(1)) { [weak writer] mailbox, settings in
            guard let writer else {
                mailbox.finish()
                return AnyDatabaseCancellable {}
            }
            switch followed {
            case .failure(let error):
                mailbox.finish(error)
                return AnyDatabaseCancellable {}
            case .success(let record):
                let follower = RowFollower(record, to: mailbox)
                return follower.start(with: FollowedRows(follower, in: writer, settings), to: mailbox)
            }
        }
    }
}
