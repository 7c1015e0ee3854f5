import CSQLite

/// The values of a row that outlives its statement: packed bytes in one allocation, beside the layout that all
/// rows of the statement share.
///
/// The bytes are, for each column, where its value ends (four bytes) and its type (one byte); then the values:
/// eight bytes for a number, and texts and blobs as they are.
@usableFromInline
final class PackedRow: @unchecked Sendable {  // never changed once it is made
    let layout: RowLayout
    private let count: Int
    private let bytes: UnsafeMutableRawPointer

    deinit { bytes.deallocate() }

    /// One value on its way into the bytes.
    private struct Piece {
        var type: Int32
        var number: UInt64 = 0
        var start: UnsafeRawPointer?
        var length = 8

        mutating func take(_ bytes: UnsafeRawBufferPointer) {
            start = bytes.baseAddress
            length = bytes.count
        }
    }

    private init(layout: RowLayout, pieces: UnsafeMutableBufferPointer<Piece>) {
        self.layout = layout
        count = pieces.count
        let head = 5 * count
        bytes = .allocate(byteCount: pieces.reduce(head) { $0 + $1.length }, alignment: 8)
        var end = head
        for (column, piece) in pieces.enumerated() {
            if let start = piece.start {
                (bytes + end).copyMemory(from: start, byteCount: piece.length)
            } else if piece.length == 8 {
                (bytes + end).storeBytes(of: piece.number, as: UInt64.self)
            }
            end += piece.length
            (bytes + 4 * column).storeBytes(of: UInt32(truncatingIfNeeded: end), as: UInt32.self)
            (bytes + 4 * count + column).storeBytes(of: UInt8(truncatingIfNeeded: piece.type), as: UInt8.self)
        }
    }

    /// A copy of the current row of a statement.
    convenience init(_ row: LiveRow) {
        let pieces = UnsafeMutableBufferPointer<Piece>.allocate(capacity: row.count)
        defer { pieces.deallocate() }
        for column in 0..<row.count {
            let value = row.value(at: column)
            var piece = Piece(type: value.type)
            switch piece.type {
            case SQLITE_INTEGER: piece.number = UInt64(bitPattern: value.int64)
            case SQLITE_FLOAT: piece.number = value.double.bitPattern
            case SQLITE_TEXT: piece.take(UnsafeRawBufferPointer(value.utf8))
            case SQLITE_BLOB: piece.take(value.blob)
            default: piece.length = 0
            }
            pieces.initializeElement(at: column, to: piece)
        }
        self.init(layout: row.layout, pieces: pieces)
    }

    /// A row made by hand.
    convenience init(layout: RowLayout, values: [DatabaseValue]) {
        // Texts and blobs are gathered first, so that they stand still while they are copied.
        let lengths = values.map(\.storage.byteCount)
        let gathered = UnsafeMutableRawBufferPointer.allocate(byteCount: lengths.reduce(0, +), alignment: 1)
        let pieces = UnsafeMutableBufferPointer<Piece>.allocate(capacity: values.count)
        defer {
            gathered.deallocate()
            pieces.deallocate()
        }
        var start = 0
        for (column, value) in values.enumerated() {
            var piece = Piece(type: SQLITE_NULL)
            let place = UnsafeMutableRawBufferPointer(rebasing: gathered[start..<start + lengths[column]])
            start += lengths[column]
            switch value.storage {
            case .null: piece.length = 0
            case .int64(let integer): piece = Piece(type: SQLITE_INTEGER, number: UInt64(bitPattern: integer))
            case .double(let double): piece = Piece(type: SQLITE_FLOAT, number: double.bitPattern)
            case .string(let text):
                place.copyBytes(from: text.utf8)
                piece.type = SQLITE_TEXT
                piece.take(UnsafeRawBufferPointer(place))
            case .blob(let data):
                place.copyBytes(from: data)
                piece.type = SQLITE_BLOB
                piece.take(UnsafeRawBufferPointer(place))
            }
            pieces.initializeElement(at: column, to: piece)
        }
        self.init(layout: layout, pieces: pieces)
    }

    // MARK: - Reading

    @inline(__always)
    private func range(of column: Int) -> Range<Int> {
        let end = Int((bytes + 4 * column).load(as: UInt32.self))
        let start = column == 0 ? 5 * count : Int((bytes + 4 * column - 4).load(as: UInt32.self))
        return start..<end
    }

    /// One of SQLite's fundamental datatypes.
    func type(at column: Int) -> Int32 {
        Int32((bytes + 4 * count + column).load(as: UInt8.self))
    }

    /// The bytes of a text or a blob.
    func payload(at column: Int) -> UnsafeRawBufferPointer {
        let range = range(of: column)
        return UnsafeRawBufferPointer(start: bytes + range.lowerBound, count: range.count)
    }

    /// A copy of a value.
    @usableFromInline
    func databaseValue(at column: Int) -> DatabaseValue {
        let start = range(of: column).lowerBound
        switch type(at: column) {
        case SQLITE_INTEGER: return DatabaseValue(.int64((bytes + start).loadUnaligned(as: Int64.self)))
        case SQLITE_FLOAT: return DatabaseValue(.double((bytes + start).loadUnaligned(as: Double.self)))
        case SQLITE_TEXT: return DatabaseValue(.string(String(decoding: payload(at: column), as: UTF8.self)))
        case SQLITE_BLOB: return DatabaseValue(.blob(.init(payload(at: column))))
        default: return .null
        }
    }
}

extension DatabaseValue.Storage {
    /// How many bytes a text or a blob has.
    fileprivate var byteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .blob(let data): data.count
        default: 0
        }
    }
}
