// Detects other connections' commits: PRAGMA data_version, else a custom value or a checksum.

import CSQLite

/// What is compared to find out whether other connections have committed.
///
/// Mostly, that is the number of `PRAGMA data_version`, which changes with their commits alone. There are VFS which have SQLite
/// believe, each time that it looks, that the file has changed: those that give the present state of a replica. It is asked
/// twice in a row, and a number that does not stand still is not believed: something else is compared, what the user has said, or
/// else the content of the database, unless that is too large.
struct ExternalVersion: Sendable {
    typealias Comparison = @Sendable (Database) throws -> DatabaseValue?

    /// What the user compares.
    private let comparison: Comparison?
    private var number: Int64?
    /// What is compared where the number does not stand still.
    private var content: Content?

    private enum Content: Hashable {
        case value(DatabaseValue?)
        case sum(UInt64)
    }

    /// The size up to which the content is compared: it is read as a whole, some milliseconds each time.
    static var largestContent: Int64 { 16 << 20 }

    init(comparing comparison: Comparison? = nil) { self.comparison = comparison }

    /// Looks at the database, as it is now.
    init(of db: Database, comparing comparison: Comparison? = nil) throws {
        self.comparison = comparison
        _ = try hasChanged(db)
    }

    /// Looks at the database. Returns whether others have committed since this was asked last. A lock is not waited for.
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
    /// The number that other connections' commits change. A lock is not waited for.
    var dataVersionWithoutWaiting: Int64 {
        get throws {
            try asking {
                try withoutWaiting { try Int64.fetchOne(cachedStatement(sql: "PRAGMA data_version")) ?? 0 }
            }
        }
    }

    /// A sum of all bytes of the database, or nil where it has too many of them, or SQLite cannot give them.
    ///
    /// The numbers in the header that count commits are left out: those are what does not stand still ("The Database Header" in the SQLite
    /// documentation).
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
            // (SQLite's memory is aligned, and a database has whole pages.)
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

    /// `sqlite3_serialize()`, where there is one.
    static var serialize: Serialize? {
        guard !hiddenOptions.get().contains("DESERIALIZE") else { return nil }
        return symbol("sqlite3_serialize").map { unsafeBitCast($0, to: Serialize.self) }
    }
}
