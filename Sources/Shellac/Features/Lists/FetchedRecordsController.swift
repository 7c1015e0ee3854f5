/// The list of a request's records, which reports its changes, moves included.
///
/// ```swift
/// @MainActor
/// final class PlayerList {
///     let controller: FetchedRecordsController<Player>
///
///     init(_ dbQueue: DatabaseQueue) throws {
///         controller = try FetchedRecordsController(
///             dbQueue, request: Player.order(Column("team"), Column("name")), sectionNameKey: "team")
///         try controller.performFetch()
///         controller.trackChanges(
///             willChange: { _ in print("the list changes:") },
///             onChange: { _, player, change in print(player.name, change) },
///             didChange: { controller in print(controller.fetchedRecords.count, "players") })
///     }
/// }
/// ```
///
/// The list belongs to its creator: an actor, the main actor, or a function. Its records, which may
/// be class records, and its changes are delivered there. Rows are fetched and compared elsewhere.
///
/// ## Kept records, and new ones
///
/// The primary key, which the request must fetch, identifies rows. A row whose values have not
/// changed keeps its record, even if it moves. *A row that has changed gets a new record*: the old
/// one may be on the screen, or half edited, and belongs to its user. (Let it follow its row by
/// `merge(_:)`.)
///
/// Rows that appear in a list more than once, as those of a join may, are matched in their order.
///
/// ## Sections
///
/// The name of a row's section is the text of a column, or the result of a function. The rows of a
/// section form one group, in the order of the request. Sections are in the order of their first
/// rows. Order the request by the value that names the sections. A list without section names has
/// one section, even if it is empty.
public final class FetchedRecordsController<Record: FetchableRecord> {
    let writer: any DatabaseWriter
    var source: ListSource
    /// The contents of the list, once it was fetched.
    private var contents: ListContents?
    /// The records of the list, section after section. There are none before the first fetch, by
    /// ``performFetch()`` or by the tracking.
    public private(set) var fetchedRecords: [Record] = []
    /// A number that changes with the list, and with the request.
    private var version = 0
    /// The present tracking, of which there is at most one.
    var tracking: ListTracking?
    var pollingInterval: Duration?
    /// The functions that the tracking calls, if it is no loop.
    var functions: Functions?
    var onError: ((FetchedRecordsController, any Error) -> Void)?

    init(_ writer: any DatabaseWriter, _ source: ListSource) { (self.writer, self.source) = (writer, source) }

    deinit { tracking?.end() }

    // MARK: - Fetching

    /// Fetches the list, on the calling thread. It delivers no changes.
    ///
    /// If nothing was fetched before, ``fetchedRecords`` is empty, and the first tracked changes
    /// start from an empty list.
    ///
    /// - Throws: A ``DatabaseError`` if the request fails, loads relations, or does not fetch the
    ///   primary key. Also the error of a record whose row does not convert, and of the function
    ///   that names sections. The list is then unchanged.
    public func performFetch() throws {
        let update = try ListUpdate<Record>.makeNow(
            writer.read(source.fetch), from: contents, source.sectionName)
        take(update)
        // Earlier fetches of the tracking are older.
        restartTracking()
    }

    /// Replaces the request.
    ///
    /// If changes are tracked, those from the present list to that of the request follow soon.
    /// Otherwise the list stays the same until ``performFetch()``. Sections are named as before.
    ///
    /// - Parameter request: A request that fetches the primary key of the record's table.
    public func setRequest<Request: FetchRequest>(_ request: Request)
    where Request.RowDecoder == Record, Record: TableRecord {
        source = ListSource(request, .primaryKey(Record.self), source.sectionName)
        requestDidChange()
    }

    /// Replaces the request, and the columns that identify its rows.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - keyColumns: The names of the columns that identify rows. The request must fetch all of
    ///     them.
    public func setRequest<Request: FetchRequest>(_ request: Request, keyColumns: [String])
    where Request.RowDecoder == Record {
        source = ListSource(request, .columns(keyColumns), source.sectionName)
        requestDidChange()
    }

