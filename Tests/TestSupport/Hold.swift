import Foundation
public import Shellac

/// An access that goes on until it is released, on a thread of its own.
public final class LongAccess: Sendable {
    private let end = Gate()
    private let ended = Gate()

    /// Returns when the access runs.
    ///
    /// - Parameter access: A function that makes the access, and calls its parameter inside of it.
    public init(
        _ access: @escaping @Sendable (_ inside: () throws -> Void) throws -> Void
    ) async throws {
        let begun = Gate()
        let (end, ended) = (self.end, self.ended)
        let thread = Thread {
            defer { ended.open() }
            try? access {
                begun.open()
                try end.wait()
            }
        }
        thread.start()
        try await waitUntil { begun.isOpen || ended.isOpen }
    }

    /// Ends the access. Returns when that is done.
    public func release() async throws {
        end.open()
        try await waitUntil { [ended] in ended.isOpen }
    }
}

/// Holds the access to a database, so that others must wait in line.
public struct Hold: Sendable {
    private let access: LongAccess

    /// Returns when the access is held.
    public init(_ queue: some DatabaseWriter) async throws {
        access = try await LongAccess { inside in try queue.unsafeReentrantWrite { _ in try inside() } }
    }

    /// Passes the access to the first in line. Returns when that is done.
    public func release() async throws { try await access.release() }
}
