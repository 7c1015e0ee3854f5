/// Two fetches of a list, for measuring the time of their comparison.
package struct ListComparison: Sendable {
    private let old: ListContents
    private let new: ListContents

    package init<Element: FetchableRecord & TableRecord>(
        _ old: some FetchRequest<Element>, _ new: some FetchRequest<Element>, in reader: some DatabaseReader
    ) throws {
        func contents(_ request: some FetchRequest<Element>) throws -> ListContents {
            let fetch = try reader.read(ListSource(request, .primaryKey(Element.self), nil).fetch)
            return try ListContents(fetch.rows, keyColumns: fetch.keyColumns, sectionName: nil)
        }
        (self.old, self.new) = try (contents(old), contents(new))
    }

    /// The keys of both lists, which are row ids.
    package var keys: (old: [Int64], new: [Int64]) {
        guard case (.integers(let old), .integers(let new)) = (old.keys, new.keys) else { return ([], []) }
        return (old, new)
    }

    package func changes() -> FetchedRecordsChanges { ListDifference(from: old, to: new).changes }
}