    private func requestDidChange() {
        version += 1
        restartTracking()
    }

    /// Replaces the list by a new one.
    private func take(_ update: ListUpdate<Record>) {
        fetchedRecords = update.records(after: fetchedRecords)
        contents = update.contents
        version += 1
    }

    /// Compares the list with a fetch, on another thread, and then replaces it.
    ///
    /// - Parameter willChange: Called before the list changes, if it does. It may turn the list
    ///   into another one, or stop the tracking: then there are no changes.
    /// - Returns: The changes, and a function that returns the record of one of them. Nil if
    ///   nothing has changed, or if the list or its request was replaced meanwhile.
    nonisolated(nonsending) func take(
        _ fetch: ListFetch, of tracking: ListTracking,
        willChange: (FetchedRecordsController) -> Void = { _ in }
    ) async throws -> (changes: FetchedRecordsChanges, record: (FetchedRecordChange) -> Record)? {
        let started = version
        func isOvertaken() -> Bool { version != started || self.tracking !== tracking }
        let update: ListUpdate<Record>
        do {
            update = try await ListUpdate<Record>.make(fetch, from: contents, source.sectionName)
        } catch {
            // The error belongs to another request.
            if isOvertaken() { return nil }
            throw error
        }
        if isOvertaken() { return nil }
        if update.difference.changes.isEmpty {
            if contents == nil { take(update) }
            return nil
        }
        willChange(self)
        let (oldContents, oldRecords) = (contents, fetchedRecords)
        if isOvertaken() { return (FetchedRecordsChanges(), { _ in Misuse.trap("nothing has changed.") }) }
        take(update)
        let (newContents, newRecords) = (update.contents, fetchedRecords)
        return (
            update.difference.changes,
            { change in
                switch change {
                case .deletion(let indexPath):
                    oldRecords[oldContents.flatMap { $0.place(of: indexPath) } ?? 0]
                case .insertion(let indexPath), .move(_, let indexPath, _), .update(_, let indexPath, _):
                    newRecords[newContents.place(of: indexPath) ?? 0]
                }
            }
        )
    }

    // MARK: - Reading

    /// The sections, in their order. Before the first fetch it is an empty one, or none if sections
    /// have names.
    public var sections: [FetchedRecordsSection] {
        guard let contents else {
            return source.sectionName == nil ? [FetchedRecordsSection(name: "", numberOfRecords: 0)] : []
        }
        return contents.sections.map { FetchedRecordsSection(name: $0.name, numberOfRecords: $0.count) }
    }

    /// Returns the record at a place of the list.
    ///
    /// - Parameter indexPath: The place. It traps if the list does not have it, and before the
    ///   first fetch.
    public func record(at indexPath: RecordIndexPath) -> Record {
        guard let place = contents?.place(of: indexPath) else {
            Misuse.trap(
                "there is no record at \(indexPath): "
                    + (contents == nil
                        ? "nothing was fetched yet. Call performFetch() first."
                        : "the list has \(sections.map(\.numberOfRecords)) records in its sections. Ask "
                            + "sections[…].numberOfRecords first."))
        }
        return fetchedRecords[place]
    }

    /// Returns the records of a section, numbered from 0.
    ///
    /// - Parameter section: The number of the section, from 0. It traps if the list does not have
    ///   it.
    public func records(inSection section: Int) -> [Record] {
        guard sections.indices.contains(section) else {
            Misuse.trap("there is no section \(section): the list has \(sections.count).")
        }
        guard let contents else { return [] }
        let range = contents.sections[section]
        return Array(fetchedRecords[range.start..<range.start + range.count])
    }

