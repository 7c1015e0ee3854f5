// Reminders, at a terminal: `swift run Reminders FILE`, or `swift run Reminders FILE add Get milk`
// for one command.
//
// A sample of a whole program. It has migrations, records and relations, tags by a relation through
// others, stamps, bulk updates, undo and redo, and a list that follows the database.

import Foundation
import Shellac

let arguments = Array(CommandLine.arguments.dropFirst())
let store: Store
do {
    store = try Store(path: arguments.first ?? "reminders.sqlite")
} catch {
    say("The reminders cannot be opened: \(error)")
    exit(1)
}
let session = Session(store: store, isTerminal: isatty(STDOUT_FILENO) == 1, input: Input())

if arguments.count > 1 {
    _ = await session.run(arguments.dropFirst().joined(separator: " "))
} else {
    say("Reminders in \(store.dbQueue.path). Enter help, or quit.")
    var goesOn = true
    while goesOn {
        say("> ", terminator: "")
        guard let line = await session.input.line() else { break }
        goesOn = await session.run(line)
    }
}
try store.dbQueue.close()
