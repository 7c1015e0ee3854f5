// Cached facts about a Record subclass that leaves columns to Codable, and its coder.

import Synchronization

/// A class of records that leaves columns to `Codable`, with the facts found out about it once.
///
/// The root is the class that declares `Codable` and does not define itself how it is stored. Its
/// properties are coded. Classes above and below it list their columns, or have the older pair of
/// methods.
///
/// ## The life of a pass
///
/// A record is *encoded* by the code that Swift synthesizes, with the encoder that serves structs.
///
/// A fetched record is *made* by `init(from:)`, with the decoder that serves structs, if two
/// conditions hold. Its class has inherited `init(row:)`, and the row has all of the coded columns.
/// Then the columns of its superclass are read.
///
/// Everything else that reads a row into a record (`init(row:)`, `reload`, a copy, a partial fetch)
/// goes through ``InPlaceDecoding``. So does everything that sets one column.
///
/// Some facts about a class need a record: see ``prepare(_:)`` and ``construction``.
final class CodedClass: @unchecked Sendable {  // `learnt` has a lock
    let type: Record.Type
    let coder: RecordCoder
    /// The stored properties, or the reason why they are unknown.
    private let propertiesOrRefusal: Result<CodedProperties, CodingRefusal>
    /// Whether the class is `@Observable`. Its stored properties then have an underscore, and its
    /// registrar is one of them.
    let isObserved: Bool
    let usesDefaultEncodingKeys: Bool
    let usesDefaultDecodingKeys: Bool
    /// The classes below the root that have stored properties of their own, and do not define how
    /// they are stored.
    private let suspects: [Suspect]

    private struct Suspect {
        let type: Record.Type
        let above: Record.Type
        let properties: [StoredProperty]
    }

    private struct Learnt {
        var columns: [KeyTrace.Coded]?
        var refusal: DatabaseError?
        var hasWarnedOfObservers = false
    }
    private let learnt = Lock(Learnt())
    private let isPrepared = Atomic<Bool>(false)
    private let making = Atomic<UInt8>(Making.unknown.rawValue)

    /// A way to make fetched records.
    enum Making: UInt8 {
        case unknown
        /// By `init(row:)`, because the class implements it, or because a probe cannot call it.
        case row
        /// By `init(from:)`, if the row has all columns.
        case coding
        /// Always by `init(from:)`, because it was written by hand and nothing can be set in place.
        case codingByHand
    }

    fileprivate init(_ type: Record.Type, _ coder: RecordCoder, root: Record.Type) {
        self.type = type
        self.coder = coder
        propertiesOrRefusal = Result { () throws(CodingRefusal) in
            do { return try CodedProperties(type, from: root) } catch {
                throw error as? CodingRefusal ?? CodingRefusal(type, "\(error)")
            }
        }
        isObserved = (try? propertiesOrRefusal.get())?.all.contains { $0.name == Self.registrar } ?? false
        usesDefaultEncodingKeys = type.databaseColumnEncodingStrategy.usesDefaultKeys && !isObserved
        usesDefaultDecodingKeys = type.databaseColumnDecodingStrategy.usesDefaultKeys && !isObserved
        var suspects: [Suspect] = []
        var below = type
        while below != root, let above = FirstUse.superclass(of: below) {
            // The program did not declare the registrar of `@Observable`.
            let properties = StoredProperties.of(below)?.properties.filter { $0.name != Self.registrar }
            let isTold = properties.map { !$0.isEmpty } ?? true
            if isTold, Overrides.instanceSize(of: below) != Overrides.instanceSize(of: above),
                Overrides.columns(below, unlike: above) == false,
                Overrides.pair(below, unlike: above) == false
            {
                suspects.append(Suspect(type: below, above: above, properties: properties ?? []))
            }
            below = above
        }
        self.suspects = suspects
    }

    var properties: CodedProperties? { try? propertiesOrRefusal.get() }

    /// Whether a class below the root may have properties that Swift does not code.
    var isSuspect: Bool { !suspects.isEmpty }

