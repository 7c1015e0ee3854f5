/// The objects that SQLite calls in its hooks: it does not hold them, and they live as long as the connection.
struct ConnectionHooks {
    /// The tracer that hears of traced statements.
    var tracer: Tracer?
    /// The handler that decides whether a lock is waited for.
    var busyHandler: BusyHandler?
    /// Whether SQLite asks, now and then, whether the access was cancelled.
    var isCancellable = false
    /// Hears of the write-ahead log, where we see to it.
    var wal: AnyObject?
    /// Asks the storage after each commit, where the configuration says so.
    var confirmation: CommitConfirmation?
    /// What the commit hook is for. Without a use, it is not there.
    var commit: CommitHookUses = []
    /// Looks whether the file is where it was opened.
    var place: FilePlace?
    /// Whether the file keeps its write-ahead log, which other connections need.
    var keepsLog = false
    /// Tells of rows before they are changed, once somebody has asked for it.
    var preUpdate: PreUpdateHook?
}
