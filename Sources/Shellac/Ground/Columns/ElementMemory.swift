/// What a statement's row knows of the records of one class: the names that they ask for, and what they remember.
///
/// The row has one of its own. Where its rows are of several classes, an ``ElementMaker`` has one for each of them, and points
/// the row to that of its class: it need not learn it again with each row.
struct ElementMemory: ~Copyable {
    /// The names that were asked for, and the guess for the first one of each row.
    var names: NameGuesses?
    var firstGuess = NameGuesses.none.guesses
    /// Where records remember the rows: those of one layout have chunks.
    var chunks = SnapshotPool()
    /// The layout of what records of one type remember of the rows.
    var recordLayout: RowLayout? {
        didSet { recordLayoutReference = recordLayout.map { Unretained($0) } }
    }
    private(set) var recordLayoutReference: Unretained<RowLayout>?
    var recordType: ObjectIdentifier?
    /// The type of those records that have the layout, and of which each is asked what it never read.
    var partialRecordType: ObjectIdentifier?
    /// The type of those that are asked once they are complete: the elements of the fetch.
    var elementType: ObjectIdentifier?
    var lacksColumns: Bool { partialRecordType != nil || elementType != nil }
    /// The layout of what the last of them remembers.
    var partialLayout: RowLayout?
    /// A class of records that `init(from:)` makes of these rows: for upper layers.
    var codedElement: ObjectIdentifier?
    /// What decodes records of one type from the rows: for upper layers. See `RecordDecodingCache`.
    var decoding: AnyObject?

    init() {}

    /// Tells that there is no row any more.
    mutating func moveOut() {
        elementType = nil
        chunks.finish()
    }

    /// Forgets what is known of the columns.
    mutating func forgetColumns() {
        names = nil
        firstGuess = NameGuesses.none.guesses
        recordLayout = nil
        (elementType, partialRecordType) = (nil, nil)
        codedElement = nil
    }
}

/// What makes records of rows that are of several classes: for upper layers. See `KindReader`.
class ElementMaker {
    /// Tells that there is no row any more.
    func moveOut() {}
}