    /// Returns the stored properties, which can be set.
    ///
    /// - Throws: a ``CodingRefusal`` if they are unknown.
    func settableProperties() throws -> CodedProperties { try propertiesOrRefusal.get() }

    // MARK: - Keys

    static let registrar = "_$observationRegistrar"

    /// Whether the keys are named like the stored properties of an `@Observable` class, and the
    /// program did not name them.
    private func hasRegistrar<Key: CodingKey>(_ type: Key.Type) -> Bool {
        isObserved && Key(stringValue: Self.registrar) != nil && Key(stringValue: "$") == nil
    }

    /// Whether a key is the one of the registrar, which is not a column.
    func isRegistrar<Key: CodingKey>(_ key: Key) -> Bool {
        isObserved && key.stringValue == Self.registrar && hasRegistrar(Key.self)
    }

    /// Returns a key without the underscore that `@Observable` adds.
    func plainKey<Key: CodingKey>(_ key: Key) -> any CodingKey {
        guard isObserved, key.stringValue.hasPrefix("_"), hasRegistrar(Key.self) else { return key }
        return ColumnKey(String(key.stringValue.dropFirst()))
    }

    /// Returns the column of a key in a row.
    func column(of key: some CodingKey, in row: Row) -> String {
        usesDefaultDecodingKeys
            ? key.stringValue : type.databaseColumnDecodingStrategy.column(for: plainKey(key), in: row)
    }

    // MARK: - Facts found out with a record

    /// Finds out whether Swift leaves properties out, unless that was already done.
    ///
    /// - Throws: a ``DatabaseError`` that names them.
    func prepare(_ record: Record) throws {
        if !isPrepared.load(ordering: .relaxed) { try prepareNow(record) }
    }

    @inline(never)
    private func prepareNow(_ record: Record) throws {
        if let refusal = learnt.withLock({ $0.refusal }) { throw refusal }
        if !suspects.isEmpty {
            // A record that cannot be encoded now proves nothing.
            guard let trace = try? KeyTrace(record, self) else { return }
            let refusal = suspects.lazy.compactMap { self.refusal(of: $0, coding: trace) }.first
            if let refusal {
                learnt.withLock { $0.refusal = refusal }
                throw refusal
            }
        }
        isPrepared.store(true, ordering: .relaxed)
    }

    /// The reason why the class cannot be used, if one was found.
    var refusal: DatabaseError? { learnt.withLock { $0.refusal } }

    /// Returns the reason why a class cannot be used if none of its own properties is coded.
    private func refusal(of suspect: Suspect, coding trace: KeyTrace) -> DatabaseError? {
        if trace.columns.contains(where: { coded in
            coded.property.map { coded in suspect.properties.contains { $0.offset == coded.offset } } ?? false
        }) {
            return nil
        }
        let names = suspect.properties.map(\.plainName)
        let properties = names.isEmpty ? "its properties" : names.joined(separator: ", ")
        return DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(suspect.type) inherits Codable from \(suspect.above), but Swift does not code the properties that a subclass adds: "
                + "\(properties) would be neither read nor stored. List them in columns(_:).")
    }

    /// Returns the coded columns, with the properties that they represent.
    func codedColumns(of record: Record) throws -> [KeyTrace.Coded] {
        if let columns = learnt.withLock({ $0.columns }) { return columns }
        let trace = try KeyTrace(record, self)
        // An `encode(to:)` that is written by hand may encode other keys each time.
        if !trace.isByHand { learnt.withLock { $0.columns = trace.columns } }
        return trace.columns
    }

    /// Returns the property that a record decodes from a column, if it can be set without decoding.
    func property(of column: String, of record: Record) -> StoredProperty? {
        guard usesDefaultDecodingKeys == usesDefaultEncodingKeys, usesDefaultDecodingKeys || isObserved,
            let columns = learnt.withLock({ $0.columns }) ?? (try? codedColumns(of: record))
        else { return nil }
        return columns.first { CaseInsensitiveName.matches($0.column, column) }?.property
    }

    // MARK: - Making records

    /// The way in which fetched records of the class are made.
    var construction: Making {
        let known = Making(rawValue: making.load(ordering: .relaxed)) ?? .unknown
        return known == .unknown ? learnMaking() : known
    }

    @inline(never)
    private func learnMaking() -> Making {
        let found = InitializerProbe.construction(type)
        making.store(found.rawValue, ordering: .relaxed)
        return found
    }

    /// Whether a row has all columns that are decoded.
    func hasAllColumns(_ row: Row) -> Bool {
        guard let columns = learnt.withLock({ $0.columns }) else { return false }
        return columns.allSatisfy { row.hasColumn($0.column) || $0.property?.isVariable == false }
    }

    // MARK: - @Observable

    /// Checks that the observers of a record would be notified when it takes a row.
    ///
    /// - Throws: a ``DatabaseError`` if no observer would be notified.
    func checkRefreshing() throws {
        guard isObserved else { return }
        throw DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "\(type) is @Observable and leaves its columns to Codable: its observers would not be notified when "
                + "it takes a row. List its columns in columns(_:).")
    }

    /// Warns the developer, once, in debug builds.
    func warnOfObservers(_ column: String) {
        #if DEBUG
        guard isObserved else { return }
        let hasWarned = learnt.withLock { learnt in
            defer { learnt.hasWarnedOfObservers = true }
            return learnt.hasWarnedOfObservers
        }
        if hasWarned { return }
        ErrorLog.warn(
            "a save has set \(column) of a \(type), which is @Observable and leaves that column to Codable: its "
                + "observers were not notified. List the column in columns(_:) of a superclass.")
        #endif
    }
}

