/// The place in a program that requests an access, as reports name it: see ``AccessReport``.
///
/// The access methods create one from the file and the line of their call. If you wrap such a
/// method, pass on the file and line of your own caller:
///
/// ```swift
/// func players(file: StaticString = #fileID, line: UInt = #line) throws -> [Player] {
///     try dbQueue.read(file: file, line: line) { db in try Player.fetchAll(db) }
/// }
/// ```
public struct CallSite: Sendable, CustomStringConvertible {
    /// The purpose of an access.
    public enum Operation: String, Sendable {
        /// Reading, with `read` and similar methods.
        case read
        /// Writing or possible writing, with `write` and similar methods.
        case write
    }

    /// The purpose of the access.
    public let operation: Operation
    /// The module and the file, such as `Game/Players.swift`.
    public let fileID: StaticString
    /// The line in the file.
    public let line: UInt

    /// Creates a call site.
    @inlinable
    init(_ operation: Operation, _ fileID: StaticString, _ line: UInt) {
        (self.operation, self.fileID, self.line) = (operation, fileID, line)
    }

    public var description: String { "\(operation.rawValue) at \(fileID):\(line)" }
}
