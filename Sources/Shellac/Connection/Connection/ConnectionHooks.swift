/// The objects that SQLite's hooks call.
///
/// SQLite does not retain them, so they live as long as the connection.
struct ConnectionHooks {
    /// The tracer that gets the trace events.
    var tracer: Tracer?
    /// The handler that decides whether to wait for a lock.
    var busyHandler: BusyHandler?
    /// Whether SQLite checks now and then whether the access was cancelled.
    var isCancellable = false
    /// Whether a hidden statement runs that must not be interrupted.
    var isUninterruptible = false
    /// The object that the hook of the write-ahead log calls, if the log is not left to SQLite.
    var wal: AnyObject?
    /// The confirmation that asks the storage after each commit, if the configuration requests it.
    var confirmation: CommitConfirmation?
    /// The uses of the commit hook. Without any use, the hook is not installed.
    var commit: CommitHookUses = []
    /// The check whether the file still has the path that it was opened with.
    var place: FilePlace?
    /// Whether the database must keep its write-ahead log, because other connections need it.
    var keepsLog = false
    /// The source of rows before they change, created when it is first requested.
    var preUpdate: PreUpdateHook?
}
