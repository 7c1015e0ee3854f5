// The limits of a journal, and their enforcement.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The entries that a journal keeps: see
/// ``DatabaseWriter/keepJournal(of:for:)-(JournalSelection,_)``.
///
/// Older entries are deleted now and then, in the transactions that write new ones. The last
/// entry stays.
public struct JournalRetention: Hashable, Sendable {
    private enum Limit: Hashable {
        case none
        case age(TimeInterval)
        case entries(Int)
        case bytes(Int)
    }

    private let limit: Limit

    /// All entries.
    public static var ever: JournalRetention { JournalRetention(limit: .none) }

    /// The entries of the last days.
    ///
    /// - Parameter count: The number of days, of 24 hours each.
    public static func days(_ count: Int) -> JournalRetention {
        JournalRetention(limit: .age(TimeInterval(count) * 86_400))
    }

    /// The last entries.
    ///
    /// - Parameter count: The number of entries.
    public static func entries(_ count: Int) -> JournalRetention {
        JournalRetention(limit: .entries(max(count, 1)))
    }

    /// The last entries whose changes have no more than some bytes together.
    ///
    /// - Parameter count: The number of bytes.
    public static func bytes(_ count: Int) -> JournalRetention {
        JournalRetention(limit: .bytes(max(count, 0)))
    }

    /// The number of entries between two deletions.
    static let interval: Int64 = 32

    /// Returns a condition for the entries to delete, and its argument. Nil if none is.
    func condition(after number: Int64, at date: Date) -> (sql: String, argument: Int64)? {
        switch limit {
        case .none: nil
        case .age(let seconds):
            ("clock <= ?", JournalClock.last(of: date.addingTimeInterval(-seconds)))
        case .entries(let count): ("seq <= ?", number - Int64(count))
        case .bytes(let count):
            (
                """
                seq <= (SELECT max(seq) FROM (
                    SELECT seq, sum(length(changeset)) OVER (ORDER BY seq DESC) AS total
                    FROM main.\(JournalWriter.table)) WHERE total > ?)
                """, Int64(count)
            )
        }
    }
}
