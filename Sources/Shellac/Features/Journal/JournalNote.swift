// A note for the journal's entries: the author of a change, and the reason.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A note that the journal adds to the transactions of a task.
///
/// ```swift
/// try await JournalNote.current.withValue(["author": "ann"]) {
///     try await dbQueue.write { db in try player.update(db) }
/// }
/// ```
///
/// It is read when the transaction writes for the first time.
public struct JournalNote: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    /// The note of the current task.
    public static let current = TaskLocal<JournalNote?>(wrappedValue: nil)

    /// The values, by name.
    public var values: [String: String]

    /// Creates a note.
    ///
    /// - Parameter values: The values, by name.
    public init(_ values: [String: String] = [:]) { self.values = values }

    /// Creates a note of a literal. Of several values with one name, the last one counts.
    ///
    /// - Parameter elements: The names and their values.
    public init(dictionaryLiteral elements: (String, String)...) {
        values = Dictionary(elements, uniquingKeysWith: { $1 })
    }

    /// The value with a name, or nil.
    ///
    /// - Parameter name: The name.
    public subscript(name: String) -> String? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// The note as the journal stores it, or nil if it is empty.
    var json: String? {
        if values.isEmpty { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return (try? encoder.encode(values)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Reads a stored note. Anything else that another program has written there has no values.
    init(json: String?) {
        values = json.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) } ?? [:]
    }
}
