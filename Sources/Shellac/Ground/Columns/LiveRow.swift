// The current row of a running statement, read in place, and the pool of its storage.

import CSQLite

/// The current row of a running statement, read in place, or packed columns: see `standing(on:_:)`.
///
/// The statement owns storage for all its rows, with a generation that changes whenever the
/// statement moves. Comparing generations detects a row whose statement has moved on. Storage is
/// never returned to the system. It is only reused with later generations, so reading stale storage
/// is safe.
///
/// SQLite keeps the values of a row side by side. So the addresses of the first and the last, from
/// `sqlite3_column_value()`, give all others. This is verified whenever the first one has moved:
/// the distance must match the known one between neighbours. Otherwise, each value is asked for.
///
/// Checking a value's type is then cheap enough to do always. `sqlite3_column_int64()` and similar
/// functions would return 1 for the text "1st" and for 1.5. (SQLite documentation, "Result Values
/// From A Query": an unprotected value is safe for a connection that one thread at a time uses.)
@_documentation(visibility: internal)
public struct LiveRow {
    @usableFromInline let storage: UnsafeMutablePointer<Storage>

    @inlinable
    init(_ storage: UnsafeMutablePointer<Storage>) { self.storage = storage }

    @usableFromInline
    struct Storage: ~Copyable {
        /// A number that changes with each step and reset of the statement.
        @usableFromInline var generation: UInt64
        /// The value of the first column.
        @usableFromInline var first: OpaquePointer?
        /// The distance between neighbouring values, or 0 if each value must be asked for. (A
        /// single value has no neighbours: 1.)
        @usableFromInline var stride = 0
        /// The number of columns of the current row: 0 when there is none.
        @usableFromInline var count = 0
        /// The guess for the next look-up by name.
        @usableFromInline var nextGuess = NameGuesses.none.guesses
        var statement: OpaquePointer?
        /// The packer of the values that are read: see ``beginPacking()``.
        @usableFromInline var packer = RowPacker()
        /// The packed columns of the row, if it does not come from a statement, with the column
        /// that was read last.
        var packedRow: (bytes: PackedBytes, column: Int, payload: UnsafeRawPointer)?
        /// The SQL of the statement.
        var sql: String?
        /// The number of columns of the row, and the statement's column that is its first one: see
        /// `makeWindow(_:)`.
        var width = 0
        var firstColumn = 0
        /// Rows over some of the columns, which end with this one.
        var windows: [LiveRow] = []
        var layout: RowLayout?
        /// The statement's connection, for upper layers. It outlives the statement.
        unowned(unsafe) var connection: AnyObject?
        /// Facts about the records that are created from the rows: the row's own, or the maker's.
        var elements: UnsafeMutablePointer<ElementMemory>
        let ownElements: UnsafeMutablePointer<ElementMemory>
        /// Whether complete elements are asked for the columns that they never read.
        @usableFromInline var lacksColumns = false
        /// A class of records that `init(row:)` creates from these rows, for upper layers.
        @usableFromInline var plainElement: ObjectIdentifier?
        /// The factory of records, if rows are of several classes.
        var maker: ElementMaker? {
            didSet {
                makerReference = maker.map { Unretained($0) }
                begin(ownElements)
            }
        }
        private(set) var makerReference: Unretained<ElementMaker>?
        /// The rows of other tables that were fetched with the row: see `AttachedRows`.
        var attached: AnyObject?
        /// The ticket of the decoder that may read the row, and the generation of the row that it
        /// decodes, or 0.
        var decodingTicket: UInt64 = 0
        var decodingGeneration: UInt64 = 0

        init(generation: UInt64 = 1) {
            self.generation = generation
            ownElements = .allocate(capacity: 1)
            ownElements.initialize(to: ElementMemory())
            elements = ownElements
        }

        /// Switches to the facts about the records of one class, before any look-up by name.
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

    /// A number that grows with each row of the statement, and when there is no row any more.
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

    /// Looks up a column by name after the guess has missed. This is the slow path.
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

    /// Returns the column for the next look-up by name, or -1.
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
    /// Creates a row for packed columns of a layout. It is read like a statement's row, and as
    /// fast.
    static func make(layout: RowLayout) -> LiveRow {
        let row = take()
        row.storage.pointee.layout = layout
        row.storage.pointee.width = layout.count
        return row
    }

