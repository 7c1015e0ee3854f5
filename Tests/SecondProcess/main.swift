// Another process that uses a database, for the tests.
//
//     SecondProcess PATH execute SQL
//     SecondProcess PATH read|immediate|exclusive
//     SecondProcess PATH pool|queue NUMBER
//     SecondProcess PATH pool|queue read|write|both|later COUNT
//     SecondProcess PATH checkpoints
//     SecondProcess PATH open pool|queue
//     SecondProcess FOLDER keeper COUNT
//     SecondProcess PATH jobs NUMBER
//     SecondProcess PATH steps save|migrate|rebuild|vacuum|backup|import
//
// The first executes SQL in a transaction, and commits. The second holds a lock. It prints `locked`
// once it has the lock, and releases it when its standard input has a line, or closes. The third
// writes without a pause, by a pool or a queue, and prints the number of each transaction that is
// committed. It ends as the second does. The fourth has very many tasks access the database at
// once, and prints the number of its threads before them, and the highest one meanwhile. The fifth
// copies the write-ahead log without a pause, as a program without Shellac does. It prints
// `copying` at its beginning, and the number of copies at its end. The sixth opens the file, which
// may be new, with a log, and inserts a row into the table `opening`. The seventh uses databases of
// a folder by a keeper, first at the same time, and then one after the other. The eighth does the
// jobs of the table `job`, prints `working` at its beginning, and ends as the second does. The last
// one works in steps without an end, and prints the number of each.
import Foundation

/// The kinds of work. Each begins if the arguments are its own, and returns whether they are.
///
/// Each has a line of its own: `.ci/layers --without LAYER --test` removes the lines that do not
/// compile without a layer.
let works: [@Sendable (_ arguments: [String]) async throws -> Bool] = [
    Holding.execute,
    Holding.begin,
    Writing.open,
    Writing.begin,
    Crowd.begin,
    Copying.begin,
    Working.begin,
    Keeping.begin,
    Steps.begin,
]
for begin in works {
    if try await begin(CommandLine.arguments) { exit(0) }
}
FileHandle.standardError.write(
    Data(
        """
        usage: SecondProcess PATH execute SQL, or PATH read|immediate|exclusive, or PATH pool|queue NUMBER, \
        or PATH pool|queue read|write|both|later COUNT, or PATH checkpoints, or PATH open pool|queue

        """.utf8))
exit(2)
