/// A reader of the states of one row: one loop over ``Record/follow(in:)``.
///
/// It has a few words for its key, and its mailbox. What is known of the row is kept once for all who follow it.
final class RowFollower: LiveReader, @unchecked Sendable {  // as its superclass
    let record: FollowedRecord
    private let mailbox: LiveMailbox<RecordState>

    /// The key, once it is among those of a query, whose lock guards it.
    @exclusivity(unchecked) var key: RowKey?
    /// The number of the last state: see ``LiveMailbox``. It is used on the connection's side.
    @exclusivity(unchecked) private var stateNumber: UInt32 = 0

    init(_ record: FollowedRecord, to mailbox: LiveMailbox<RecordState>) {
        (self.record, self.mailbox) = (record, mailbox)
    }

    /// Returns what tells a state, outside of the access. States are fetched in their order, by several tasks, and one may
    /// overtake another on its way: so they have numbers.
    func telling(_ row: PackedRow?) -> LiveDelivery {
        stateNumber &+= 1
        return LiveDelivery { [mailbox, number = stateNumber] in
            // Nobody changes a row that stands alone.
            nonisolated(unsafe) let state = row.map { RecordState.changed(Row($0)) } ?? .deleted
            mailbox.post(Parcel(state), number: number)
        }
    }

    /// Tells the end.
    func finish(_ failure: (any Error)?) { mailbox.finish(failure) }
}

/// What is told of a record that is followed: the record itself stays with its owner.
struct FollowedRecord: Sendable {
    let type: Record.Type
    /// The columns of its primary key, or all columns, where the key is found out when the table is known.
    let names: [String]
    let values: [DatabaseValue]

    /// Takes the key of a record: the one that it remembers, or else the one that it has.
    ///
    /// - Throws: what encoding the record throws, and ``RecordError/noKey(databaseTableName:columns:)``.
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
