// Exit codes of the command, and the errors that end it.

import Shellac

/// The exit code of the program. (Those of a shell begin with 126.)
enum ExitCode: Int32, CaseIterable {
    case done = 0
    case found = 1
    case usage = 2
    case unreadable = 3
    case noDatabase = 4
    case sql = 5
    case busy = 6

    /// The meaning, for the table of exit codes.
    var meaning: String {
        switch self {
        case .done: "success, or the reader of a pipe has closed it"
        case .found:
            "diff found differences, doctor found faults, recover lost rows, or diagram --check an outdated diagram"
        case .usage: "the command cannot be understood"
        case .unreadable: "the file does not exist, or cannot be read"
        case .noDatabase: "the file is not an SQLite database, is encrypted, or is damaged"
        case .sql: "there is no such table, or SQLite cannot run the SQL"
        case .busy: "another program has locked the database, or wrote to it meanwhile: try again"
        }
    }
}

/// The reason why the program ends, in one sentence.
struct Failure: Error {
    let code: ExitCode
    let message: String

    init(_ code: ExitCode, _ message: String) { (self.code, self.message) = (code, message) }

    /// Explains an error that occurred while a file was read.
    init(_ error: any Error, path: String) {
        switch error {
        case let failure as Failure: self = failure
        case let error as DatabaseError: self.init(error, path)
        case let error as ExchangeError: self.init(.unreadable, error.description)
        default: self.init(.unreadable, "\(path): \(error)")
        }
    }

    private init(_ error: DatabaseError, _ path: String) {
        var message = error.message ?? "\(error.resultCode)"
        // The sentence names the file already, and not as a URI.
        if message.hasPrefix("could not open the database at "), let colon = message.firstRange(of: ": ") {
            message = String(message[colon.upperBound...])
        }
        switch error.resultCode {
        case .SQLITE_NOTADB:
            self.init(.noDatabase, "\(path) is not an SQLite database, or it is encrypted")
        case .SQLITE_CORRUPT: self.init(.noDatabase, "\(path) is damaged: \(message)")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, "\(path) is locked by another program: \(message)")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_FULL, .SQLITE_AUTH:
            self.init(.unreadable, "\(path) cannot be read: \(message)")
        default:
            self.init(.sql, error.sql.map { "\(message), in: \($0)" } ?? message)
        }
    }
}

/// An error of writing to a pipe that has no reader any more.
struct OutputClosed: Error {}
