#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension SQLiteValue {
    /// A copy of the blob, where the ``storageClass`` is `blob`.
    @inlinable
    public var data: Data { Data(blob) }

    /// A copy of the value, whatever its class.
    public var databaseValue: DatabaseValue {
        switch storageClass {
        case .integer: DatabaseValue(.int64(int64))
        case .real: DatabaseValue(.double(double))
        case .text: DatabaseValue(.string(string))
        case .blob: DatabaseValue(.blob(data))
        case .null: .null
        }
    }
}
