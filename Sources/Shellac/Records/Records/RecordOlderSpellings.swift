// Older names of the API, which the compiler replaces by a fix-it.
//
// Names that users declare in their own types are not among them: a declaration here would collide
// with theirs.

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

// This is an extension of a protocol. A user's class may declare such a property, and its
// subclasses may override that.
extension EncodableRecord where Self: Record {
    @available(*, unavailable, renamed: "hasDatabaseChanges")
    public var databaseEdited: Bool { hasDatabaseChanges }
}
