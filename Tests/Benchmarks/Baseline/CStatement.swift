import CSQLite
import Foundation

/// A prepared statement of the baseline, which keeps it from run to run. Its methods are code as it
/// is written by hand. They are inlined into the caller's loop, so that only the calls of the C API
/// are left.
///
/// Each value has the type of its column: unlike Shellac, the baseline does not look.
struct CStatement {
    private let pointer: OpaquePointer
    private let owner: Owner

    /// Frees the statement, and keeps its connection.
    private final class Owner {
        let pointer: OpaquePointer
        let connection: CConnection
        init(_ pointer: OpaquePointer, _ connection: CConnection) {
            (self.pointer, self.connection) = (pointer, connection)
        }
        deinit { sqlite3_finalize(pointer) }
    }

    init(_ pointer: OpaquePointer, of connection: CConnection) {
        self.pointer = pointer
        owner = Owner(pointer, connection)
    }

    /// Goes to the next row. After the last one, the statement is ready to run again.
    @inline(__always)
    func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        if code == SQLITE_ROW { return true }
        reset()
        guard code == SQLITE_DONE else { throw CError(code: code, message: "a statement failed") }
        return false
    }

    /// Runs a statement that returns no row.
    @inline(__always)
    func run() throws {
        guard try !step() else { throw CError(code: SQLITE_ROW, message: "an unexpected row") }
    }

    /// An array of all rows.
    @inline(__always)
    func array<Element>(_ read: (CStatement) throws -> Element) throws -> [Element] {
        var elements: [Element] = []
        while try step() { elements.append(try read(self)) }
        return elements
    }

    @inline(__always)
    func reset() { sqlite3_reset(pointer) }
}

// MARK: - Columns

extension CStatement {
    @inline(__always)
    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }

    @inline(__always)
    func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }

    @inline(__always)
    func blob(_ column: Int32) -> UnsafeRawPointer? { sqlite3_column_blob(pointer, column) }

    @inline(__always)
    func text(_ column: Int32) -> String {
        let bytes = sqlite3_column_text(pointer, column)
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    @inline(__always)
    func optionalText(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(pointer, column) else { return nil }
        let count = Int(sqlite3_column_bytes(pointer, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    @inline(__always)
    func date(_ column: Int32) throws -> Date {
        guard let bytes = sqlite3_column_text(pointer, column), sqlite3_column_bytes(pointer, column) == 23
        else { throw CError(code: SQLITE_MISMATCH, message: "not a date") }
        return CDate.parse(bytes)
    }
}

// MARK: - Parameters

extension CStatement {
    @inline(__always)
    func bind(_ number: Int, _ parameter: Int32) { sqlite3_bind_int64(pointer, parameter, Int64(number)) }

    @inline(__always)
    func bind(_ number: Double, _ parameter: Int32) { sqlite3_bind_double(pointer, parameter, number) }

    @inline(__always)
    func bind(_ text: String, _ parameter: Int32) {
        var text = text
        text.withUTF8 { bind($0, parameter) }
    }

    @inline(__always)
    func bind(_ date: Date, _ parameter: Int32) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CDate.count) { bytes in
            CDate.format(date, to: bytes)
            bind(UnsafeBufferPointer(bytes), parameter)
        }
    }

    @inline(__always)
    func bindNull(_ parameter: Int32) { sqlite3_bind_null(pointer, parameter) }

    @inline(__always)
    private func bind(_ bytes: UnsafeBufferPointer<UInt8>, _ parameter: Int32) {
        bytes.withMemoryRebound(to: CChar.self) { bytes in
            _ = sqlite3_bind_text(
                pointer, parameter, bytes.baseAddress, Int32(bytes.count), shellac_transient())
        }
    }
}
