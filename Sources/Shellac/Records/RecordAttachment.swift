/// What an upper layer keeps with a record.
@usableFromInline
class RecordAttachment {
    /// Whether it has to look at what is saved of the record.
    var mayRefuseSaving: Bool { false }

    /// Throws where the columns of a record that is about to be saved do not say what it was given.
    ///
    /// - Parameters:
    ///   - writer: Has what the record has encoded.
    ///   - mask: The columns that are written. Nil for all of them.
    func checkSaving(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {}
}