    /// Creates storage for packed columns that a connection has fetched, so that they count as
    /// fetched.
    static func make(fetchedBy connection: AnyObject, layout: RowLayout) -> LiveRow {
        let row = make(layout: layout)
        row.storage.pointee.connection = connection
        row.storage.pointee.sql = layout.sql
        return row
    }

    /// Whether the row reads packed columns.
    var isPacked: Bool { storage.pointee.packedRow != nil }

    /// Whether a connection has fetched the row, which may consist of packed columns.
    var wasFetched: Bool { storage.pointee.connection != nil }

    /// Calls a function while the row reads the given packed columns.
    func standing<Result>(on bytes: PackedBytes, _ body: () throws -> Result) rethrows -> Result {
        stand(on: bytes)
        defer {
            storage.pointee.packedRow = nil
            invalidate()
        }
        return try body()
    }

    /// Reads the given packed columns, until the row moves to others or is moved out.
    func stand(on bytes: PackedBytes) {
        begin()
        storage.pointee.packedRow = (bytes, 0, bytes.start + bytes.count)
    }

    /// Returns a value of the packed columns. Columns are mostly read from left to right, so each
    /// is found from the previous one.
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
    /// The storage that no statement is using.
    private static let idle = Lock<[Idle]>([])
    /// (The list owns the storage.)
    private struct Idle: @unchecked Sendable { let storage: UnsafeMutablePointer<Storage> }

    /// Creates the live row of a statement.
    static func make(statement: OpaquePointer, sql: String, connection: AnyObject) -> LiveRow {
        let row = take()
        row.storage.pointee.statement = statement
        row.storage.pointee.sql = sql
        row.storage.pointee.connection = connection
        row.storage.pointee.width = Int(sqlite3_column_count(statement))
        return row
    }

    /// Takes unused storage.
    static func take() -> LiveRow {
        if let idle = idle.withLock({ $0.popLast() }) { return LiveRow(idle.storage) }
        let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
        storage.initialize(to: Storage())
        return LiveRow(storage)
    }

    /// Storage that never holds a row. Rows that own their values refer to it.
    @usableFromInline static let none = Nowhere(
        storage: {
            let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
            storage.initialize(to: Storage())
            return storage
        }())
    @usableFromInline struct Nowhere: @unchecked Sendable {  // never written
        @usableFromInline let storage: UnsafeMutablePointer<Storage>
    }

    /// Recycles the storage. Call this when the statement is freed.
    func recycle() {
        // The user's objects in row decoders must find empty storage when they are freed.
        let old = storage.move()
        storage.initialize(to: Storage(generation: old.generation + 1))
        _ = consume old
        Self.idle.withLock { $0.append(Idle(storage: storage)) }
    }

    /// Begins another row. Nothing of it has been read yet.
    private func begin() {
        storage.pointee.generation &+= 1
        storage.pointee.nextGuess = storage.pointee.elements.pointee.firstGuess
        storage.pointee.packer.stop()
        storage.pointee.count = storage.pointee.width
    }

    /// Handles a step of the statement to another row.
    @inline(__always)
    func moveOn() {
        begin()
        let statement = storage.pointee.statement
        let width = storage.pointee.width
        let firstColumn = storage.pointee.firstColumn
        let first = sqlite3_column_value(statement, Int32(truncatingIfNeeded: firstColumn))
        // If the first value has not moved, the values are side by side, as before.
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

    /// Handles a step to a row that the caller did not ask for, so that it cannot be read.
    @inline(__always)
    func skipRow() {
        storage.pointee.generation &+= 1
        storage.pointee.count = 0
    }

    /// Handles the end of the rows: the statement was reset.
    func invalidate() {
        skipRow()
        // (The compiler crashes under the thread sanitizer if this is one expression.)
        let elements = storage.pointee.ownElements
        elements.pointee.invalidate()
        storage.pointee.makerReference?.use { $0.invalidate() }
        if !storage.pointee.windows.isEmpty { closeWindows() }
    }

    /// Forgets everything about the columns, because SQLite has prepared the statement again.
    func forgetColumns() {
        storage.pointee.width = Int(sqlite3_column_count(storage.pointee.statement))
        storage.pointee.layout = nil
        let elements = storage.pointee.ownElements
        elements.pointee.forgetColumns()
        storage.pointee.plainElement = nil
        storage.pointee.maker = nil
        storage.pointee.stride = 0
    }

    /// The distance between neighbouring values of a row in the running SQLite. It is 0 if the
    /// values of three columns are not at even distances.
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
