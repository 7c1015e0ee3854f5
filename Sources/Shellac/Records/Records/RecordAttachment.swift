/// What an upper layer keeps with a record.
@usableFromInline
class RecordAttachment {
    /// Whether it has to look at what is saved of the record.
    var mayRefuseSaving: Bool { false }

    /// What a copy is given that is saved in the record's place, elsewhere. It shares nothing that changes with the record.
    var ofSavedCopy: RecordAttachment? { nil }

    /// Throws where the columns of a record that is about to be saved do not say what it was given.
    ///
    /// - Parameters:
    ///   - writer: Has what the record has encoded.
    ///   - mask: The columns that are written. Nil for all of them.
    func checkSaving(_ record: Record, _ writer: RecordWriter, _ mask: ColumnMask?) throws {}
}
