// The current row of a running statement, read in place, and the pool of its storage.

import CSQLite

/// The current row of a running statement, where SQLite holds it. Or else packed columns, for as long as a function reads
/// them: see `standing(on:_:)`.
///
/// A live row is two things: storage, which the statement owns for all its rows, and a generation, which
/// changes whenever the statement moves. A row whose statement has moved on is noticed by comparing numbers.
/// Storage is never given back to the system, only used again with later generations: looking at
/// what is stale is safe.
///
/// The values of a row are found in one of two ways. SQLite keeps them side by side, so the first and the
/// last, asked with `sqlite3_column_value()`, tell where all others are. This is verified whenever the first one
/// stands elsewhere than in the row before, by comparing their distance with the one known between neighbours;
/// a SQLite that does otherwise is asked for each value. Asking a value for its type is then cheap enough to
/// do it always: `sqlite3_column_int64()` and its kin would hand out 1 for the text "1st" and for 1.5. (SQLite
/// documentation, "Result Values From A Query": an unprotected value is safe for a connection that one thread at
/// a time uses.)
@_documentation(visibility: internal)
public struct LiveRow {
    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    @inlinable
    init(_ storage: UnsafeMutablePointer<Storage>) { self.storage = storage }

    @usableFromInline
    struct Storage: ~Copyable {
        /// Changes with each step and reset of the statement.
        @usableFromInline var generation: UInt64
        /// The value of the first column.
        @usableFromInline var first: OpaquePointer?
        /// The distance between neighbouring values, or 0 where each value must be asked for. (A single one has no
        /// neighbours: 1.)
        @usableFromInline var stride = 0
        /// The number of columns of the current row: 0 when there is none.
        @usableFromInline var count = 0
        /// The guess for the next look-up by name.
        @usableFromInline var nextGuess = NameGuesses.none.guesses
        var statement: OpaquePointer?
        /// What packs the row as it is read: see ``beginPacking()``.
        @usableFromInline var packer = RowPacker()
        /// Packed columns that the row stands on, where no statement gives it, and the one that was read last.
        var packedRow: (bytes: PackedBytes, column: Int, payload: UnsafeRawPointer)?
        /// The SQL of the statement.
        var sql: String?
        /// The number of columns of the row, and the column of the statement that is its first one: see `makeWindow(_:)`.
        var width = 0
        var firstColumn = 0
        /// Rows of some of the columns, which end with this one.
        var windows: [LiveRow] = []
        var layout: RowLayout?
        /// The connection of the statement, which outlives it: for upper layers.
        unowned(unsafe) var connection: AnyObject?
        /// What is known of the records that are made of the rows: the row's own, or one of the maker's.
        var elements: UnsafeMutablePointer<ElementMemory>
        let ownElements: UnsafeMutablePointer<ElementMemory>
        /// Whether elements are asked for what they never read, once they are complete.
        @usableFromInline var lacksColumns = false
        /// A class of records that `init(row:)` makes of these rows: for upper layers.
        @usableFromInline var plainElement: ObjectIdentifier?
        /// What makes records of the row's class, where rows are of several.
        var maker: ElementMaker? {
            didSet {
                makerReference = maker.map { Unretained($0) }
                begin(ownElements)
            }
        }
        private(set) var makerReference: Unretained<ElementMaker>?
        /// The rows of other tables that come with the row: see `AttachedRows`.
        var attached: AnyObject?
        /// Which rows' decoding has the right to read, and the generation of the row that it decodes, or 0.
        var decodingTicket: UInt64 = 0
        var decodingGeneration: UInt64 = 0

        init(generation: UInt64 = 1) {
            self.generation = generation
            ownElements = .allocate(capacity: 1)
            ownElements.initialize(to: ElementMemory())
            elements = ownElements
        }

        /// Has the row, of which no column was asked by name, know what is known of a class's records.
        @inline(__always)
        mutating func begin(_ elements: UnsafeMutablePointer<ElementMemory>) {
            self.elements = elements
            nextGuess = elements.pointee.firstGuess
            lacksColumns = elements.pointee.lacksColumns
        }

        deinit {
            packer.deallocate()
            ownElements.deinitialize(count: 1)
            ownElements.deallocate()
        }
    }

