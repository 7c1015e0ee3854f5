// Spellings of the family's older eras: the compiler says what to write instead, and its fix-it writes it.

@available(*, unavailable, renamed: "TransactionObserver")
public typealias DatabaseTransactionDelegate = TransactionObserver

@available(*, unavailable, renamed: "TransactionObserver")
public typealias TransactionObserverType = TransactionObserver

extension Database {
    @available(*, unavailable, renamed: "afterNextTransaction(onCommit:)")
    public func afterNextTransactionCommit(_ body: @escaping (Database) -> Void) {}

    @available(
        *, unavailable,
        message: "there may be several observers: write db.add(transactionObserver: observer)"
    )
    public var transactionDelegate: (any TransactionObserver)? {
        get { nil }
        set {}
    }
}
