public import Shellac

/// An asynchronous access to a database.
public enum Access: String, CaseIterable, Sendable, Codable {
    case read, write, writeWithoutTransaction

    /// The accesses that may write.
    public static let writing: [Access] = [.write, .writeWithoutTransaction]

    public nonisolated(nonsending) func run<Result: Sendable>(
        _ queue: some DatabaseWriter, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        switch self {
        // A closure, and not the function itself, which would choose the synchronous methods.
        case .read: try await queue.read { db in try body(db) }
        case .write: try await queue.write { db in try body(db) }
        case .writeWithoutTransaction: try await queue.writeWithoutTransaction { db in try body(db) }
        }
    }
}
