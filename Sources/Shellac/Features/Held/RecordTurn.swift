/// The turn of an operation on records that stay with their owner.
///
/// Operations on one record run one after the other. (Otherwise two saves of a new record would
/// insert it twice.)
final class RecordTurn: Sendable {
    private typealias Continuation = CheckedContinuation<Void, any Error>
    private struct Waiting {
        let turn: RecordTurn
        let continuation: Continuation
    }
    /// The records with an operation under way, and the operations that wait for each. The records
    /// are alive, so no other object has their address.
    private static let records = Lock<[ObjectIdentifier: [Waiting]]>([:])
    /// The records that this operation needs. All operations take them in the same order, so that
    /// no two wait for each other.
    private let order: [ObjectIdentifier]
    /// The number of records that the operation has taken.
    private let count = Lock(0)
    /// Whether the task was cancelled.
    private let isCancelled = Lock(false)

    init(_ records: [Record]) { order = records.map(ObjectIdentifier.init).sorted() }

    /// Waits for the turn.
    ///
    /// - Throws: a `CancellationError` if the task is cancelled. Then the operation holds no
    ///   record.
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

    /// Gives each record to the operation that has waited longest.
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
