// Run-time checks of SQLite: version, compile options, optional functions, WAL-reset bug.

import CSQLite

/// The features of the running SQLite. They are determined at run time: the running library may
/// differ from the header that was used for compilation.
package enum Features {
    /// The version of the running SQLite as a number, such as 3040001.
    static let versionNumber = Int(sqlite3_libversion_number())

    /// The oldest version of SQLite that Shellac supports.
    static let oldestVersionNumber = 3_035_000

    /// Whether the running SQLite has the WAL-reset bug: see ``LogResetGuard``.
    package static let hasLogResetFault = hasLogResetFault(in: versionNumber)

    /// A description of the running SQLite: "SQLite 3.40.1 is running. It has the WAL-reset fault".
    package static let sentence =
        "SQLite \(String(cString: sqlite3_libversion())) is running. It has \(hasLogResetFault ? "the" : "no") WAL-reset fault"

    /// Whether the given version of SQLite has the WAL-reset bug. It was introduced in 3.7.0 and
    /// fixed in 3.51.3. The fix was backported to 3.50.7 and 3.44.6.
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

    /// Options that are treated as missing, so that tests can simulate a lesser SQLite.
    static let hiddenOptions = TaskLocal<Set<String>>(wrappedValue: [])

    /// Returns the error for a feature that the running SQLite lacks.
    ///
    /// - Parameters:
    ///   - feature: The requested feature: "the values of changed rows".
    ///   - option: The compile option that SQLite needs, without its `SQLITE_` prefix.
    static func missing(_ option: String, for feature: String) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_ERROR,
            message:
                "\(feature): SQLite \(String(cString: sqlite3_libversion())), which is running, was compiled "
                + "without SQLITE_\(option)")
    }

    /// `sqlite3_db_name()`, if available (3.39 and newer).
    static let databaseName: (@convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?)? =
        symbol("sqlite3_db_name").map {
            unsafeBitCast(
                $0, to: (@convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?).self)
        }

    /// `sqlite3_error_offset()`, if available.
    static let errorOffset: shellac_error_offset_function? =
        symbol("sqlite3_error_offset").map { unsafeBitCast($0, to: shellac_error_offset_function.self) }

    /// Returns a function of the running SQLite, or nil if it is missing.
    static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        shellac_symbol(name)
    }
}
