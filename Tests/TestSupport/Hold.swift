import Foundation
public import Shellac

/// Holds the access to a database, on a thread of its own, so that others must wait in line.
public final class Hold: Sendable {
    private let end = Gate()
    private let ended = Gate()

    /// Returns when the access is held.
    public init(_ queue: some DatabaseWriter) async throws {
        let inside = Gate()
        let (end, ended) = (self.end, self.ended)
        let thread = Thread {
            try? queue.unsafeReentrantWrite { _ in
                inside.open()
                try end.wait()
            }
            ended.open()
        }
        thread.start()
        try await waitUntil { inside.isOpen }
    }

    /// Gives the access to the first in line. Returns when that is done.
    public func release() async throws {
        end.open()
        try await waitUntil { [ended] in ended.isOpen }
    }
}
