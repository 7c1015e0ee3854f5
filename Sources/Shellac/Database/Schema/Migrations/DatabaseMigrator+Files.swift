// Registers the SQL files of a folder or a bundle as migrations, in the order of their names.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DatabaseMigrator {
    // MARK: - Migrations from files

    /// Registers each `.sql` file of a folder as a migration, in the order of the names.
    ///
    /// ```swift
    /// // 1-createTables.sql, 2-addAge.sql, … 10-addTeams.sql
    /// try migrator.registerMigrations(fromFolder: URL(filePath: "Migrations"))
    /// ```
    ///
    /// The full name of the file, `2-addAge.sql`, is the name of the migration. Numbers in names
    /// are compared as numbers: 2 comes before 10. Other files, files whose names begin with a dot,
    /// and subfolders are ignored.
    ///
    /// A file is read when its migration runs. It may contain any number of statements, but none
    /// that begins or ends a transaction.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - foreignKeyChecks: The time when the foreign keys of the migrations are checked.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CANTOPEN` when the folder cannot be read.
    public mutating func registerMigrations(
        fromFolder folder: URL, foreignKeyChecks: ForeignKeyChecks = .deferred
    ) throws {
        let path = folder.path
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the folder \(path) of migrations cannot be read: \(error)")
        }
        let order = names.filter { $0.hasSuffix(".sql") && !$0.hasPrefix(".") }.sorted(
            by: FileNameOrder.isBefore)
        for name in order {
            let file = "\(path)/\(name)"
            var isFolder = false
            guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), !isFolder else {
                continue
            }
            registerMigration(name, foreignKeyChecks: foreignKeyChecks) { db in
                try db.execute(sql: Self.text(of: file))
            }
        }
    }

    /// Registers each `.sql` file of the folder at a path as a migration, in the order of the
    /// names, as for a URL.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - foreignKeyChecks: The time when the foreign keys of the migrations are checked.
    /// - Throws: a ``DatabaseError`` when the folder cannot be read.
    public mutating func registerMigrations(
        fromFolder path: String, foreignKeyChecks: ForeignKeyChecks = .deferred
    ) throws {
        try registerMigrations(fromFolder: URL(filePath: path), foreignKeyChecks: foreignKeyChecks)
    }

    /// Registers each `.sql` file among the resources of a bundle as a migration, in the order of
    /// the names, as for a folder.
    ///
    /// ```swift
    /// // Package.swift: .target(name: "Game", resources: [.copy("Migrations")])
    /// import Foundation
    ///
    /// try migrator.registerMigrations(fromResources: Bundle.module.resourceURL, subdirectory: "Migrations")
    /// ```
    ///
    /// The method takes the URL instead of the bundle. On Linux, a library that uses `Bundle` makes
    /// each of its programs load all of Foundation.
    ///
    /// - Parameters:
    ///   - resources: The resources of the bundle. It may have none.
    ///   - subdirectory: The folder inside of them. The resources themselves if nil.
    ///   - foreignKeyChecks: The time when the foreign keys are checked.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_CANTOPEN` when the folder cannot be read.
    public mutating func registerMigrations(
        fromResources resources: URL?, subdirectory: String? = nil,
        foreignKeyChecks: ForeignKeyChecks = .deferred
    ) throws {
        guard let resources else {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN,
                message: "the migrations cannot be read: the bundle has no resources")
        }
        try registerMigrations(
            fromFolder: subdirectory.map { resources.appending(path: $0) } ?? resources,
            foreignKeyChecks: foreignKeyChecks)
    }

    private static func text(of file: String) throws -> String {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw DatabaseError(
                resultCode: .SQLITE_CANTOPEN, message: "the file \(file) cannot be read: \(error)")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw DatabaseError(resultCode: .SQLITE_FORMAT, message: "the file \(file) is not UTF-8")
        }
        return text
    }
}

/// The order of numbered files, independent of the language.
enum FileNameOrder {
    /// Whether a name comes before another one. Names are compared byte by byte, except that
    /// adjacent digits form one number.
    static func isBefore(_ a: String, _ b: String) -> Bool {
        var (x, y) = (Substring(a).utf8, Substring(b).utf8)
        while let first = x.first, let second = y.first {
            if isDigit(first), isDigit(second) {
                let (m, n) = (takeNumber(from: &x), takeNumber(from: &y))
                if m.count != n.count { return m.count < n.count }
                if !m.elementsEqual(n) { return m.lexicographicallyPrecedes(n) }
            } else {
                if first != second { return first < second }
                x.removeFirst()
                y.removeFirst()
            }
        }
        // 01 and 1 are the same number. Their order does not matter, but it must always be the
        // same.
        return x.isEmpty == y.isEmpty ? a.utf8.lexicographicallyPrecedes(b.utf8) : x.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    /// Removes the digits at the beginning, and returns them without leading zeros.
    private static func takeNumber(from text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == 48 }
    }
}
