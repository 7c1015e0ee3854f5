// Spellings from older libraries of this family. The compiler offers the new ones as fix-its.

@available(*, unavailable, renamed: "TransactionObserver")
public typealias DatabaseTransactionDelegate = TransactionObserver

@available(*, unavailable, renamed: "TransactionObserver")
public typealias TransactionObserverType = TransactionObserver

extension Database {
    @available(*, unavailable, renamed: "afterNextTransaction(onCommit:)")
    public func afterNextTransactionCommit(_ body: @escaping (Database) -> Void) {}

    @available(
        *, unavailable,
        message: "a database can have several observers: write db.add(transactionObserver: observer)"
    )
    public var transactionDelegate: (any TransactionObserver)? {
        get { nil }
        set {}
    }
}
