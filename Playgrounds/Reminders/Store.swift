import Foundation
import Shellac

/// A selection of the reminders that are shown, or changed.
enum Selection: Sendable {
    case open
    case completed
    case flagged
    case overdue
    case list(String)
    case tagged(String)
    case search(String)

    /// The reminders, in the order in which they are shown.
    func request(now: Date = Date()) -> QueryInterfaceRequest<Reminder> {
        let open = Reminder.filter { $0.isCompleted == false }
        let selected =
            switch self {
            case .open: open
            case .completed: Reminder.filter { $0.isCompleted == true }
            case .flagged: open.filter { $0.isFlagged == true }
            case .overdue: open.filter { $0.dueDate < now }
            case .list(let title):
                open.joining(required: Reminder.list.filter { $0.title == title })
            case .tagged(let title):
                open.joining(required: Reminder.tags.filter { $0.title == title })
            case .search(let word): open.filter { $0.title.like("%\(word)%") }
            }
        return selected.order(
            Column("isFlagged").desc, Column("dueDate").ascNullsLast, Column("priority").desc, Column("id"))
    }

    /// The reminders, with what is shown of them.
    func shown() -> QueryInterfaceRequest<Reminder> {
        request().including(optional: Reminder.list).including(Reminder.tags)
    }
}

/// The reminders of a file.
final class Store: Sendable {
    let dbQueue: DatabaseQueue
    let undo: DatabaseUndo

    init(path: String) throws {
        dbQueue = try DatabaseQueue(path: path)
        try makeMigrator().migrate(dbQueue)
        // Each write of a reminder stamps it, and so do bulk updates.
        try dbQueue.register(Reminder.self)
        // There is always a list.
        try dbQueue.after(.delete, on: RemindersList.self) { db, _ in
            if try RemindersList.isEmpty(db) { try RemindersList(title: "Reminders").insert(db) }
        }
        undo = try DatabaseUndo(
            dbQueue, RemindersList.self, Reminder.self, Tag.self, Tagging.self, limit: 100)
    }

    // MARK: - Reading

    func lists() throws -> [RemindersList] {
        let open = RemindersList.reminders.filter { $0.isCompleted == false }
        return try dbQueue.read { db in
            try RemindersList.annotated(with: open.count.forKey("openCount")).order { $0.title }.fetchAll(db)
        }
    }

    func tags() throws -> [Tag] {
        try dbQueue.read { db in
            try Tag.annotated(with: Tag.reminders.count).having(!Tag.taggings.isEmpty).order { $0.title }
                .fetchAll(db)
        }
    }

    func reminders(_ selection: Selection) throws -> [Reminder] {
        try dbQueue.read { db in try selection.shown().fetchAll(db) }
    }

    func reminder(_ id: Int64) throws -> Reminder {
        try dbQueue.read { db in
            let found = try Reminder.filter(key: id).including(Reminder.list, Reminder.tags).fetchOne(db)
            guard let found else { throw Complaint("There is no reminder \(id).") }
            return found
        }
    }

    // MARK: - Writing

    /// Changes the database, as one group of the undo.
    private func write<Result>(_ name: String, _ updates: (Database) throws -> Result) throws -> Result {
        try dbQueue.write { db in
            let result = try updates(db)
            // If nothing has changed, there is no group, and this throws.
            try? undo.setActionName(name, in: db)
            return result
        }
    }

    func addList(_ title: String) throws {
        do {
            try write("add list \(title)") { db in try RemindersList(title: title).insert(db) }
        } catch let error as DatabaseError where error.constraint?.kind == .unique {
            throw Complaint("There is a list \(title) already.")
        }
    }

    func deleteList(_ title: String) throws {
        try write("delete list \(title)") { db in
            if try !list(title, db).delete(db) { throw Complaint("The list \(title) is gone.") }
        }
    }

