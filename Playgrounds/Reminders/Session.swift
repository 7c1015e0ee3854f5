import Foundation
import Shellac

/// Writes a line at once, even if the output goes to a file.
func say(_ text: some CustomStringConvertible, terminator: String = "\n") {
    FileHandle.standardOutput.write(Data("\(text)\(terminator)".utf8))
}

/// The lines that are entered, which a thread of their own waits for.
@MainActor final class Input {
    private var lines: AsyncStream<String>.Iterator?

    /// The next line: nil at the end of the input.
    func line() async -> String? {
        var lines = lines ?? Self.start()
        defer { self.lines = lines }
        return await lines.next(isolation: MainActor.shared)
    }

    private static func start() -> AsyncStream<String>.Iterator {
        let (lines, entered) = AsyncStream.makeStream(of: String.self)
        // (With glibc of 2025, a program cannot end while a thread waits in `readLine()`.)
        Thread {
            var bytes = Data()
            while case let more = FileHandle.standardInput.availableData, !more.isEmpty {
                bytes += more
                while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                    entered.yield(String(decoding: bytes[..<end], as: UTF8.self))
                    bytes.removeSubrange(...end)
                }
            }
            if !bytes.isEmpty { entered.yield(String(decoding: bytes, as: UTF8.self)) }
            entered.finish()
        }.start()
        return lines.makeAsyncIterator()
    }
}

/// A user at a terminal.
@MainActor struct Session {
    let store: Store
    /// Whether the output is seen by a person.
    let isTerminal: Bool
    let input: Input

    static let help = """
        add TITLE [#TAG…] [!|!!|!!!] [due:DATE] [in:LIST]   add a reminder
        show [SELECTION]                                    show reminders: the open ones, if none are said
        done ID | flag ID | delete ID | edit ID TITLE       change one; done and flag are toggled
        done all [SELECTION] | flag all [SELECTION]         change many, by one statement
        clear                                               delete what is done
        lists | list add TITLE | list delete TITLE          the lists
        tags                                                the tags
        undo | redo                                         take a change back, whichever it was
        watch [SELECTION]                                   follow reminders, until Return is pressed
        info ID                                             all about a reminder
        help | quit

        SELECTION is: open, done, flagged, overdue, in LIST, tag TAG, find WORD
        """

    /// Does what a line says.
    ///
    /// - Returns: Whether the session goes on.
    func run(_ line: String) async -> Bool {
        do {
            let words = line.split(separator: " ").map(String.init)
            guard let command = words.first else { return true }
            if ["quit", "exit"].contains(command) { return false }
            try await run(command, Array(words.dropFirst()))
        } catch let error as Complaint {
            say(error)
        } catch {
            say("That did not work: \(error)")
        }
        return true
    }

    private func run(_ command: String, _ words: [String]) async throws {
        switch (command, words.first) {
        case ("help", _): say(Session.help)
        case ("add", _):
            let id = try store.add(Draft(words))
            say("Added \(id).")
        case ("show", _): show(try store.reminders(selection(words)))
        case ("info", _): try info(id(words))
        case ("done", "all"): say("\(try store.completeAll(selection(words.dropFirst()))) done.")
        case ("flag", "all"): say("\(try store.flagAll(selection(words.dropFirst()))) flagged.")
        case ("done", _): try store.complete(id(words))
        case ("flag", _): try store.flag(id(words))
        case ("delete", _): try store.delete(id(words))
        case ("edit", _): try store.rename(id(words), words.dropFirst().joined(separator: " "))
        case ("clear", _): say("\(try store.clear()) deleted.")
        case ("lists", _):
            for list in try store.lists() { say("\(list.title): \(list.openCount)") }
        case ("list", "add"): try store.addList(words.dropFirst().joined(separator: " "))
        case ("list", "delete"): try store.deleteList(words.dropFirst().joined(separator: " "))
        case ("tags", _):
            for tag in try store.tags() { say("#\(tag.title): \(tag.reminderCount)") }
        case ("undo", _):
            let name = store.undo.undoName
            say(
                try await store.undo.undo() ? "Undone: \(name ?? "a change")." : "There is nothing to undo.")
        case ("redo", _):
            let name = store.undo.redoName
            say(
                try await store.undo.redo() ? "Redone: \(name ?? "a change")." : "There is nothing to redo.")
        case ("watch", _): try await watch(selection(words))
        default: throw Complaint("What is \(command)? Enter help.")
        }
    }

    /// Shows a selection whenever it has changed, even if another process has changed it.
    private func watch(_ selection: Selection) async throws {
        let values = store.dbQueue.values(of: selection.shown()).observingExternalChanges(
            every: .milliseconds(200))
        let following = Task {
            for try await reminders in values {
                say("— \(reminders.count) —")
                show(reminders)
            }
        }
        _ = await input.line()
        following.cancel()
        do { try await following.value } catch is CancellationError {}
    }

    // MARK: - What was typed

    private func id(_ words: [String]) throws -> Int64 {
        guard let word = words.first, let id = Int64(word) else {
            throw Complaint("Say the number of a reminder.")
        }
        return id
    }

    private func selection(_ words: some Collection<String>) throws -> Selection {
        let rest = words.dropFirst().joined(separator: " ")
        switch words.first {
        case nil, "open": return .open
        case "done": return .completed
        case "flagged": return .flagged
        case "overdue": return .overdue
        case "in": return .list(rest)
        case "tag": return .tagged(rest)
        case "find": return .search(rest)
        case let word?: throw Complaint("What is \(word)? Enter help.")
        }
    }

    // MARK: - What is shown

    private func show(_ reminders: [Reminder]) {
        for reminder in reminders { say(line(of: reminder)) }
        if reminders.isEmpty { say("Nothing.") }
    }

    private func line(of reminder: Reminder) -> String {
        // Relations that were not loaded would throw: they are loaded by `Selection.shown()`.
        let tags = (try? reminder.tags) ?? []
        let list = try? reminder.list
        let title = reminder.isFlagged && isTerminal ? "\u{1B}[1m\(reminder.title)\u{1B}[0m" : reminder.title
        let parts: [String?] = [
            "\(reminder.id ?? 0)", reminder.isCompleted ? "[x]" : "[ ]", reminder.isFlagged ? "*" : nil,
            reminder.priority?.marks, title, reminder.dueDate.map { "due \($0.databaseText.prefix(10))" },
            list.map { "(\($0.title))" },
        ]
        return (parts.compactMap { $0 } + tags.map { "#\($0.title)" }).joined(separator: " ")
    }

    private func info(_ id: Int64) throws {
        let reminder = try store.reminder(id)
        say(line(of: reminder))
        say("created \(reminder.createdAt?.databaseText ?? "long ago")")
        say("updated \(reminder.updatedAt?.databaseText ?? "never")")
    }
}

extension Date {
    /// The date as it is stored.
    var databaseText: String { String.fromDatabaseValue(databaseValue) ?? "" }
}
