// Loadable SQLite extensions: loaded once per process, or again into each new connection.

import CSQLite
import Synchronization

extension Database {
    /// Loads an SQLite extension for connections that are opened later. It may contain a VFS, or
    /// functions in C.
    ///
    /// ```swift
    /// try Database.loadExtension("libcephsqlite.so")
    /// ```
    ///
    /// The extension's code runs in the process, with all the process's rights, so only load code
    /// you trust. SQL cannot load extensions, since the SQL function `load_extension()` stays off.
    /// Loading the same extension again does nothing.
    ///
    /// - Parameters:
    ///   - path: The path of a dynamic library, or a name that the system's loader finds.
    ///   - entryPoint: The name of the function that SQLite calls. If nil, SQLite derives it from
    ///     the file name. See "Run-Time Loadable Extensions" in the SQLite documentation.
    /// - Throws: a ``DatabaseError`` that names the extension and the reason. It also throws if the
    ///   running SQLite was compiled without extensions, as on Apple's systems.
    public static func loadExtension(_ path: String, entryPoint: String? = nil) throws {
        ErrorLog.install()
        try LoadedExtensions.add(LoadedExtension(path: path, entryPoint: entryPoint))
    }
}

/// An SQLite extension that the program has loaded.
struct LoadedExtension: Hashable, Sendable {
    let path: String
    let entryPoint: String?

    /// Loads the extension into a connection.
    func load(into connection: OpaquePointer) throws {
        guard !path.utf8.contains(0), entryPoint?.utf8.contains(0) != true else {
            throw failure(SQLITE_ERROR, "there is a NUL character in its name")
        }
        guard let load = Features.loadExtension else { throw failure(SQLITE_ERROR, Features.noExtensions) }
        // Only enable the C function, and not the SQL function.
        _ = shellac_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
        defer { _ = shellac_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0) }
        var text: UnsafeMutablePointer<CChar>?
        let code = load(connection, path, entryPoint, &text)
        defer { sqlite3_free(text) }
        guard code == SQLITE_OK else {
            throw failure(code, text.map { String(cString: $0) } ?? "SQLite reports no reason")
        }
    }

    /// Whether the library is loaded into the process. It remains loaded if the extension requests
    /// this, as one with a VFS does.
    var isResident: Bool {
        // SQLite adds the suffix if there is no such file.
        for path in [path, path + ".so", path + ".dylib"] {
            guard let library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD) else { continue }
            dlclose(library)
            return true
        }
        return false
    }

    private func failure(_ code: Int32, _ reason: String) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: code), message: "could not load the extension \(path): \(reason)"
        )
    }
}

/// The extensions that the program has loaded.
///
/// An extension that registers something for the whole process, such as a VFS, asks SQLite to stay
/// loaded. It need not be loaded again. Any other extension only affects the connection it is
/// loaded into, so each later connection loads it again.
enum LoadedExtensions {
    private static let known = Lock<Set<LoadedExtension>>([])
    /// The extensions that each connection loads, in order.
    private static let repeated = Lock<[LoadedExtension]>([])
    private static let hasRepeated = Atomic<Bool>(false)

    static func add(_ added: LoadedExtension) throws {
        if known.withLock({ $0.contains(added) }) { return }
        let wasResident = added.isResident
        do {
            let handle = try ConnectionHandle(path: ":memory:", flags: SQLITE_OPEN_READWRITE)
            try added.load(into: handle.pointer)
        }
        // If the library was in the process before, it is unknown whether the extension has asked
        // to stay.
        let staysByItself = !wasResident && added.isResident
        guard known.withLock({ $0.insert(added).inserted }), !staysByItself else { return }
        repeated.withLock { $0.append(added) }
        hasRepeated.store(true, ordering: .releasing)
    }

    /// Loads the extensions into a connection that was just opened.
    static func load(into connection: OpaquePointer) throws {
        guard hasRepeated.load(ordering: .acquiring) else { return }
        for loaded in repeated.withLock({ $0 }) { try loaded.load(into: connection) }
    }
}

extension Features {
    typealias LoadExtension =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32

    /// `sqlite3_load_extension()`, if available.
    static var loadExtension: LoadExtension? {
        guard !hiddenOptions.get().contains("LOAD_EXTENSION") else { return nil }
        return symbol("sqlite3_load_extension").map { unsafeBitCast($0, to: LoadExtension.self) }
    }

    static var noExtensions: String {
        "SQLite \(String(cString: sqlite3_libversion())), which is running, was compiled with SQLITE_OMIT_LOAD_EXTENSION"
    }
}