    /// Adds a reminder, and the tags that are new.
    func add(_ draft: Draft) throws -> Int64 {
        try write("add \(draft.title)") { db in
            let reminder = Reminder()
            reminder.title = draft.title
            reminder.dueDate = draft.dueDate
            reminder.priority = draft.priority
            reminder.remindersListID =
                if let title = draft.list { try list(title, db).id } else {
                    try RemindersList.order { $0.id }.fetchOne(db)?.id
                }
            try reminder.insert(db)
            let tags = try draft.tags.map { try tag($0, db) }
            for tag in tags {
                let tagging = Tagging()
                (tagging.reminderID, tagging.tagID) = (reminder.id ?? 0, tag.id ?? 0)
                try tagging.insert(db, onConflict: .ignore)
            }
            return reminder.id ?? 0
        }
    }

    func rename(_ id: Int64, _ title: String) throws {
        try change(id, "rename") { $0.title = title }
    }

    func complete(_ id: Int64) throws { try change(id, "complete") { $0.isCompleted.toggle() } }

    func flag(_ id: Int64) throws { try change(id, "flag") { $0.isFlagged.toggle() } }

    private func change(_ id: Int64, _ name: String, _ modify: (Reminder) -> Void) throws {
        try write("\(name) \(id)") { db in
            guard let reminder = try Reminder.fetchOne(db, key: id) else {
                throw Complaint("There is no reminder \(id).")
            }
            // Writes nothing if nothing has changed, and keeps the changes that other connections
            // have made meanwhile.
            try reminder.updateChanges(db, modify: modify)
        }
    }

    func delete(_ id: Int64) throws {
        try write("delete \(id)") { db in
            if try !Reminder.deleteOne(db, key: id) { throw Complaint("There is no reminder \(id).") }
        }
    }

    /// Flags, or completes, all reminders of a selection, by one statement.
    ///
    /// - Returns: The number of reminders.
    func flagAll(_ selection: Selection) throws -> Int {
        try write("flag all") { db in
            try selection.request().updateAll(db, Column("isFlagged").set(to: true))
        }
    }

    func completeAll(_ selection: Selection) throws -> Int {
        try write("complete all") { db in
            try selection.request().updateAll(db, Column("isCompleted").set(to: true))
        }
    }

    /// Deletes what is done, by one statement.
    func clear() throws -> Int {
        try write("clear") { db in try Selection.completed.request().deleteAll(db) }
    }

    private func list(_ title: String, _ db: Database) throws -> RemindersList {
        let list = try RemindersList.filter { $0.title == title }.fetchOne(db)
        guard let list else { throw Complaint("There is no list \(title).") }
        return list
    }

    private func tag(_ title: String, _ db: Database) throws -> Tag {
        if let tag = try Tag.filter({ $0.title == title }).fetchOne(db) { return tag }
        let tag = Tag()
        tag.title = title
        try tag.insert(db)
        return tag
    }
}

/// A reminder as it was typed: `Get milk #food !! due:2026-03-01 in:Home`.
struct Draft {
    var title: String
    var tags: [String] = []
    var priority: Priority?
    var dueDate: Date?
    var list: String?

    init(_ words: [String]) throws {
        var title: [String] = []
        for word in words {
            if word.hasPrefix("#"), word.count > 1 {
                tags.append(String(word.dropFirst()))
            } else if let priority = Priority.allCases.first(where: { $0.marks == word }) {
                self.priority = priority
            } else if word.hasPrefix("due:") {
                dueDate = try Draft.date(String(word.dropFirst(4)))
            } else if word.hasPrefix("in:") {
                list = String(word.dropFirst(3))
            } else {
                title.append(word)
            }
        }
        self.title = title.joined(separator: " ")
    }

    private static func date(_ text: String) throws -> Date {
        guard let date = Date.fromDatabaseValue(text.databaseValue) else {
            throw Complaint("\(text) is no date: write it as 2026-03-01.")
        }
        return date
    }
}
