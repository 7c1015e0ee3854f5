// Keeps the databases of released versions as files, and migrates them in a test.

import Foundation
import Shellac

/// The databases of released versions, as small files beside the tests.
///
/// ```swift
/// let images = SchemaImages("Schemas")
///
/// @Test func releasedVersionsAreMigrated() throws {
///     try images.migrate(with: makeMigrator()) { db in try Player.checkSchema(db) }
/// }
/// ```
///
/// When you release a version, call ``record(_:of:)`` once, and commit the file.
public struct SchemaImages: Sendable {
    private let folder: URL

    /// - Parameters:
    ///   - folder: The folder of the files, beside the file of the caller.
    ///   - file: A file in the folder around it.
    public init(_ folder: String, file: String = #filePath) {
        self.folder = URL(filePath: file).deletingLastPathComponent().appending(path: folder)
    }

    /// The recorded versions, in the order of their numbers.
    public var versions: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(".sqlite") }.map { String($0.dropLast(".sqlite".count)) }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    /// Writes the image of a version, with the rows of the template.
    ///
    /// - Parameters:
    ///   - version: The version, such as `1.2`.
    ///   - template: A database that this version has made.
    /// - Throws: a ``SchemaImageFailure`` if the version has an image, which must not change.
    public func record(_ version: String, of template: DatabaseTemplate) throws {
        guard !versions.contains(version) else {
            throw SchemaImageFailure(
                version: version, reason: "it has an image, which must stay as it was released")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try template.makeQueue().inDatabase { db in
            try db.execute(sql: "VACUUM INTO ?", arguments: [path(version)])
        }
    }

    /// Migrates a copy of each image, and compares its schema with the one that the migrations make
    /// of an empty database.
    ///
    /// - Parameters:
    ///   - migrator: The migrations.
    ///   - configuration: The configuration of the copies.
    ///   - check: Checks each migrated copy.
    /// - Returns: The migrated versions.
    /// - Throws: a ``SchemaImageFailure`` that names the version, also if there is no image.
    @discardableResult
    public func migrate(
        with migrator: DatabaseMigrator, configuration: Configuration = Configuration(),
        check: (Database) throws -> Void = { _ in }
    ) throws -> [String] {
        let versions = versions
        if versions.isEmpty {
            throw SchemaImageFailure(version: "none", reason: "there are no images in \(folder.path)")
        }
        for version in versions {
            func failure(_ reason: String) -> SchemaImageFailure {
                SchemaImageFailure(version: version, reason: reason)
            }
            var readOnly = Configuration()
            readOnly.readonly = true
            let copy = try DatabaseQueue(configuration: configuration)
            do {
                try DatabaseQueue(path: path(version), configuration: readOnly).backup(to: copy)
            } catch {
                throw failure("its image cannot be read: \(error)")
            }
            guard try !copy.inDatabase(migrator.hasBeenSuperseded) else {
                throw failure("it has migrations that this migrator does not know")
            }
            do { try migrator.migrate(copy) } catch { throw failure("its migration has failed: \(error)") }
            try copy.inDatabase { db in
                guard try !migrator.hasSchemaChanges(db) else {
                    throw failure(
                        "the migrated schema differs from that of an empty database that is migrated")
                }
                do { try db.checkForeignKeys() } catch {
                    throw failure("foreign keys are violated: \(error)")
                }
                do { try check(db) } catch { throw failure("the check has failed: \(error)") }
            }
        }
        return versions
    }

    private func path(_ version: String) -> String { folder.appending(path: version + ".sqlite").path }
}

/// An image that could not be recorded or migrated.
public struct SchemaImageFailure: Error, CustomStringConvertible {
    /// The version of the image.
    public let version: String
    /// The reason.
    public let reason: String

    public var description: String { "version \(version): \(reason)" }
}
