// The operations of a storage, and the one that is to fail.

import CSQLite

extension FaultyStorage {
    /// An operation of the storage that SQLite requests.
    package enum Operation: Int32, CaseIterable, Sendable {
        case open, delete, read, write, truncate, sync, size, lock, map, lockMap

        /// The error of an operation that fails.
        package var failure: Int32 {
            switch self {
            case .open: SQLITE_CANTOPEN
            case .delete: SQLITE_IOERR | 10 << 8
            case .read: SQLITE_IOERR | 1 << 8
            case .write: SQLITE_IOERR | 3 << 8
            case .truncate: SQLITE_IOERR | 6 << 8
            case .sync: SQLITE_IOERR | 4 << 8
            case .size: SQLITE_IOERR | 7 << 8
            case .lock: SQLITE_IOERR | 15 << 8
            case .map: SQLITE_IOERR | 21 << 8
            case .lockMap: SQLITE_IOERR | 20 << 8
            }
        }
    }

    /// A fault of the storage, which is yet to come.
    package struct Fault: Sendable {
        /// The operations that are counted, and that fail.
        package var operations: Set<Operation>
        /// The number of those that succeed before.
        package var count: Int
        /// Whether all operations fail from then on, and not just one.
        package var lasts: Bool
        /// The error. Nil for that of the operation.
        package var code: Int32?

        package init(_ operations: Set<Operation>, after count: Int, lasts: Bool = false, code: Int32? = nil)
        {
            (self.operations, self.count, self.lasts, self.code) = (operations, count, lasts, code)
        }

        /// A fault of all these operations from now on.
        package static func lasting(_ operations: Set<Operation>) -> Fault {
            Fault(operations, after: 0, lasts: true)
        }
    }
}
