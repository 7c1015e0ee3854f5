// Spellings of the family's older eras: the compiler says what to write instead, and its fix-it writes it. What users declare in
// their own types is not among them: a declaration here would be in their way.

@available(*, unavailable, renamed: "FetchableRecord")
public typealias RowConvertible = FetchableRecord

@available(*, unavailable, renamed: "TableRecord")
public typealias TableMapping = TableRecord

@available(*, unavailable, renamed: "PersistableRecord")
public typealias Persistable = PersistableRecord

@available(*, unavailable, renamed: "MutablePersistableRecord")
public typealias MutablePersistable = MutablePersistableRecord

@available(*, unavailable, renamed: "RecordError")
public typealias PersistenceError = RecordError

extension FetchableRecord where Self: TableRecord {
    @available(*, unavailable, renamed: "fetchOne(_:key:)")
    public static func fetchOne(_ db: Database, primaryKey: (any DatabaseValueConvertible)?) throws -> Self? {
        nil
    }
}

// In an extension of a protocol: a class of users may declare such a property, and one that inherits from that may override it.
extension EncodableRecord where Self: Record {
    @available(*, unavailable, renamed: "hasDatabaseChanges")
    public var databaseEdited: Bool { hasDatabaseChanges }
}
