import Foundation
import Shellac

/// The base class of all classes of an application.
class CodedBase: Record {
    var id: Int64?
    override class var databaseTableName: String { "reminder" }
    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

/// A class without a line of code for its columns.
class Errand: CodedBase, Codable {
    var title = ""
    var dueDate: Date?
    var tags: [String] = []
    var priority = Priority.low
    var place: Place?

    enum Priority: String, Codable { case low, high }
    struct Place: Codable, Equatable { var x = 0.5, y = 1.5 }
}

extension Errand {
    static let table = """
        CREATE TABLE reminder (
            id INTEGER PRIMARY KEY, title TEXT NOT NULL, dueDate DATETIME, tags JSON NOT NULL DEFAULT '[]',
            priority TEXT NOT NULL DEFAULT 'low', place JSON)
        """
}

/// A class whose row id is one of its coded columns.
final class OwnKey: Record, Codable {
    var id: Int64?
    var title = "untitled"
    override class var databaseTableName: String { "reminder" }
}

/// A class below which others add properties.
class PlainErrand: CodedBase, Codable {
    var title = ""
}
