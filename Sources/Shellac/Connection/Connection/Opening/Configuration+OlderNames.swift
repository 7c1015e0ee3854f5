// Older names of settings, which the compiler replaces by a fix-it.

extension Configuration {
    @available(*, unavailable, renamed: "verifiesCommits")
    public var confirmsCommits: Bool {
        get { verifiesCommits }
        set { verifiesCommits = newValue }
    }

    @available(*, unavailable, renamed: "shutdownTimeout")
    public var closingDeadline: Duration {
        get { shutdownTimeout }
        set { shutdownTimeout = newValue }
    }

    @available(*, unavailable, renamed: "taskContext")
    public var carry: (@Sendable () -> TaskContext)? {
        get { taskContext }
        set { taskContext = newValue }
    }

    @available(*, unavailable, renamed: "reportHandler")
    public var report: (@Sendable (DatabaseReport) -> Void)? {
        get { reportHandler }
        set { reportHandler = newValue }
    }
}
