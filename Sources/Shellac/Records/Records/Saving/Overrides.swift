/// Finds out if a record class overrides saving methods, or callbacks that get a `Database`.
///
/// The language does not reveal this. But the metadata of a class holds its methods. Methods of the
/// superclass are at the same places as in the superclass, and are equal unless they are
/// overridden. Two private classes, one of which overrides the methods in question, show their
/// places.
enum Overrides {
    /// Returns the names of the callbacks that a kind of save calls, and that a class is known to
    /// override.
    static func callbacks(_ type: Record.Type, around kind: RecordCallback.Kind) -> [String] {
        RecordCallback.all.filter { $0.kinds.contains(kind) && $0.isOverridden(by: type) == true }.map(\.name)
    }

    /// Returns the callbacks around a save that get a database, and that a class is known not to
    /// override.
    static func idleCallbacks(_ type: Record.Type) -> CallbackSet {
        CallbackSet(RecordCallback.all.filter { $0.isOverridden(by: type) == false }.map(\.member))
    }

    /// Whether a class overrides a method that inserts or updates. True if unknown.
    static func methods(_ type: Record.Type) -> Bool { overrides(methodPlaces, type) ?? true }

    /// Whether a class overrides a callback that reports an insertion to the record. True if
    /// unknown.
    static func insertionCallbacks(_ type: Record.Type) -> Bool {
        RecordCallback.all.contains {
            ["didInsert", "didSave"].contains($0.name) && $0.isOverridden(by: type) != false
        }
    }

    /// Whether a class reads rows by ``Record/updateFromRow(_:)``, ``Record/columns(_:)`` or
    /// `Codable`. True if unknown.
    static func reading(_ type: Record.Type) -> Bool {
        (overrides(readingPlaces, type) ?? true) || listing(type)
    }

    /// Whether single columns of a class can be set, because it lists them, or leaves them to
    /// `Codable`. True if unknown.
    static func listing(_ type: Record.Type) -> Bool {
        (columns(type, unlike: Record.self) ?? true) || ClassCoding.of(type) != nil
    }

    static func overrides(_ places: [Int], _ type: Record.Type) -> Bool? {
        differ(places, type, Record.self)
    }

    /// The places of these methods among the words of a class's metadata. Empty if they were not
    /// found.
    private static let methodPlaces = places(overriddenBy: Methods.self, count: Methods.count)
    private static let readingPlaces = places(overriddenBy: Reading.self, count: Reading.count)

    static func places(overriddenBy type: Record.Type, count: Int) -> [Int] {
        let (base, plain, overriding) = (words(Record.self), words(Plain.self), words(type))
        let places = base.indices.filter { plain[$0] == base[$0] && overriding[$0] != base[$0] }
        return places.count == count ? places : []
    }

    /// The size of the header of a class's metadata. The header has the kind of metadata and the
    /// superclass, and on Apple's systems three words for Objective-C. Then follow flags, three
    /// numbers about instances, and the total size with the size of the part in front.
    #if canImport(ObjectiveC)
    private static var headerSize: Int { 40 }
    #else
    private static var headerSize: Int { 16 }
    #endif

    /// Returns the words of a class's metadata that `Record` also has, starting with its methods.
    private static func words(_ type: Record.Type) -> UnsafeBufferPointer<UInt> {
        let base = metadata(Record.self)
        let size = Int(base.load(fromByteOffset: headerSize + 16, as: UInt32.self))
        let front = Int(base.load(fromByteOffset: headerSize + 20, as: UInt32.self))
        let start = headerSize + 24
        guard front < size, start < size - front, size < 1 << 16 else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        let metadata = metadata(type) + start
        let count = (size - front - start) / MemoryLayout<UInt>.stride
        return UnsafeBufferPointer(start: metadata.assumingMemoryBound(to: UInt.self), count: count)
    }

    /// Whether a class overrides the method that reads a row, or the one that encodes, and the
    /// other class does not. Nil if unknown.
    static func pair(_ type: Record.Type, unlike other: Record.Type) -> Bool? {
        differ(pairPlaces, type, other)
    }

