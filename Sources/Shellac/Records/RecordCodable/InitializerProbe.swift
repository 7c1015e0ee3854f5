/// Finds out whether `init(row:)` of a class does anything but what it inherits from ``Record``.
///
/// The language does not tell: a class that inherits an initializer has one of its own, as one that writes it. So it is asked
/// for a record of a row without columns. It is looked which columns it asks for by itself, and what it sets: the properties
/// have to be the same when the record is complete as they were when `Record` had read the row, and the same as in a record
/// that was made by `init(from:)`. Properties whose defaults differ from record to record say nothing, and then it is called
/// for each row. What it does to others than its record is not seen.
final class InitializerProbe: RecordProbe, @unchecked Sendable {  // one thread makes one record by it
    private var isAlone = false
    private var isRefused = false
    /// The state that `Record` has left: the bytes of all properties, and the columns that were asked for.
    private var left: (bytes: [[UInt8]], names: [String])?

    /// Returns how fetched records of a class are made.
    static func howToMake(_ type: Record.Type) -> CodedClass.Making {
        let probe = InitializerProbe()
        let layout = RowLayout(names: [], sql: nil, affinities: [], missed: probe)
        guard var record = try? type.init(row: Row(.make(layout, values: []))) else {
            return probe.isRefused ? .codingByHand : .row
        }
        guard probe.isAlone, let left = probe.left, probe.names == left.names,
            isKnownUniquelyReferenced(&record), bytes(of: record) == left.bytes
        else { return .row }
        return .coding
    }

    override func read(_ row: Row, into record: Record) throws {
        let isFirst = names.isEmpty
        guard let coded = CodedClass.of(type(of: record)) else { return }
        let twin: Record
        do {
            twin = try InPlaceDecoding.read(row, into: record, coded).twin
        } catch let refusal as CodingRefusal {
            isRefused = true
            throw refusal
        }
        try record.updateFromRow(row)
        _ = try? coded.codedColumns(of: record)
        let bytes = Self.bytes(of: record)
        isAlone = isFirst && bytes != nil && bytes == Self.bytes(of: twin)
        left = bytes.map { ($0, names) }
    }

    /// Returns the bytes of all properties below ``Record``. Nil where they are not known.
    private static func bytes(of record: Record) -> [[UInt8]]? {
        var bytes: [[UInt8]] = []
        var type: Record.Type = type(of: record)
        while type != Record.self, let above = FirstUse.superclass(of: type) {
            guard let properties = StoredProperties.of(type)?.properties else { return nil }
            bytes += properties.map { $0.bytes(in: record) }
            type = above
        }
        return bytes
    }
}
