// Closing the databases of a keeper: one to make room or for a function, or all of them.

import Dispatch

extension DatabaseKeeper {
    /// Closes the database of a key, and keeps it closed while a function runs. The function may
    /// delete or replace the file.
    ///
    /// ```swift
    /// try await tenants.close(7) { try FileManager.default.removeItem(atPath: path) }
    /// ```
    ///
    /// It waits for the uses of the database to end, for as long as ``timeout``. Requests that come
    /// meanwhile wait, and open the database again. If it is not open, only the function runs.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - body: A function that runs when the database is closed.
    /// - Throws: A ``DatabaseError`` of code `SQLITE_BUSY` if the database is still in use, or if
    ///   something of it is still alive, such as a snapshot. The database then stays open, and the
    ///   function does not run. Errors of the function.
    public func close(_ key: Key, then body: () throws -> Void = {}) throws {
        try close(key, until: deadline, then: body)
    }

    private func close(_ key: Key, until deadline: DispatchTime, then body: () throws -> Void = {}) throws {
        let waiter = KeeperWaiter<Key, Writer>(key, .close)
        change { $0.place(waiter) }
        if case .failure(let error)? = wait(waiter, until: deadline) { throw error }
        try closeNow(key, then: body)
    }

    /// Closes a database whose closing was granted. If that fails, it is available again.
    func closeNow(_ key: Key, then body: () throws -> Void = {}) throws {
        if let writer = state.withLock({ $0.closingWriter(of: key) }) {
            do { try writer.close() } catch {
                change { $0.couldNotClose(key, writer) }
                throw error
            }
        }
        change { $0.didClose(key) }
        defer { change { $0.giveUp(key) } }
        try body()
    }

    /// Closes all databases. Later requests throw `SQLITE_MISUSE`.
    ///
    /// It waits for the uses of databases to end, for as long as ``timeout``. Requests that are in
    /// line throw an error.
    ///
    /// - Throws: The first error, if some databases cannot be closed. These stay open, and the
    ///   keeper accepts requests again: call it once more.
    public func close() throws {
        let deadline = deadline
        change {
            $0.refuse(
                DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "the keeper of databases is closed, or is being closed"))
        }
        var failure: (any Error)?
        while case let keys = state.withLock({ $0.keys }), !keys.isEmpty, failure == nil {
            for key in keys {
                do { try close(key, until: deadline) } catch { failure = failure ?? error }
            }
        }
        guard let failure else { return }
        change { $0.acceptAgain() }
        throw failure
    }

    // MARK: - Without blocking a thread

    /// Closes the database of a key, and keeps it closed while a function runs, without blocking a
    /// thread.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - body: A function that runs when the database is closed.
    /// - Throws: The errors of the synchronous form.
    public nonisolated(nonsending) func close(
        _ key: Key, then body: @escaping @Sendable () throws -> Void = {}
    ) async throws {
        try await onOwnThread("Shellac.keeper.closing") { try self.close(key, then: body) }
    }

    /// Closes all databases, without blocking a thread. Later requests throw `SQLITE_MISUSE`.
    ///
    /// - Throws: The errors of the synchronous form.
    public nonisolated(nonsending) func close() async throws {
        try await onOwnThread("Shellac.keeper.closing") { try self.close() }
    }
}