    /// Whether a class overrides the method that lists its columns, and the other class does not.
    /// Nil if unknown.
    static func columns(_ type: Record.Type, unlike other: Record.Type) -> Bool? {
        differ(columnsPlaces, type, other)
    }

    private static func differ(_ places: [Int], _ type: Record.Type, _ other: Record.Type) -> Bool? {
        if places.isEmpty { return nil }
        let (words, others) = (words(type), words(other))
        return places.contains { words[$0] != others[$0] }
    }

    private static let pairPlaces = places(overriddenBy: Pair.self, count: Pair.count)
    private static let columnsPlaces = places(overriddenBy: Columns.self, count: Columns.count)

    /// Whether a class overrides a strategy for values of some types. True if unknown.
    ///
    /// It is called for each date. So it compares the methods, which are side by side, with a few
    /// instructions.
    static func strategies(_ type: Record.Type) -> Bool {
        let (place, base) = strategyWords
        guard place != 0 else { return true }
        let words = (metadata(type) + place).assumingMemoryBound(to: FiveWords.self).pointee
        return (words.0 ^ base.0) | (words.1 ^ base.1) | (words.2 ^ base.2) | (words.3 ^ base.3)
            | (words.4 ^ base.4) != 0
    }

    private typealias FiveWords = (UInt, UInt, UInt, UInt, UInt)

    /// The place of the strategies in the metadata, or 0, and the strategies of `Record`.
    private static let strategyWords: (place: Int, base: FiveWords) = {
        let places = Self.places(overriddenBy: Strategies.self, count: Strategies.count)
        guard let first = places.first, places == Array(first..<first + Strategies.count) else {
            return (0, (0, 0, 0, 0, 0))
        }
        let place = headerSize + 24 + first * MemoryLayout<UInt>.stride
        return (place, (metadata(Record.self) + place).assumingMemoryBound(to: FiveWords.self).pointee)
    }()

    private static func metadata(_ type: Record.Type) -> UnsafeRawPointer {
        unsafeBitCast(type as AnyClass, to: UnsafeRawPointer.self)
    }

    /// Returns the size of an instance of a class in bytes. It is larger than the superclass's if
    /// the class has properties of its own.
    static func instanceSize(of type: Record.Type) -> Int {
        Int(metadata(type).load(fromByteOffset: headerSize + 8, as: UInt32.self))
    }

    private final class Plain: Record {}

    private final class Pair: Record {
        static let count = 2

        override func updateFromRow(_ row: Row) throws { try super.updateFromRow(row) }
        override func encode(to container: inout PersistenceContainer) throws {
            try super.encode(to: &container)
        }
    }

    private final class Columns: Record {
        static let count = 1

        override func columns(_ column: borrowing RecordColumns) throws { try super.columns(column) }
    }

    private final class Strategies: Record {
        static let count = 5

        override class func databaseDateEncodingStrategy(
            for column: String
        ) -> DatabaseDateEncodingStrategy { .iso8601 }
        override class func databaseDataEncodingStrategy(
            for column: String
        ) -> DatabaseDataEncodingStrategy { .text }
        override class func databaseUUIDEncodingStrategy(
            for column: String
        ) -> DatabaseUUIDEncodingStrategy { .lowercaseString }
        override class func databaseDateDecodingStrategy(
            for column: String
        ) -> DatabaseDateDecodingStrategy { .iso8601 }
        override class func databaseDataDecodingStrategy(
            for column: String
        ) -> DatabaseDataDecodingStrategy { .custom { _ in nil } }
    }

    private final class Methods: Record {
        static let count = 3

        override func insert(_ db: Database) throws { try super.insert(db) }
        override func update(_ db: Database) throws { try super.update(db) }
        override func update(_ db: Database, columns: Set<String>) throws {
            try super.update(db, columns: columns)
        }
    }

    private final class Reading: Record {
        static let count = 1

        override func updateFromRow(_ row: Row) throws { try super.updateFromRow(row) }
    }
}
