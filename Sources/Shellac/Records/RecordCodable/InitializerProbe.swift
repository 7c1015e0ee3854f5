/// Finds out whether `init(row:)` of a class does more than the one it inherits from ``Record``.
///
/// The language does not reveal this. A class that inherits an initializer has an entry of its own,
/// like a class that writes it. So the probe has the class make a record from a row without
/// columns. It notes which columns the class itself reads, and which properties it sets.
///
/// The initializer counts as inherited if the properties of the complete record are the same as
/// right after `Record` read the row. They must also be the same as in a record that was made by
/// `init(from:)`. If the default values of properties differ from record to record, this shows
/// nothing, and `init(row:)` is called for each row. Effects on anything but the record itself go
/// unnoticed.
final class InitializerProbe: RecordProbe, @unchecked Sendable {  // one thread uses it
    private var isAlone = false
    private var isRefused = false
    /// The state right after `Record` has read the row: the bytes of all properties, and the
    /// columns that were asked for.
    private var left: (bytes: [[UInt8]], names: [String])?

    /// Returns the way in which fetched records of a class are made.
    static func construction(_ type: Record.Type) -> CodedClass.Making {
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

    /// Returns the bytes of all properties below ``Record``. Nil if they are unknown.
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
