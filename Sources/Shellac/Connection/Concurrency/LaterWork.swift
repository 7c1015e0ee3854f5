/// The function of an access that no caller waits for, and the owner of the connection.
///
/// The owner stays alive until the function has run, even if nothing else refers to the queue or
/// the pool.
///
/// Both are released on a thread that does nothing else. They may hold objects whose `deinit` waits
/// for an access, and no access may wait for that.
final class LaterWork: Sendable {
    typealias Body = @Sendable (Result<Database, any Error>) -> Void

    private final class Content: Sendable {
        let owner: any AnyObject & Sendable
        let body: Body

        init(_ owner: any AnyObject & Sendable, _ body: @escaping Body) {
            (self.owner, self.body) = (owner, body)
        }
    }
    /// The thread that does nothing else.
    private static let lettingGo = TaskThread(label: "Shellac.letting-go")
    /// Retained until `release()`.
    private let content: Unmanaged<Content>

    init(for owner: any AnyObject & Sendable, _ body: @escaping Body) {
        content = Unmanaged.passRetained(Content(owner, body))
    }

    func run(_ result: Result<Database, any Error>) { content.takeUnretainedValue().body(result) }

    /// Releases everything. Called once, at the end.
    func release() {
        let content = content
        Task.detached(executorPreference: Self.lettingGo) { content.release() }
    }
}
