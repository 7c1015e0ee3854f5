/// The turn of an operation on records that stay with their owner: the operations on one record come one after the other. (Two
/// saves of a new record would insert it twice, otherwise.)
final class RecordTurn: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>
    private struct Waiting {
        let turn: RecordTurn
        let continuation: Continuation
    }
    /// The records that something is being done to, with those that wait. They are alive, and so nobody else has their address.
    private static let records = Lock<[ObjectIdentifier: [Waiting]]>([:])
    /// The records that are waited for: those of all operations in the same order, so that no two wait for each other.
    private let order: [ObjectIdentifier]
    /// How many of them the operation has.
    private let count = Lock(0)
    /// Whether the task was cancelled.
    private let isCancelled = Lock(false)

    init(_ records: [Record]) { order = records.map(ObjectIdentifier.init).sorted() }

    /// Waits for the turn.
    ///
    /// - Throws: a `CancellationError` where the task is cancelled. The turn is nobody's then.
    nonisolated(nonsending) func begin() async throws {
        do {
            for record in order {
                try await wait(for: record)
                count.withLock { $0 += 1 }
            }
        } catch {
            end()
            throw error
        }
    }

    private nonisolated(nonsending) func wait(for record: ObjectIdentifier) async throws {
        let isFree = Self.records.withLock { records in
            if records[record] != nil { return false }
            records[record] = []
            return true
        }
        if isFree { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = Self.records.withLock { records in
                    if isCancelled.withLock({ $0 }) { return .failure(CancellationError()) }
                    if records[record] == nil {
                        records[record] = []
                        return .success(())
                    }
                    records[record]?.append(Waiting(turn: self, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = Self.records.withLock { records in
                isCancelled.withLock { $0 = true }
                guard let place = records[record]?.firstIndex(where: { $0.turn === self }) else {
                    return nil as Continuation?
                }
                return records[record]?.remove(at: place).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Gives the turn to those who wait longest.
    func end() {
        let held = count.withLock { count in
            defer { count = 0 }
            return order.prefix(count)
        }
        for record in held {
            let next = Self.records.withLock { records in
                if records[record]?.isEmpty == false { return records[record]?.removeFirst().continuation }
                records[record] = nil
                return nil as Continuation?
            }
            next?.resume()
        }
    }
}
