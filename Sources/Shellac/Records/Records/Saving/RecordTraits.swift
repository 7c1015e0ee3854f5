// The facts about a type of records that hold whatever its table is.

/// The facts about a type that its declaration determines.
struct RecordTraits {
    let type: any TableRecord.Type
    /// The type, if it is a class.
    let recordType: Record.Type?
    /// Whether a class lists its columns. Otherwise, it leaves them to `Codable`.
    let listsColumns: Bool
    /// Whether a class overrides the methods that save records.
    let overridesMethods: Bool
    /// Whether a class overrides a callback for its insertion.
    let overridesInsertionCallbacks: Bool

    init(_ type: any TableRecord.Type) {
        self.type = type
        recordType = type as? Record.Type
        listsColumns = recordType.map(Overrides.listing) ?? false
        overridesMethods = recordType.map(Overrides.methods) ?? true
        overridesInsertionCallbacks = recordType.map(Overrides.insertionCallbacks) ?? true
    }
}

/// The facts about a type that its saves have shown so far.
struct LearnedTraits {
    /// The callbacks that are known to do nothing. For a struct, they are found out as records are
    /// saved.
    var idleCallbacks: CallbackSet
    /// The way in which class records adopt their row ids.
    var rowIDAdoption = RowIDAdoption.unknown
    /// Whether a record has encoded its primary key.
    var hasEncodedKey = false
    /// Whether the log contains a warning about a class that leaves out its row id while it has
    /// none.
    var hasWarnedOfRowID = false

    init(_ traits: RecordTraits) {
        // An overridden method that saves gets the columns, and may read the record, as a callback
        // may.
        idleCallbacks =
            traits.overridesMethods ? [] : traits.recordType.map(Overrides.idleCallbacks) ?? []
    }
}
