/// The place in a program that asks for an access, as a report names it: see ``AccessReport``.
///
/// The methods that give access make one of the file and the line that they are called in. Who wraps them passes on their own
/// caller's:
///
/// ```swift
/// func players(file: StaticString = #fileID, line: UInt = #line) throws -> [Player] {
///     try dbQueue.read(file: file, line: line) { db in try Player.fetchAll(db) }
/// }
/// ```
public struct CallSite: Sendable, CustomStringConvertible {
    /// What an access is for.
    public enum Operation: String, Sendable {
        /// For reading: by `read` and its like.
        case read
        /// For writing, or for what may write: by `write` and its like.
        case write
    }

    /// What the access is for.
    public let operation: Operation
    /// The module and the file, such as `Game/Players.swift`.
    public let fileID: StaticString
    /// The line in it.
    public let line: UInt

    /// Names a place.
    @inlinable
    init(_ operation: Operation, _ fileID: StaticString, _ line: UInt) {
        (self.operation, self.fileID, self.line) = (operation, fileID, line)
    }

    public var description: String { "\(operation.rawValue) at \(fileID):\(line)" }
}