    /// Returns the place of a record: of this very object, or else of the record with the same key.
    /// That one may have been changed, or come from another fetch.
    ///
    /// - Parameter record: The record, or another one that encodes the key.
    /// - Returns: The place. It is nil before the first fetch, and if no row of the list has the
    ///   key. It is also nil if the record does not encode the whole key. Records of a table
    ///   without a primary key, whose rows `rowid` identifies, do not.
    /// - Throws: Errors of encoding the record.
    public func indexPath(for record: Record) throws -> RecordIndexPath? where Record: EncodableRecord {
        guard let contents else { return nil }
        if Record.self is AnyClass {
            let place = fetchedRecords.firstIndex { $0 as AnyObject === record as AnyObject }
            if let place { return contents.indexPath(of: place) }
        }
        let dictionary = try record.databaseDictionary
        let key = contents.keyNames.compactMap { name in
            dictionary.first { CaseInsensitiveName.matches($0.key, name) }?.value
        }
        guard key.count == contents.keyNames.count else { return nil }
        return contents.place(ofKey: key).map(contents.indexPath(of:))
    }
}

@available(*, unavailable, message: "a list belongs to its owner, and so do its records")
extension FetchedRecordsController: Sendable {}

extension FetchedRecordsController where Record: TableRecord {
    /// Creates the list of a request. ``performFetch()`` fetches it.
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - request: A request that fetches the primary key of the record's table.
    ///   - sectionNameKey: A column whose text names the section of a row. Nil for a list without
    ///     section names.
    public convenience init<Request: FetchRequest>(
        _ writer: any DatabaseWriter, request: Request, sectionNameKey: String? = nil
    ) where Request.RowDecoder == Record {
        let sectionName = sectionNameKey.map { key in { @Sendable (row: Row) in try row.sectionName(in: key) }
        }
        self.init(writer, ListSource(request, .primaryKey(Record.self), sectionName))
    }

    /// Creates the list of a request, with sections that a function names.
    ///
    /// ```swift
    /// let controller = FetchedRecordsController(
    ///     dbQueue, request: Player.order(Column("name")),
    ///     sectionName: { row in
    ///         let name: String = try row["name"]
    ///         return String(name.prefix(1))
    ///     })
    /// ```
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - request: A request that fetches the primary key of the record's table.
    ///   - sectionName: Returns the name of a row's section. It is called on another thread. An
    ///     error that it throws ends the fetch, and is delivered as an error of the list.
    public convenience init<Request: FetchRequest>(
        _ writer: any DatabaseWriter, request: Request,
        sectionName: @escaping @Sendable (Row) throws -> String
    ) where Request.RowDecoder == Record {
        self.init(writer, ListSource(request, .primaryKey(Record.self), sectionName))
    }
}

extension FetchedRecordsController {
    /// Creates the list of a request whose rows do not belong to one table: other columns identify
    /// them.
    ///
    /// ```swift
    /// struct TeamScore: Decodable, FetchableRecord {
    ///     var team: String
    ///     var best: Int
    /// }
    /// let request = SQLRequest<TeamScore>(sql: "SELECT team, MAX(score) AS best FROM player GROUP BY team")
    /// let controller = FetchedRecordsController(dbQueue, request: request, keyColumns: ["team"])
    /// ```
    ///
    /// - Parameters:
    ///   - writer: The database.
    ///   - request: The request.
    ///   - keyColumns: The names of the columns that identify rows.
    ///   - sectionName: Returns the name of a row's section. Nil for a list without section names.
    public convenience init<Request: FetchRequest>(
        _ writer: any DatabaseWriter, request: Request, keyColumns: [String],
        sectionName: (@Sendable (Row) throws -> String)? = nil
    ) where Request.RowDecoder == Record {
        self.init(writer, ListSource(request, .columns(keyColumns), sectionName))
    }
}

/// A section of a list.
public struct FetchedRecordsSection: Hashable, Sendable {
    /// The common name of its rows. Empty if the list has no section names.
    public let name: String
    /// The number of its records.
    public let numberOfRecords: Int
}

extension Row {
    /// Returns the text of a column, as the name of a section. That of NULL is empty.
    fileprivate func sectionName(in column: String) throws -> String {
        let value: DatabaseValue = try self[column]
        switch value.storage {
        case .null: return ""
        case .int64(let integer): return String(integer)
        case .double(let real): return String(real)
        case .string, .blob:
            let text: String = try self[column]
            return text
        }
    }
}
