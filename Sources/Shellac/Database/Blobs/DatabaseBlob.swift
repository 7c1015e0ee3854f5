// A blob that is read and written in pieces.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A blob of a row, which is read and written in pieces and never in memory as a whole.
///
/// ```swift
/// let beginning = try db.readBlob("content", of: "file", rowID: 7) { blob in
///     try blob.read(0..<min(blob.count, 1024))
/// }
/// ```
///
/// Get one from ``Database/readBlob(_:of:rowID:in:_:)`` or
/// ``Database/writeBlob(_:of:rowID:count:in:_:)``. It is valid inside of their functions only.
///
/// A statement that changes the row, or deletes it, makes the blob expire: the next operation
/// throws an error of code `SQLITE_ABORT`. The number of bytes never changes while a blob is open.
///
/// See "sqlite3_blob_open" in the SQLite documentation.
public struct DatabaseBlob: ~Copyable {
    private let handle: Handle

    init(_ handle: Handle) { self.handle = handle }

    /// The number of bytes.
    public var count: Int { handle.count }

    /// The row of the blob.
    public var rowID: Int64 { handle.rowID }

    /// Reads some of the bytes.
    ///
    /// - Parameter range: The bytes, of which the first one is 0.
    /// - Throws: A ``DatabaseError`` if the range is not within the blob, or if it has expired.
    public func read(_ range: Range<Int>) throws -> Data {
        try handle.check(range)
        guard !range.isEmpty else { return Data() }
        var data = Data(count: range.count)
        try data.withUnsafeMutableBytes { bytes in try handle.read(range.lowerBound, bytes) }
        return data
    }

    /// Reads bytes into memory of the caller.
    ///
    /// - Parameters:
    ///   - bytes: The memory, which is filled.
    ///   - offset: The first byte to read.
    /// - Throws: A ``DatabaseError`` if the bytes are not within the blob, or if it has expired.
    public func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        try handle.check(offset, bytes.count)
        try handle.read(offset, bytes)
    }

    /// Reads all bytes, one piece after the other.
    ///
    /// ```swift
    /// try db.readBlob("content", of: "file", rowID: 7) { blob in
    ///     try blob.forEachPiece { piece in try file.write(contentsOf: piece) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - size: The number of bytes of a piece. The last one may be smaller.
    ///   - body: A function that gets each piece.
    /// - Throws: Errors of the function, and of ``read(_:)``.
    public func forEachPiece(ofSize size: Int = 65_536, _ body: (Data) throws -> Void) throws {
        if size < 1 { Misuse.trap("a blob has no pieces of \(size) bytes.") }
        var offset = 0
        while offset < count {
            let end = min(count, offset + size)
            try body(try read(offset..<end))
            offset = end
        }
    }

    /// Writes bytes over those of the blob.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to write.
    ///   - offset: The first byte to replace.
    /// - Throws: A ``DatabaseError`` if the bytes do not fit into the blob, if it was opened for
    ///   reading, or if it has expired.
    public func write(_ bytes: Data, at offset: Int) throws {
        try bytes.withUnsafeBytes { bytes in try write(bytes, at: offset) }
    }

    /// Writes bytes over those of the blob.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to write.
    ///   - offset: The first byte to replace.
    /// - Throws: The errors of the form that takes `Data`.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws {
        try handle.check(offset, bytes.count)
        try handle.write(offset, bytes)
    }

    /// Goes to the same column of another row, which is faster than opening another blob.
    ///
    /// - Parameter rowID: The row.
    /// - Throws: A ``DatabaseError`` if there is no such row, or if its value is no blob. Then this
    ///   blob has expired.
    public func move(toRow rowID: Int64) throws { try handle.move(to: rowID) }
}

extension DatabaseBlob {
    /// The owner of SQLite's handle.
    final class Handle {
        private let database: Database
        private let place: Place
        private let isWritable: Bool
        private var pointer: OpaquePointer?
        private(set) var rowID: Int64
        private(set) var count = 0

        /// The column that a blob belongs to.
        struct Place {
            let schema: String
            let table: String
            let column: String
        }

        init(_ database: Database, _ place: Place, rowID: Int64, isWritable: Bool) throws {
            (self.database, self.place, self.rowID, self.isWritable) = (database, place, rowID, isWritable)
            let code = sqlite3_blob_open(
                database.pointer, place.schema, place.table, place.column, rowID, isWritable ? 1 : 0, &pointer
            )
            guard code == SQLITE_OK else { throw failure(code) }
            noteCount()
        }

        /// Notes the number of bytes, which SQLite forgets when the blob expires.
        private func noteCount() { count = pointer.map { Int(sqlite3_blob_bytes($0)) } ?? 0 }

        func check(_ range: Range<Int>) throws { try check(range.lowerBound, range.count) }

        /// Throws an error if bytes are not within the blob.
        func check(_ offset: Int, _ number: Int) throws {
            guard offset < 0 || number > count - offset else { return }
            throw error(
                .SQLITE_RANGE,
                "bytes from \(offset) to \(offset &+ number) are not within it: it has \(count)")
        }

        func read(_ offset: Int, _ bytes: UnsafeMutableRawBufferPointer) throws {
            try run { sqlite3_blob_read($0, bytes.baseAddress, Int32(bytes.count), Int32(offset)) }
        }

        func write(_ offset: Int, _ bytes: UnsafeRawBufferPointer) throws {
            guard isWritable else {
                throw error(.SQLITE_READONLY, "it was opened for reading: use writeBlob")
            }
            try run { sqlite3_blob_write($0, bytes.baseAddress, Int32(bytes.count), Int32(offset)) }
        }

        func move(to rowID: Int64) throws {
            self.rowID = rowID
            try run { sqlite3_blob_reopen($0, rowID) }
            noteCount()
        }

        private func run(_ body: (OpaquePointer) -> Int32) throws {
            database.checkAccess()
            // No statement runs that could be interrupted.
            try database.checkObstruction(for: nil)
            guard let pointer else { throw failure(SQLITE_ABORT) }
            let code = body(pointer)
            if code != SQLITE_OK { throw failure(code) }
        }

        /// Closes the blob. The pages it has written belong to the transaction.
        func close() {
            sqlite3_blob_close(pointer)
            pointer = nil
        }

        private func failure(_ code: Int32) -> any Error {
            if code & 0xFF == SQLITE_ABORT {
                return error(
                    .SQLITE_ABORT,
                    "it has expired: its row was changed or deleted since it was opened, its transaction has "
                        + "ended, or it was moved to a row that is not there")
            }
            guard let failure = database.failure(code) as? DatabaseError else {
                return database.failure(code)
            }
            return error(failure.extendedResultCode, failure.message ?? "")
        }

        private func error(_ code: ResultCode, _ reason: String) -> DatabaseError {
            DatabaseError(
                resultCode: code,
                message: "the blob \(place.table).\(place.column) of row \(rowID): \(reason)")
        }
    }
}