    /// The value in a column, which must exist.
    @inlinable @inline(__always)
    func value(at column: Int) -> SQLiteValue {
        let stride = storage.pointee.stride
        if stride != 0 {
            let first = UnsafeRawPointer(storage.pointee.first.unsafelyUnwrapped)
            return SQLiteValue(OpaquePointer(first + column &* stride), row: self, column: column)
        }
        return valueElsewhere(at: column)
    }

    @usableFromInline @inline(never)
    func valueElsewhere(at column: Int) -> SQLiteValue {
        if isPacked { return packedValue(at: column) }
        let value = sqlite3_column_value(
            storage.pointee.statement, Int32(truncatingIfNeeded: storage.pointee.firstColumn &+ column))
        return SQLiteValue(value.unsafelyUnwrapped, row: self, column: column)
    }

    /// What is one more for each row that the statement has stood on, and whenever it stands on none any more.
    var generation: UInt64 { storage.pointee.generation }

    /// The number of columns.
    @inlinable
    var count: Int { storage.pointee.count }

    /// The names of the columns.
    @usableFromInline
    var layout: RowLayout {
        if let layout = storage.pointee.layout { return layout }
        let statement = storage.pointee.statement
        let first = storage.pointee.firstColumn
        let layout = RowLayout(
            names: (first..<first + storage.pointee.width).map { column in
                sqlite3_column_name(statement, Int32(column)).map(String.init(cString:)) ?? ""
            },
            sql: storage.pointee.sql)
        storage.pointee.layout = layout
        return layout
    }

    /// The column for the next look-up by name: the slow way, when the guess missed.
    @usableFromInline @inline(never)
    func search(_ name: String) -> Int {
        let elements = storage.pointee.elements
        let k = storage.pointee.nextGuess - elements.pointee.firstGuess
        if elements.pointee.names == nil {
            // The first look-up by name of this statement.
            elements.pointee.names = NameGuesses(layout)
        }
        let column = layout.column(named: name) ?? -1
        let remembered = elements.pointee.names?.remember(name, column: column, asLookup: k) ?? false
        if let guesses = elements.pointee.names?.guesses {
            let first = UnsafePointer(guesses)
            elements.pointee.firstGuess = first
            storage.pointee.nextGuess = first + (remembered ? k + 1 : k)
        }
        return column
    }

    /// The column of the next look-up by name, or -1.
    @inlinable @inline(__always)
    func column(named name: String) -> Int {
        let guess = storage.pointee.nextGuess
        if guess.pointee.name != NameBits(name) { return search(name) }
        storage.pointee.nextGuess = guess + 1
        return guess.pointee.column
    }
}

@available(*, unavailable, message: "a live row belongs to the access that reads it; Row.copy() does not")
extension LiveRow: Sendable {}

// MARK: - Packed columns

extension LiveRow {
    /// Makes a row of packed columns of a layout. Such a row is read as one of a statement is, and as fast.
    static func make(layout: RowLayout) -> LiveRow {
        let row = take()
        row.storage.pointee.layout = layout
        row.storage.pointee.width = layout.count
        return row
    }

    /// Makes storage for packed columns that a connection has fetched: what is made of them is made of fetched rows.
    static func make(fetchedBy connection: AnyObject, layout: RowLayout) -> LiveRow {
        let row = make(layout: layout)
        row.storage.pointee.connection = connection
        row.storage.pointee.sql = layout.sql
        return row
    }

    /// Whether the row stands on packed columns.
    var isPacked: Bool { storage.pointee.packedRow != nil }

    /// Whether a connection has fetched the row, which may stand on packed columns.
    var wasFetched: Bool { storage.pointee.connection != nil }

    /// Runs a function while the row stands on packed columns.
    func standing<Result>(on bytes: PackedBytes, _ body: () throws -> Result) rethrows -> Result {
        stand(on: bytes)
        defer {
            storage.pointee.packedRow = nil
            moveOut()
        }
        return try body()
    }

    /// Stands on packed columns, until it stands on others or is moved out.
    func stand(on bytes: PackedBytes) {
        begin()
        storage.pointee.packedRow = (bytes, 0, bytes.start + bytes.count)
    }

    /// Columns are mostly read from left to right: each is found from the one before.
    private func packedValue(at column: Int) -> SQLiteValue {
        let row = storage.pointee.packedRow.unsafelyUnwrapped
        let value =
            row.column <= column
            ? row.bytes.value(at: column, from: row.column, row.payload)
            : row.bytes.value(at: column)
        storage.pointee.packedRow = (row.bytes, column, value.payload)
        return SQLiteValue(value)
    }
}

