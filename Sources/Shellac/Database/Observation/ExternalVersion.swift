// Detects other connections' commits: PRAGMA data_version, else a custom value or a checksum.

import CSQLite

/// The values that are compared to detect commits of other connections.
///
/// Usually this is the number of `PRAGMA data_version`, which changes only with their commits. Some
/// VFS make SQLite believe at each check that the file has changed, such as those that present the
/// current state of a replica. So the number is read twice in a row. If it differs, it is not
/// trusted. The user's value is then compared instead, or else the content of the database, unless
/// that is too large.
struct ExternalVersion: Sendable {
    typealias Comparison = @Sendable (Database) throws -> DatabaseValue?

    /// The user's comparison.
    private let comparison: Comparison?
    private var number: Int64?
    /// The value that is compared if the number keeps changing.
    private var content: Content?

    private enum Content: Hashable {
        case value(DatabaseValue?)
        case sum(UInt64)
    }

    /// The largest content that is compared. It is read completely each time, which takes some
    /// milliseconds.
    static var largestContent: Int64 { 16 << 20 }

    init(comparing comparison: Comparison? = nil) { self.comparison = comparison }

    /// Reads the current version of the database.
    init(of db: Database, comparing comparison: Comparison? = nil) throws {
        self.comparison = comparison
        _ = try hasChanged(db)
    }

    /// Checks the database. Returns whether others have committed since the last call. Does not
    /// wait for a lock.
    mutating func hasChanged(_ db: Database) throws -> Bool {
        let (old, present) = (number, try db.dataVersionWithoutWaiting)
        number = present
        if present == old { return false }
        let again = try db.dataVersionWithoutWaiting
        guard again != present else {
            defer { content = nil }
            return old != nil
        }
        number = again
        let known = content
        content = try db.withoutWaiting {
            try comparison.map { .value(try $0(db)) } ?? db.contentSum.map { .sum($0) }
        }
        if old == nil { return false }
        return content == nil || content != known
    }
}

extension Database {
    /// The number that changes with other connections' commits. Reading it does not wait for a
    /// lock.
    var dataVersionWithoutWaiting: Int64 {
        get throws {
            try asking {
                try withoutWaiting { try Int64.fetchOne(cachedStatement(sql: "PRAGMA data_version")) ?? 0 }
            }
        }
    }

    /// A checksum of all bytes of the database. Nil if there are too many, or SQLite cannot provide
    /// them.
    ///
    /// The counters of commits in the header are left out, because they are what keeps changing
    /// ("The Database Header" in the SQLite documentation).
    fileprivate var contentSum: UInt64? {
        get throws {
            guard let serialize = Features.serialize else { return nil }
            func number(_ pragma: String) throws -> Int64 {
                try asking { try Int64.fetchOne(cachedStatement(sql: "PRAGMA main.\(pragma)")) ?? 0 }
            }
            let (pages, size) = try (number("page_count"), number("page_size"))
            guard pages * size <= ExternalVersion.largestContent else { return nil }
            var count: Int64 = 0
            guard let bytes = serialize(pointer, "main", &count, 0) else { return nil }
            defer { sqlite3_free(bytes) }
            if count >= 100 {
                for place in [24, 25, 26, 27, 92, 93, 94, 95] { bytes[place] = 0 }
            }
            // (SQLite's memory is aligned, and a database consists of whole pages.)
            let words = UnsafeRawBufferPointer(start: bytes, count: Int(count) & ~7).assumingMemoryBound(
                to: UInt64.self)
            return words.reduce(UInt64(count)) { ($0 ^ $1) &* 0x9E37_79B9_7F4A_7C15 ^ $0 >> 29 }
        }
    }
}

extension Features {
    typealias Serialize =
        @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafeMutablePointer<Int64>?, UInt32) ->
        UnsafeMutablePointer<UInt8>?

    /// The function `sqlite3_serialize()`, if available.
    static var serialize: Serialize? {
        guard !hiddenOptions.get().contains("DESERIALIZE") else { return nil }
        return symbol("sqlite3_serialize").map { unsafeBitCast($0, to: Serialize.self) }
    }
}