// MARK: - The classes

extension Record: ClassCodingSource {
    static func classCoding(of type: Record.Type) -> ClassCoding? {
        FirstUse.codedRoot(of: type).flatMap { root in
            RecordCoder.of(type).map { CodedPasses(CodedClass(type, $0, root: root)) }
        }
    }
}

extension CodedClass {
    /// Returns the facts about a class. Nil if it leaves no column to `Codable`.
    static func of(_ type: Record.Type) -> CodedClass? {
        ClassCoding.of(type).map { unsafeDowncast($0.object, to: CodedPasses.self).coded }
    }
}

// MARK: - Coding a class that is known only at run time

/// A coder of the records of one class, which calls its synthesized or hand-written coding.
class RecordCoder {
    func encode(_ record: Record, to encoder: any Encoder) throws {}
    func encode(_ record: Record, in container: inout PersistenceContainer, _ coded: CodedClass) throws {}
    func decode(_ decoder: any Decoder) throws -> Record { Misuse.trap("this coder cannot decode records") }
    func decode(_ row: Row) throws -> Record { Misuse.trap("this coder cannot decode records") }

    static func of(_ type: Record.Type) -> RecordCoder? {
        func coder<Coded: Record & Codable>(_ type: Coded.Type) -> RecordCoder { CoderOf<Coded>() }
        return (type as? any (Record & Codable).Type).map { coder($0) }
    }
}

private final class CoderOf<Coded: Record & Codable>: RecordCoder {
    override func encode(_ record: Record, to encoder: any Encoder) throws {
        try unsafeDowncast(record, to: Coded.self).encode(to: encoder)
    }

    override func encode(
        _ record: Record, in container: inout PersistenceContainer, _ coded: CodedClass
    ) throws {
        try RecordEncoding.encode(
            unsafeDowncast(record, to: Coded.self), as: Coded.self, in: &container, coded)
    }

    override func decode(_ decoder: any Decoder) throws -> Record { try Coded(from: decoder) }

    override func decode(_ row: Row) throws -> Record {
        guard row.isLive, row.live.beginDecoding(Coded.self) else {
            return try Coded(from: RecordDecoder(decoding: RecordDecoding(row: row, record: Coded.self)))
        }
        defer { row.live.endDecoding() }
        return try Coded(from: LiveRecordDecoder(row.live))
    }
}

/// A coder of columns, which has no columns of its own.
protocol ColumnCoder {}