// MARK: - The life of storage

extension LiveRow {
    /// The storage that no statement uses.
    private static let idle = Lock<[Idle]>([])
    /// (The list owns it.)
    private struct Idle: @unchecked Sendable { let storage: UnsafeMutablePointer<Storage> }

    /// Makes the live row of a statement.
    static func make(statement: OpaquePointer, sql: String, connection: AnyObject) -> LiveRow {
        let row = take()
        row.storage.pointee.statement = statement
        row.storage.pointee.sql = sql
        row.storage.pointee.connection = connection
        row.storage.pointee.width = Int(sqlite3_column_count(statement))
        return row
    }

    /// Takes storage that nobody uses.
    static func take() -> LiveRow {
        if let idle = idle.withLock({ $0.popLast() }) { return LiveRow(idle.storage) }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return LiveRow(storage)
    }

    /// Storage that holds no row, ever: what rows that own their values stand on.
    @usableFromInline static let none = Nowhere(
        storage: {
            let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
            storage.initialize(to: Storage())
            return storage
        }())
    @usableFromInline struct Nowhere: @unchecked Sendable {  // never written
        @usableFromInline let storage: UnsafeMutablePointer<Storage>
    }

    /// Gives the storage back, when its statement is freed.
    func recycle() {
        // What decodes rows may hold objects of the user, which find empty storage when they are freed.
        let old = storage.move()
        storage.initialize(to: Storage(generation: old.generation + 1))
        _ = consume old
        Self.idle.withLock { $0.append(Idle(storage: storage)) }
    }

    /// Begins another row, of which nothing was read.
    private func begin() {
        storage.pointee.generation &+= 1
        storage.pointee.nextGuess = storage.pointee.elements.pointee.firstGuess
        storage.pointee.packer.stop()
        storage.pointee.count = storage.pointee.width
    }

    /// Tells that the statement stands on another row.
    @inline(__always)
    func moveOn() {
        begin()
        let statement = storage.pointee.statement
        let width = storage.pointee.width
        let firstColumn = storage.pointee.firstColumn
        let first = sqlite3_column_value(statement, Int32(truncatingIfNeeded: firstColumn))
        // Values begin where they did, and are side by side, as they were.
        if first == storage.pointee.first, storage.pointee.stride != 0 { return }
        storage.pointee.first = first
        guard width > 1 else {
            storage.pointee.stride = 1
            return
        }
        let last = sqlite3_column_value(statement, Int32(truncatingIfNeeded: firstColumn &+ width &- 1))
        let distance = UnsafeRawPointer(last.unsafelyUnwrapped) - UnsafeRawPointer(first.unsafelyUnwrapped)
        if distance == storage.pointee.stride &* (width &- 1), distance != 0 { return }
        storage.pointee.stride = distance == Self.distance &* (width &- 1) ? Self.distance : 0
    }

    /// Tells that the statement stands on another row, which nobody has asked for.
    @inline(__always)
    func fallBehind() {
        storage.pointee.generation &+= 1
        storage.pointee.count = 0
    }

    /// Tells that there is no row any more: the statement was reset.
    func moveOut() {
        fallBehind()
        // (The compiler breaks down under the thread sanitizer where this is one expression.)
        let elements = storage.pointee.ownElements
        elements.pointee.moveOut()
        storage.pointee.makerReference?.use { $0.moveOut() }
        if !storage.pointee.windows.isEmpty { closeWindows() }
    }

    /// Forgets what is known of the columns: SQLite has prepared the statement again.
    func forgetColumns() {
        storage.pointee.width = Int(sqlite3_column_count(storage.pointee.statement))
        storage.pointee.layout = nil
        let elements = storage.pointee.ownElements
        elements.pointee.forgetColumns()
        storage.pointee.plainElement = nil
        storage.pointee.maker = nil
        storage.pointee.stride = 0
    }

    /// The distance between two neighbouring values of a row in the running SQLite, or 0 where the values of
    /// three columns are not found at even distances.
    private static let distance: Int = {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            return 0
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, "SELECT 1, 'two', 3.0", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return 0 }
        let values = (0..<3).compactMap { sqlite3_column_value(statement, $0) }.map { UnsafeRawPointer($0) }
        guard values.count == 3 else { return 0 }
        let distance = values[1] - values[0]
        return distance > 0 && values[2] - values[1] == distance ? distance : 0
    }()
}
