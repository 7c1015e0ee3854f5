// Run-time checks of SQLite: version, compile options, optional functions, WAL-reset bug.

import CSQLite

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The features of the running SQLite. They are asked for at run time: the library that runs may differ from the header
/// that was compiled against.
package enum Features {
    /// The version of the running SQLite, as a number: 3040001.
    static let versionNumber = Int(sqlite3_libversion_number())

    /// The oldest SQLite that Shellac works with.
    static let oldestVersionNumber = 3_035_000

    /// Whether the running SQLite has the WAL-reset fault: see ``LogResetGuard``.
    package static let hasLogResetFault = hasLogResetFault(in: versionNumber)

    /// The running SQLite, in words: "SQLite 3.40.1 is running. It has the WAL-reset fault".
    package static let sentence =
        "SQLite \(String(cString: sqlite3_libversion())) is running. It has \(hasLogResetFault ? "the" : "no") WAL-reset fault"

    /// Whether an SQLite of some version has the WAL-reset fault. It came with 3.7.0. The cure came with 3.51.3, and was taken back
    /// to 3.50.7 and to 3.44.6.
    static func hasLogResetFault(in version: Int) -> Bool {
        switch version {
        case ..<3_007_000, 3_044_006..<3_045_000, 3_050_007..<3_051_000, 3_051_003...: false
        default: true
        }
    }

    /// Whether the running SQLite was compiled with an option, such as `ENABLE_PREUPDATE_HOOK`.
    static func isCompiled(with option: String) -> Bool {
        !hiddenOptions.get().contains(option) && sqlite3_compileoption_used(option) != 0
    }

    /// Options that are taken for missing: tests run as on a lesser SQLite.
    static let hiddenOptions = TaskLocal<Set<String>>(wrappedValue: [])

    /// Returns the error of who asks for what the running SQLite lacks.
    ///
    /// - Parameters:
    ///   - feature: What was asked for: "the values of changed rows".
    ///   - option: The option that SQLite would have to be compiled with, without its `SQLITE_`.
    static func missing(_ option: String, for feature: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ERROR,
            message:
                "\(feature): SQLite \(String(cString: sqlite3_libversion())), which is running, was compiled "
                + "without SQLITE_\(option)")
    }

    /// `sqlite3_db_name()`, where there is one (3.39 and newer).
    static let databaseName: (@convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?)? =
        symbol("sqlite3_db_name").map {
            unsafeBitCast(
                $0, to: (@convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?).self)
        }

    /// `sqlite3_error_offset()`, where there is one.
    static let errorOffset: shellac_error_offset_function? =
        symbol("sqlite3_error_offset").map { unsafeBitCast($0, to: shellac_error_offset_function.self) }

    /// Returns a function of the running SQLite, or nil where it lacks it.
    static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        #if canImport(Darwin)
        let anywhere = UnsafeMutableRawPointer(bitPattern: -2)  // RTLD_DEFAULT
        #else
        let anywhere: UnsafeMutableRawPointer? = nil  // RTLD_DEFAULT
        #endif
        return dlsym(anywhere, name)
    }
}
