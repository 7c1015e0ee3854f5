// Prepares each SQL literal of a package on a migrated database.

import CSQLite
import Foundation
import Shellac

/// The SQL literals of a package, and their errors.
public struct SQLCheck: Sendable {
    /// The number of literals that were prepared.
    public internal(set) var checkedCount = 0
    /// The literals that could not be checked, as `file:line`. Their text is only known when the
    /// program runs.
    public internal(set) var unchecked: [String] = []
}

/// The errors in the SQL literals of a package.
public struct SQLCheckFailure: Error, CustomStringConvertible {
    /// The errors, as compilers print them: `file:line: error: message`.
    public let errors: [String]

    public var description: String { errors.joined(separator: "\n") }
}

extension Database {
    /// Prepares each SQL literal of a folder's Swift files on this connection.
    ///
    /// ```swift
    /// @Test func sql() throws {
    ///     try template.makeQueue().inDatabase { db in try db.checkSQL(in: "Sources") }
    /// }
    /// ```
    ///
    /// These literals are checked: arguments named `sql:` and `literal:`, and values of variables
    /// whose type begins with `SQL`. An interpolation counts as a parameter. If the literal cannot
    /// be prepared then, it may have a name or more SQL there, and is not checked. A literal that
    /// changes the schema is executed, and rolled back.
    ///
    /// The connection must have the schema and the functions of the program. Literals of earlier
    /// versions of the schema, as in migrations, would be errors: exclude their files.
    ///
    /// - Parameters:
    ///   - folder: The folder, in the package of the caller.
    ///   - excluded: The files and folders to leave out, such as `Migrations.swift`.
    ///   - file: A file of the package.
    /// - Returns: The number of checked literals, and those that could not be checked.
    /// - Throws: a ``SQLCheckFailure`` with all errors.
    @discardableResult
    public func checkSQL(
        in folder: String, excluding excluded: Set<String> = [], file: String = #filePath
    ) throws -> SQLCheck {
        let root = Self.package(of: URL(filePath: file))
        let directory = root.appending(path: folder)
        guard let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
        else {
            throw SQLCheckFailure(errors: ["\(directory.path): error: the folder cannot be read"])
        }
        var (check, errors) = (SQLCheck(), [String]())
        let urls = files.compactMap { $0 as? URL }.filter {
            $0.pathExtension == "swift" && excluded.isDisjoint(with: $0.pathComponents)
        }
        if urls.isEmpty { errors.append("\(directory.path): error: there are no Swift files") }
        for url in urls.sorted(by: { $0.path < $1.path }) {
            let source = try String(contentsOf: url, encoding: .utf8)
            for literal in SwiftLiterals.all(in: source) {
                let place = "\(url.path):\(literal.line)"
                switch try outcome(of: literal) {
                case .valid: check.checkedCount += 1
                case .unknown: check.unchecked.append(place)
                case .wrong(let message):
                    check.checkedCount += 1
                    errors.append("\(place): error: \(message)")
                }
            }
        }
        if !errors.isEmpty { throw SQLCheckFailure(errors: errors) }
        return check
    }

    private static func package(of file: URL) -> URL {
        var folder = file.deletingLastPathComponent()
        while folder.path.count > 1 {
            if FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path) {
                return folder
            }
            folder.deleteLastPathComponent()
        }
        return URL(filePath: FileManager.default.currentDirectoryPath)
    }

    private enum Outcome {
        case valid, unknown
        case wrong(String)
    }

    private func outcome(of literal: SwiftLiteral) throws -> Outcome {
        let isWhole = !literal.isPartial && !literal.pieces.contains(.interpolation)
        let sql = literal.pieces.map { piece in
            if case .text(let text) = piece { text } else { "?" }
        }.joined()
        var message: String?
        try inSavepoint {
            message = firstError(in: sql)
            return .rollback
        }
        guard let message else { return literal.isPartial ? .unknown : .valid }
        // The literal itself has the missing name.
        let missing = message.firstMatch(of: /^no such (?:table|column|function): (\S+)$/)?.1
        let isNamed = missing.map { name in
            literal.pieces.contains { piece in
                if case .text(let text) = piece { text.contains(name) } else { false }
            }
        }
        return isWhole || isNamed == true && !literal.isPartial ? .wrong(message) : .unknown
    }

    /// Prepares the statements of SQL, and executes those that change the schema. Returns the
    /// message of the first error.
    private func firstError(in sql: String) -> String? {
        sql.withCString { start in
            var rest: UnsafePointer<CChar>? = start
            while let next = rest, next.pointee != 0 {
                var statement: OpaquePointer?
                let code = sqlite3_prepare_v2(sqliteConnection, next, -1, &statement, &rest)
                defer { sqlite3_finalize(statement) }
                guard code == SQLITE_OK else {
                    let message = String(cString: sqlite3_errmsg(sqliteConnection))
                    // The schema of the literal exists already. SQLite reads no further.
                    return message.hasSuffix("already exists") ? nil : message
                }
                guard let statement, let text = sqlite3_sql(statement) else { continue }
                let words = String(cString: text).split(maxSplits: 1, whereSeparator: \.isWhitespace)
                if ["CREATE", "ALTER", "DROP"].contains(words.first?.uppercased()) {
                    sqlite3_step(statement)
                }
            }
            return nil
        }
    }
}
