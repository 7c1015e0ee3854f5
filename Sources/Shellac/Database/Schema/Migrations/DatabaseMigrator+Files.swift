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
    /// The whole name of the file, `2-addAge.sql`, is the name of the migration. Numbers inside the names count as
    /// numbers: 2 comes before 10. Other files, those whose names begin with a dot, and the folders inside are passed
    /// over.
    ///
    /// A file is read when its migration runs. It may hold any number of statements, and none that begins or ends a
    /// transaction.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - foreignKeyChecks: When the foreign keys of the migrations are checked.
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

    /// Registers each `.sql` file of the folder at a path as a migration, in the order of the names, as for a URL.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - foreignKeyChecks: When the foreign keys of the migrations are checked.
    /// - Throws: a ``DatabaseError`` when the folder cannot be read.
    public mutating func registerMigrations(
        fromFolder path: String, foreignKeyChecks: ForeignKeyChecks = .deferred
    ) throws {
        try registerMigrations(fromFolder: URL(filePath: path), foreignKeyChecks: foreignKeyChecks)
    }

    /// Registers each `.sql` file among the resources of a bundle as a migration, in the order of the names, as for a
    /// folder.
    ///
    /// ```swift
    /// // Package.swift: .target(name: "Game", resources: [.copy("Migrations")])
    /// import Foundation
    ///
    /// try migrator.registerMigrations(fromResources: Bundle.module.resourceURL, subdirectory: "Migrations")
    /// ```
    ///
    /// It takes the URL, and not the bundle: a library that knows `Bundle` makes each program that uses it load all
    /// of Foundation, on Linux.
    ///
    /// - Parameters:
    ///   - resources: The resources of the bundle, which may have none.
    ///   - subdirectory: The folder inside of them; the resources themselves if nil.
    ///   - foreignKeyChecks: When the foreign keys are checked.
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

/// The order of numbered files, which is the same in all languages.
enum FileNameOrder {
    /// Whether a name comes before another one: byte by byte, where digits that stand together are one number.
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
        // 01 and 1 are the same number: any order, but always the same one.
        return x.isEmpty == y.isEmpty ? a.utf8.lexicographicallyPrecedes(b.utf8) : x.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    /// Takes the digits at the beginning, and returns them without leading zeros.
    private static func takeNumber(from text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text[digits.endIndex...]
        return digits.drop { $0 == 48 }
    }
}
