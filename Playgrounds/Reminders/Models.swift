import Foundation
import Shellac

/// A list of reminders.
final class RemindersList: Record {
    static let reminders = hasMany(Reminder.self)

    var id: Int64?
    var title = ""
    /// The number of its open reminders, if a request counts them.
    var openCount = 0

    convenience init(title: String) {
        self.init()
        self.title = title
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column.reading("openCount") { openCount = $0 }
    }

    override func validate(_ db: Database) throws {
        if title.isEmpty { throw Complaint("A list needs a title.") }
    }
}

/// The priority of a reminder.
enum Priority: Int, DatabaseValueConvertible, CaseIterable {
    case low = 1
    case medium, high

    var marks: String { String(repeating: "!", count: rawValue) }
}

/// Something to be done.
final class Reminder: Record {
    static let list = belongsTo(RemindersList.self)
    static let taggings = hasMany(Tagging.self)
    static let tags = hasMany(Tag.self, through: taggings, using: Tagging.tag).order { $0.title }

    var id: Int64?
    var remindersListID: Int64?
    var title = ""
    var dueDate: Date?
    var priority: Priority?
    var isCompleted = false
    var isFlagged = false
    var createdAt: Date?
    var updatedAt: Date?

    var list: RemindersList? { get throws { try self[Reminder.list] } }
    var tags: [Tag] { get throws { try self[Reminder.tags] } }

    override class var databaseStamps: DatabaseStamps {
        DatabaseStamps(created: "createdAt", updated: "updatedAt")
    }
    /// Bulk updates change no title, and the table has a CHECK of its own.
    override class var warnsOfBypassedCallbacks: Bool { false }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("remindersListID", remindersListID) { remindersListID = $0 }
        try column("title", title) { title = $0 }
        try column("dueDate", dueDate) { dueDate = $0 }
        try column("priority", priority) { priority = $0 }
        try column("isCompleted", isCompleted) { isCompleted = $0 }
        try column("isFlagged", isFlagged) { isFlagged = $0 }
        try column("createdAt", createdAt) { createdAt = $0 }
        try column("updatedAt", updatedAt) { updatedAt = $0 }
    }

    override func willSave(_ db: Database) throws {
        title = title.trimmingCharacters(in: .whitespaces)
    }

    override func validate(_ db: Database) throws {
        if title.isEmpty { throw Complaint("A reminder needs a title.") }
    }
}

/// A word that reminders of several lists may share.
final class Tag: Record {
    static let taggings = hasMany(Tagging.self)
    static let reminders = hasMany(Reminder.self, through: taggings, using: Tagging.reminder)

    var id: Int64?
    var title = ""
    /// The number of reminders that have it, if a request counts them.
    var reminderCount = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column.reading("reminderCount") { reminderCount = $0 }
    }
}

/// A tag of a reminder.
final class Tagging: Record {
    static let reminder = belongsTo(Reminder.self)
    static let tag = belongsTo(Tag.self)

    var reminderID: Int64 = 0
    var tagID: Int64 = 0

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("reminderID", reminderID) { reminderID = $0 }
        try column("tagID", tagID) { tagID = $0 }
    }
}

/// A message to the user, in a sentence.
struct Complaint: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
