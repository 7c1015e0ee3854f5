import CSQLite

extension FaultyStorage {
    /// An operation of the storage that SQLite requests.
    public enum Operation: Int32, CaseIterable, Sendable {
        case open, delete, read, write, truncate, sync, size, lock, map, lockMap

        /// The error of an operation that fails.
        public var failure: Int32 {
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

    /// A future fault of the storage.
    public struct Fault: Sendable {
        /// The operations that count, and that fail.
        public var operations: Set<Operation>
        /// The number of these operations that succeed before.
        public var count: Int
        /// Whether all later operations fail as well.
        public var lasts: Bool
        /// The error. Nil means the error of the operation.
        public var code: Int32?

        public init(_ operations: Set<Operation>, after count: Int, lasts: Bool = false, code: Int32? = nil) {
            (self.operations, self.count, self.lasts, self.code) = (operations, count, lasts, code)
        }

        /// A fault of all these operations from now on.
        public static func lasting(_ operations: Set<Operation>) -> Fault {
            Fault(operations, after: 0, lasts: true)
        }
    }
}
