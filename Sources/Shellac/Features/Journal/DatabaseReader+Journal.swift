// Follows the entries of a journal as they come, from this process and from others.

/// The entries of a journal, and those that come later: see
/// ``DatabaseReader/journal(after:pollingEvery:)``.
public struct JournalSequence: AsyncSequence, Sendable {
    public typealias Element = JournalEntry

    private let reader: any DatabaseReader
    private let number: Int64
    private let interval: Duration

    init(_ reader: any DatabaseReader, after number: Int64, _ interval: Duration) {
        self.reader = reader
        self.number = number
        self.interval = interval
    }

    /// Returns an iterator, which begins with the first entry.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader, last: number, interval: interval)
    }

    /// An iterator over the entries.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let reader: any DatabaseReader
        private var last: Int64
        private let interval: Duration
        private var waiting: ArraySlice<JournalEntry> = []

        init(reader: any DatabaseReader, last: Int64, interval: Duration) {
            self.reader = reader
            self.last = last
            self.interval = interval
        }

        /// Returns the next entry. Waits for it if there is none yet. Returns nil when the task
        /// is cancelled.
        ///
        /// - Throws: ``JournalError/noEntry(_:)`` if the next entry was deleted before it was
        ///   read. Errors of reading.
        public mutating func next() async throws -> JournalEntry? {
            while waiting.isEmpty {
                if Task.isCancelled { return nil }
                let (reader, last) = (reader, last)
                do {
                    waiting = try await reader.read { db in
                        try db.journalEntries(after: last, limit: 100)[...]
                    }
                } catch is CancellationError { return nil }
                if !waiting.isEmpty { break }
                do { try await Task.sleep(for: interval) } catch { return nil }
            }
            guard let entry = waiting.popFirst() else { return nil }
            if last > 0, entry.number != last + 1 { throw JournalError.noEntry(last + 1) }
            last = entry.number
            return entry
        }
    }
}

extension DatabaseReader {
    /// Returns the entries of the journal after a number, and those that this process and others
    /// write from then on.
    ///
    /// ```swift
    /// for try await entry in dbPool.journal(after: lastNumber) {
    ///     try await send(entry.changeset.data)
    ///     lastNumber = entry.number
    /// }
    /// ```
    ///
    /// Each entry comes once, in order. A program that stores the number of the last one
    /// continues after it.
    ///
    /// - Parameters:
    ///   - number: The number of an entry. If it is 0, the sequence begins with the oldest entry.
    ///   - interval: The time between two looks at the file, when there is no new entry.
    public func journal(
        after number: Int64 = 0, pollingEvery interval: Duration = .milliseconds(100)
    ) -> JournalSequence { JournalSequence(self, after: number, interval) }
}
