/// A state of the row of a record: see ``Record/follow(in:)``.
public enum RecordState {
    /// The row exists with these values. ``Record/merge(_:)-(Row)`` takes it.
    case changed(Row)
    /// There is no row with the key. One may come again.
    case deleted
}

@available(
    *, unavailable,
    message:
        "a state has a row, and so it belongs to the loop that receives it: hand over values that you read"
)
extension RecordState: Sendable {}

/// The sequence of states of a record's row: see ``Record/follow(in:)``.
public typealias RecordStates = DatabaseValues<RecordState>

extension Record {
    /// Follows the record's row: its present state comes first, and another one after each commit
    /// that has changed it.
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
    /// The record stays on the main actor, or on its other actor: only its key is handed over.
    /// ``merge(_:)-(Row)`` sets its clean columns to the committed values, and leaves those that
    /// its owner has changed. A deletion is a state, and so is the later insertion of a row with
    /// the same key. The row is the one with the key that the record has at the time of this call.
    /// If the key is changed in the database, followers get a deletion.
    ///
    /// A state comes for each commit that wrote other values to the row, even if they end up the
    /// same. The record may have been saved in between. For a slow reader, the newest state is
    /// kept. A row that comes late may be older than what the record has saved by then; the newer
    /// one follows it.
    ///
    /// All followed rows of a table share one observation. After a commit it fetches the changed
    /// rows and no others, a hundred by one statement. The rows have all columns of the table. They
    /// are found by their keys in tables of the main database whose keys compare texts byte by
    /// byte. For other tables, and for views, all followed rows are fetched and delivered if one
    /// may have been written. After VACUUM, or a change of the schema, the rows that differ are
    /// delivered. ``DatabaseValues/observingExternalChanges(every:)`` includes the commits of other
    /// connections.
    ///
    /// The loop ends as one over ``DatabaseValues`` does. It throws
    /// ``RecordError/noKey(databaseTableName:columns:)`` if the record has no primary key, as one
    /// that was never inserted. It throws errors of encoding the record, and the error of a fetch.
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
