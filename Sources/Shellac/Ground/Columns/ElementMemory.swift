/// Cached facts about the records of one class that a row creates.
///
/// They are the names that the records look up, and the rows that they remember. Each row has one
/// of its own. If its rows are of several classes, an ``ElementMaker`` has one for each class. It
/// points the row to the one of the current class, so that the row need not collect these facts
/// again for each row.
struct ElementMemory: ~Copyable {
    /// The column names that were looked up, and the first guess for each row.
    var names: NameGuesses?
    var firstGuess = NameGuesses.none.guesses
    /// Memory for the rows that records remember. Records of one layout share chunks.
    var chunks = SnapshotPool()
    /// The layout of the rows that records of one type remember.
    var recordLayout: RowLayout? {
        didSet { recordLayoutReference = recordLayout.map { Unretained($0) } }
    }
    private(set) var recordLayoutReference: Unretained<RowLayout>?
    var recordType: ObjectIdentifier?
    /// The type of the records with that layout. Each of them is asked for the columns that it
    /// never read.
    var partialRecordType: ObjectIdentifier?
    /// The type of the records that are asked once they are complete: the elements of the fetch.
    var elementType: ObjectIdentifier?
    var lacksColumns: Bool { partialRecordType != nil || elementType != nil }
    /// The layout of the last partial record's remembered row.
    var partialLayout: RowLayout?
    /// A class of records that `init(from:)` creates from these rows, for upper layers.
    var codedElement: ObjectIdentifier?
    /// The decoder that creates records of one type from the rows, for upper layers. See
    /// `RecordDecodingCache`.
    var decoding: AnyObject?

    init() {}

    /// Handles the end of the rows: there is no current row any more.
    mutating func invalidate() {
        elementType = nil
        chunks.finish()
    }

    /// Forgets everything about the columns.
    mutating func forgetColumns() {
        names = nil
        firstGuess = NameGuesses.none.guesses
        recordLayout = nil
        (elementType, partialRecordType) = (nil, nil)
        codedElement = nil
    }
}

/// A factory of records for rows of several classes, for upper layers. See `KindReader`.
class ElementMaker {
    /// Handles the end of the rows: there is no current row any more.
    func invalidate() {}
}
