import Foundation
import TestSupport
import Testing

@testable import Shellac

/// A compiler of C, if there is one.
private enum Compiler {
    static let path = ["/usr/bin/cc", "/usr/bin/gcc", "/usr/bin/clang"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The source of an extension with a function `answer()`, which says that it stays or does not.
    static func source(name: String, result: String, before: String = "") -> String {
        """
        #include <sqlite3ext.h>
        SQLITE_EXTENSION_INIT1
        static void answer(sqlite3_context *c, int n, sqlite3_value **v) { sqlite3_result_int(c, 42); }
        static void add(sqlite3 *db) { sqlite3_create_function(db, "answer", 0, SQLITE_UTF8, 0, answer, 0, 0); }
        int \(name)(sqlite3 *db, char **message, const sqlite3_api_routines *api) {
            SQLITE_EXTENSION_INIT2(api);
            \(before)
            add(db);
            return \(result);
        }
        """
    }

    /// Compiles an extension, and returns its path.
    static func compile(_ source: String, named name: String, in folder: TemporaryFolder) throws -> String {
        let (file, library) = (folder.path("\(name).c"), folder.path("\(name).so"))
        try source.write(toFile: file, atomically: true, encoding: .utf8)
        let process = ChildProcess()
        process.executableURL = URL(filePath: path ?? "")
        process.arguments = ["-shared", "-fPIC", "-o", library, file]
        try process.start()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestError(Int(process.terminationStatus)) }
        return library
    }
}

@Suite("Extensions of SQLite", .behaviour(106))
struct LoadedExtensionsTests {
    @Test("An extension that is missing is named, with the reason of the loader")
    func missing() throws {
        let error = try #require(databaseError { try Database.loadExtension("/nowhere/nope.so") })
        let message = try #require(error.message)
        #expect(message.hasPrefix("could not load the extension /nowhere/nope.so: /nowhere/nope.so"))
        #expect(message.contains("No such file"), "\(message)")
        for (path, entryPoint) in [("a\0b", nil), ("/nowhere/nope.so", "a\0b")] as [(String, String?)] {
            let error = databaseError { try Database.loadExtension(path, entryPoint: entryPoint) }
            #expect(
                error?.message == "could not load the extension \(path): there is a NUL character in its name"
            )
        }
    }

    @Test("A library without the entry point is none", .enabled(if: Compiler.path != nil))
    func withoutEntryPoint() throws {
        let folder = try TemporaryFolder()
        let library = try Compiler.compile("int nothing(void) { return 1; }", named: "nothing", in: folder)
        let error = databaseError { try Database.loadExtension(library) }
        #expect(
            error?.message?.contains("sqlite3_nothing_init") == true,
            "\(String(describing: error))")
        let other = databaseError { try Database.loadExtension(library, entryPoint: "other") }
        #expect(other?.message?.contains("undefined symbol: other") == true)
    }

    @Test("An extension that refuses the running SQLite says why", .enabled(if: Compiler.path != nil))
    func otherSQLite() throws {
        let folder = try TemporaryFolder()
        let source = Compiler.source(
            name: "sqlite3_refusing_init", result: "SQLITE_OK",
            before: """
                *message = sqlite3_mprintf("made for SQLite %s", "99.1");
                return SQLITE_ERROR;
                """)
        let library = try Compiler.compile(source, named: "refusing", in: folder)
        let error = databaseError { try Database.loadExtension(library) }
        #expect(
            error?.message
                == "could not load the extension \(library): error during initialization: made for SQLite 99.1"
        )
    }

    @Test("Where SQLite was compiled without extensions, that is said")
    func withoutExtensions() throws {
        let error = Features.hiddenOptions.withValue(["LOAD_EXTENSION"]) {
            databaseError { try Database.loadExtension("libcephsqlite.so") }
        }
        #expect(
            error?.message?.hasSuffix("which is running, was compiled with SQLITE_OMIT_LOAD_EXTENSION")
                == true)
    }

    @Test("The SQL function stays off")
    func sqlFunction() throws {
        let error = try #require(
            databaseError {
                try DatabaseQueue().inDatabase { db in
                    try db.execute(sql: "SELECT load_extension('/nowhere/nope.so')")
                }
            })
        #expect(error.message == "not authorized")
    }

    // A loaded extension stays in the process, so these tests have a process of their own.

    @Test(
        "The connections that are opened later have its functions, also those of a pool",
        .enabled(if: Compiler.path != nil))
    func functions() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let library = try Compiler.compile(
                Compiler.source(name: "sqlite3_adding_init", result: "SQLITE_OK"), named: "adding", in: folder
            )
            let before = try DatabaseQueue()
            for _ in 1...2 { try Database.loadExtension(library) }
            let earlier = databaseError {
                try before.inDatabase { db in try db.execute(sql: "SELECT answer()") }
            }
            #expect(earlier?.message == "no such function: answer")
            let queue = try DatabaseQueue()
            try #expect(queue.read { db in try Int.fetchOne(db, sql: "SELECT answer()") } == 42)
            let pool = try DatabasePool(path: folder.path("a.sqlite"))
            try #expect(pool.read { db in try Int.fetchOne(db, sql: "SELECT answer()") } == 42)
            try #expect(pool.write { db in try Int.fetchOne(db, sql: "SELECT answer()") } == 42)
            let off = databaseError {
                try queue.inDatabase { db in try db.execute(sql: "SELECT load_extension('\(library)')") }
            }
            #expect(off?.message == "not authorized")
            // If one is gone from the disk, opening a database throws an error that names it.
            try FileManager.default.removeItem(atPath: library)
            (_, _) = (before, try? pool.close())
            let gone = databaseError { _ = try DatabaseQueue() }
            #expect(
                gone == nil
                    || gone?.message?.hasPrefix(
                        "could not open the database at :memory:: could not load the extension \(library)")
                        == true
            )
        }
    }

    @Test(
        "One that stays in the process is loaded once, by its entry point", .enabled(if: Compiler.path != nil)
    )
    func staying() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let source = Compiler.source(
                name: "begin", result: "SQLITE_OK_LOAD_PERMANENTLY",
                before:
                    "sqlite3_auto_extension((void (*)(void))add); static int count; if (count++) return SQLITE_ERROR;"
            )
            let library = try Compiler.compile(source, named: "staying", in: folder)
            for _ in 1...2 { try Database.loadExtension(library, entryPoint: "begin") }
            for _ in 1...2 {
                try #expect(DatabaseQueue().read { db in try Int.fetchOne(db, sql: "SELECT answer()") } == 42)
            }
        }
    }
}
