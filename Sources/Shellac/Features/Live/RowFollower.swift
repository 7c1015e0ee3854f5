/// A reader of the states of one row: one loop over ``Record/follow(in:)``.
///
/// It needs a few words for its key, and its mailbox. All followers of a row share its known state.
final class RowFollower: LiveReader, @unchecked Sendable {  // as its superclass
    let record: FollowedRecord
    private let mailbox: LiveMailbox<RecordState>

    /// The key, once a query has it, whose lock guards it.
    @exclusivity(unchecked) var key: RowKey?
    /// The number of the last state: see ``LiveMailbox``. It is used in accesses.
    @exclusivity(unchecked) private var stateNumber: UInt32 = 0

    init(_ record: FollowedRecord, to mailbox: LiveMailbox<RecordState>) {
        (self.record, self.mailbox) = (record, mailbox)
    }

    /// Returns the delivery of a state, to run outside of the access. States are fetched in their
    /// order, by several tasks, and one may overtake another on its way. So they have numbers.
    func telling(_ row: PackedRow?) -> LiveDelivery {
        stateNumber &+= 1
        return LiveDelivery { [mailbox, number = stateNumber] in
            // A row that owns its values is immutable.
            nonisolated(unsafe) let state = row.map { RecordState.changed(Row($0)) } ?? .deleted
            mailbox.post(Parcel(state), number: number)
        }
    }

    /// Ends the mailbox.
    func finish(_ failure: (any Error)?) { mailbox.finish(failure) }
}

/// The description of a followed record: the record itself stays with its owner.
struct FollowedRecord: Sendable {
    let type: Record.Type
    /// The columns of its primary key. If the key is unknown until the table is examined, all
    /// columns.
    let names: [String]
    let values: [DatabaseValue]

    /// Takes the key of a record: the remembered one, or else the present one.
    ///
    /// - Throws: Errors of encoding the record, and
    ///   ``RecordError/noKey(databaseTableName:columns:)``.
    init(_ record: Record) throws {
        type = Swift.type(of: record)
        let (encoded, remembered) = (try record.encoded(), record.snapshot)
        func value(_ name: String) -> DatabaseValue? {
            if let remembered, let place = remembered.layout.column(named: name) {
                return remembered.databaseValue(at: place)
            }
            return encoded.layout.column(named: name).map { encoded[$0] }
        }
        let key = remembered?.layout.key(of: type).names ?? []
        names = key.isEmpty ? encoded.layout.names : key
        values = names.map { value($0) ?? .null }
        if !key.isEmpty, values.contains(.null) { throw noKey(key) }
    }

    /// Returns the error of a record that has no key.
    func noKey(_ key: [String]) -> RecordError {
        .noKey(databaseTableName: type.databaseTableName, columns: key)
    }
}
