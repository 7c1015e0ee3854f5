// Copies of a value in SQLite's memory, as DatabaseValue or Data.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SQLiteValue {
    /// A copy of the blob, if the ``storageClass`` is `blob`.
    @inlinable
    public var data: Data { Data(bytes) }

    /// A copy of the value, whatever its class.
    public var databaseValue: DatabaseValue { fetched.databaseValue }
}
