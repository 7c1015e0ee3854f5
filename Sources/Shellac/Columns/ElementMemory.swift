/// What a statement's row knows of the records of one class: the names that they ask for, and what they remember.
///
/// The row knows one class at a time. Where its rows are of several classes, what it knows of the others waits here, so that it need
/// not learn it again with each row.
struct ElementMemory: ~Copyable {
    private var memory: NameGuesses?
    private var firstGuess = NameGuesses.none.guesses
    private var recordLayout: RowLayout?
    private var recordType: ObjectIdentifier?
    private var partialRecordType: ObjectIdentifier?
    private var partialLayout: RowLayout?
    private var elementType: ObjectIdentifier?
    private var codedElement: ObjectIdentifier?
    private var decoding: AnyObject?

    /// Gives a row, of which no column was asked by name, what is known here, and takes what it knew.
    mutating func exchange(with row: LiveRow) {
        let storage = row.storage
        swap(&storage.pointee.memory, &memory)
        swap(&storage.pointee.firstGuess, &firstGuess)
        storage.pointee.nextGuess = storage.pointee.firstGuess
        swap(&storage.pointee.recordLayout, &recordLayout)
        swap(&storage.pointee.recordType, &recordType)
        swap(&storage.pointee.elementType, &elementType)
        swap(&storage.pointee.partialRecordType, &partialRecordType)
        swap(&storage.pointee.partialLayout, &partialLayout)
        swap(&storage.pointee.codedElement, &codedElement)
        swap(&storage.pointee.decoding, &decoding)
    }
}
