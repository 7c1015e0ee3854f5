import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SQLiteValue {
    /// A copy of the blob, where ``type`` is `SQLITE_BLOB`.
    @inlinable
    public var data: Data { Data(blob) }

    /// A copy of the value, whatever its type.
    public var databaseValue: DatabaseValue {
        switch type {
        case SQLITE_INTEGER: DatabaseValue(.int64(int64))
        case SQLITE_FLOAT: DatabaseValue(.double(double))
        case SQLITE_TEXT: DatabaseValue(.string(string))
        case SQLITE_BLOB: DatabaseValue(.blob(data))
        default: .null
        }
    }
}
