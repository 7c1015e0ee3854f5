import TestSupport
import Testing

@Suite("Threads of asynchronous accesses", .behaviour(118))
struct ThreadCountTests {
    /// In a process of its own: other tests have threads, too.
    @Test(
        "10,000 tasks that wait for their turn cost a process one thread for each connection, and four others",
        arguments: ["pool", "queue"], ["read", "write", "both", "later"])
    func crowd(way: String, work: String) async throws {
        let folder = try TemporaryFolder()
        let threads = try await SecondProcess.threads(
            of: way, work, count: 10_000, path: folder.path("crowd.sqlite"))
        // A pool has five readers.
        let connectionCount = way == "pool" ? 6 : 1
        #expect(threads.most <= threads.before + connectionCount + 4, "\(threads)")
    }
}
