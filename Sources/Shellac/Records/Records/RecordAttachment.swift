/// The state that an upper layer keeps with a record.
@usableFromInline
class RecordAttachment {
    /// Whether it has to check what is saved of the record.
    var mayRefuseSaving: Bool { false }

    /// The attachment of a copy that is saved in the record's place, elsewhere. It shares no
    /// mutable state with the record.
    var ofSavedCopy: RecordAttachment? { nil }

    /// Throws if the columns of a record that is about to be saved contradict the state that it was
    /// given.
    ///
    /// - Parameters:
    ///   - writer: The writer, which holds the values that the record has encoded.
    ///   - mask: The columns that are written. Nil for all of them.
    func checkSaving(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {}
}
