// The undo log of objects in memory, which restores their state when changes are rolled back.

import CSQLite
import Synchronization

/// An object whose state follows the database: what is rolled back there is given back to it.
protocol Journaled: AnyObject {
    /// Gives the object back what it knew of the database before what is undone. It calls nobody.
    func giveBack(_ note: Journal.Note)

    /// Takes the values away that the object was given, such as a row id. All objects have been given back what they knew:
    /// the user's code that is called for it sees none of them as it is no more.
    func takeAwayValues(_ note: Journal.Note, on database: Database)

    /// Whether the database holds what the object believes that it holds. Nil where that cannot be told.
    func isTrue(on database: Database) -> Bool?

    /// Believes nothing any more.
    func forget()

    /// The object that was changed: what was noted of it before it was copied concerns its copy, too.
    var original: AnyObject { get }

    /// Returns what is given back to a copy in the place of this. Nil where that is no copy of it.
    func inPlace(of copy: AnyObject) -> (any Journaled)?
}

/// The undo log of objects in memory: notes of what they were before they were changed, in order of time.
///
/// ## The life of a note
///
/// A note is made when an object has been saved inside of something that may be undone: a transaction, a savepoint, or
/// a running statement, one of whose functions saved it. It holds the object, and what the object was.
///
/// - *ROLLBACK*, and every way in which SQLite ends a transaction without committing: all notes are played back,
///   the latest first, and dropped.
/// - *ROLLBACK TO*: the same, for the notes made since the savepoint was opened. RELEASE does nothing: the notes now
///   belong to what is around the savepoint.
/// - *A statement that failed*. Whether SQLite has undone what was saved from inside of it depends on the kind of
///   statement, and SQLite does not tell. So each object saved from there is compared with the database, and its notes
///   are played back until they agree. A statement that only reads undoes nothing when it fails. What is left of the
///   notes, and those of a statement that did not fail, then belong to what is around the statement.
/// - *COMMIT*, and the end of the outermost statement where there is no transaction: the notes are dropped.
///
/// All of this happens when the statement has ended, and never inside one of SQLite's hooks.
///
/// Where a note was all that held its object, the object is freed with it, and its `deinit` may use the database: save
/// other objects, and begin and end transactions. So notes are not dropped where they end. They depart: they are
/// put aside, and let go of when the end of the statement has been told to everybody, and nothing is half done.
///
/// One note of an object is enough between two moments to go back to. These are told from each other by the numbers of
/// ``moment``, of which each object remembers that of its last note.
struct Journal: ~Copyable {
    struct Note {
        /// It is a ``Journaled`` one.
        let object: AnyObject
        /// The state that the object had, or what else it was that is given back to it.
        let state: AnyObject?
        private let rowIDValue: Int64
        private let rowIDColumn: Int16
        private var storedDepth: Int16

        init(object: AnyObject, state: AnyObject?, rowID: GivenRowID?, depth: Int) {
            self.object = object
            self.state = state
            rowIDValue = rowID?.value ?? 0
            rowIDColumn = rowID.map { Int16(truncatingIfNeeded: $0.column) } ?? -1
            storedDepth = Int16(truncatingIfNeeded: depth)
        }

        /// The row id that the object was given.
        var rowID: GivenRowID? {
            rowIDColumn < 0 ? nil : GivenRowID(value: rowIDValue, column: Int(rowIDColumn))
        }

        /// How many functions called by SQLite were running, whose statements may still fail.
        var depth: Int {
            get { Int(storedDepth) }
            set { storedDepth = Int16(truncatingIfNeeded: newValue) }
        }
    }

    /// A row id that the database gave an object.
    struct GivenRowID {
        let value: Int64
        /// The number of the column, among those that the object stores.
        let column: Int
    }

    private(set) var log = MarkedLog<Note>()
    var notes: [Note] { log.elements }
    /// Those that have ended, and wait to be let go of.
    private var departing: [Note] = []
    /// The memory of notes that were let go of: memory that is new is slow.
    private var spare: [Note] = []
    /// Tells the notes made since the last moment that can be gone back to. No other journal has the number.
    private(set) var moment = Self.nextMoment()

    private static let lastMoment = Atomic<UInt64>(0)
    private static func nextMoment() -> UInt64 { lastMoment.add(1, ordering: .relaxed).newValue }

    #if DEBUG
    static var latestMoment: UInt64 { lastMoment.load(ordering: .relaxed) }
    var deepest: Int { notes.map(\.depth).max() ?? 0 }
    #endif

    var isEmpty: Bool { log.isEmpty }
    var count: Int { log.count }

    /// Adds a note, which is made when a savepoint has been opened last.
    mutating func add(_ note: Note, after savepoint: Int) { log.append(note, after: savepoint) }

    /// Begins a moment that can be gone back to: a savepoint was opened.
    mutating func beginMoment() { moment = Self.nextMoment() }

    /// Takes the notes made since a savepoint was opened, or all of them.
    mutating func takeNotes(since savepoint: Int?) -> [Note] {
        beginMoment()
        return savepoint.map { log.takeElements(since: $0) } ?? log.takeAll()
    }

    /// Removes all notes, as they have ended.
    mutating func removeAll() {
        beginMoment()
        if departing.isEmpty {
            departing = log.takeAll(leaving: spare)
            spare = []
        } else {
            departing += log.takeAll()
        }
    }

    // MARK: Letting go

    /// Whether notes wait to be let go of.
    var hasDepartures: Bool { !departing.isEmpty }

    /// Adds notes that have been taken, and have ended.
    mutating func depart(_ notes: [Note]) { departing += notes }

    /// Takes those that wait to be let go of. Nobody else has the array, which can be emptied in place.
    mutating func takeDepartures() -> [Note] {
        let taken = departing
        departing = []
        return taken
    }

    /// Keeps the memory of notes that were let go of. (That of a very large transaction is an exception.)
    mutating func keepMemory(_ empty: consuming [Note]) {
        if empty.capacity > spare.capacity, empty.capacity <= 1 << 16 { spare = empty }
    }

    /// Takes the notes made from inside the functions of statements that ran at a depth.
    ///
    /// They are the last ones: nothing else is saved while such a function runs.
    mutating func takeNotes(deeperThan depth: Int) -> [Note] {
        let start = notes.lastIndex { $0.depth <= depth }.map { $0 + 1 } ?? 0
        guard start < log.count else { return [] }
        beginMoment()
        return log.takeElements(from: start)
    }

    /// Puts notes back that still count, in front of those made since they were taken. They now belong to what is around
    /// the statement.
    ///
    /// (No savepoint is opened while a statement runs that writes.)
    ///
    /// - Parameter start: How many notes there were when they were taken.
    mutating func putBack(_ kept: [Note], at start: Int, depth: Int, after savepoint: Int) {
        let later = log.takeElements(from: start)
        for var note in kept {
            note.depth = depth
            log.append(note, after: savepoint)
        }
        log.append(contentsOf: later, after: savepoint)
    }

    /// Keeps the notes made from inside of a statement's functions, as it will not be undone by itself: they now belong
    /// to what is around it.
    mutating func keepNotes(deeperThan depth: Int) {
        var index = log.count
        while index > 0, log[index - 1].depth > depth {
            index -= 1
            log[index].depth = depth
        }
    }
}

// MARK: - Playing back

extension TransactionLog {
    /// Notes what an object was before it was changed, where the change may be undone.
    ///
    /// - Parameters:
    ///   - rowID: The row id that the object was given.
    ///   - moment: The moment of the object's last note, or 0.
    ///   - database: The one that this is the log of.
    /// - Returns: The moment of this one, or 0 where nothing can be undone.
    @inline(__always)
    func note(
        _ object: some Journaled, _ state: @autoclosure () -> AnyObject?, rowID: Journal.GivenRowID?,
        moment: UInt64, in database: Database
    ) -> UInt64 {
        let depth = database.callbackDepth
        guard depth > 0 || sqlite3_get_autocommit(database.pointer) == 0 else { return 0 }
        // The statement whose function saves may be undone by itself.
        if rowID != nil || depth > 0 || moment != journal.moment {
            let note = Journal.Note(object: object, state: state(), rowID: rowID, depth: depth)
            journal.add(note, after: savepoints.lastNumber)
            if !isOpen { database.owed.insert(.autocommitStatementDidEnd) }
            if depth > 0 { database.owed.insert(.nestedStatementDidEnd) }
        }
        return journal.moment
    }

    /// Notes that an object was copied. The copy has the original's past: what is undone of that is given back to it, too.
    func note(copy: AnyObject, of original: AnyObject) {
        if journal.isEmpty { return }
        let depth = database.callbackDepth
        let note = CopyNote(copy, of: original)
        journal.add(
            Journal.Note(object: note, state: nil, rowID: nil, depth: depth), after: savepoints.lastNumber)
        if depth > 0 { database.owed.insert(.nestedStatementDidEnd) }
    }

    /// Undoes what was saved since a savepoint was opened, or at all.
    func playBack(since savepoint: Int?) {
        let notes = journal.takeNotes(since: savepoint)
        var playback = Playback()
        for note in notes.reversed() { playback.giveBack(note) }
        if savepoint != nil {
            // What their originals were before the savepoint can still be undone.
            for note in notes where (note.object as? CopyNote)?.copy != nil {
                journal.add(note, after: savepoints.lastNumber)
            }
        }
        playback.takeAwayValues(on: database)
        journal.depart(notes)
    }

    /// Keeps the notes of a statement that has ended, at the present depth, or gives back what they know, where it is no
    /// longer true.
    ///
    /// - Parameter mayBeUndone: Whether it was to write, and failed.
    func endNotes(mayBeUndone: Bool) {
        if database.callbackDepth == 0, !hasUndoneStatements { database.owed.remove(.nestedStatementDidEnd) }
        guard !journal.isEmpty else { return }
        guard mayBeUndone else { return journal.keepNotes(deeperThan: database.callbackDepth) }
        var keptObjects: Set<ObjectIdentifier> = []
        var kept: [Journal.Note] = []
        var undone: [Journal.Note] = []
        var playback = Playback()
        let notes = journal.takeNotes(deeperThan: database.callbackDepth)
        let start = journal.count
        for note in notes.reversed() {
            guard let object = note.object as? any Journaled else {
                playback.giveBack(note)
                kept.append(note)
                continue
            }
            let identifier = ObjectIdentifier(note.object)
            if !keptObjects.contains(identifier) {
                let isTrue = object.isTrue(on: database)
                if isTrue == false {
                    // (The next note of the object is compared with what it then knows.)
                    playback.giveBack(note)
                    undone.append(note)
                    continue
                }
                if isTrue == nil { object.forget() }
                keptObjects.insert(identifier)
            }
            kept.append(note)
        }
        journal.putBack(
            kept.reversed(), at: start, depth: database.callbackDepth, after: savepoints.lastNumber)
        // A statement that has asked the database may have told of the end of the autocommit statement, meanwhile.
        if !isOpen, !journal.isEmpty { database.owed.insert(.autocommitStatementDidEnd) }
        playback.takeAwayValues(on: database)
        journal.depart(undone)
    }
}

/// That an object was copied, at this place of the journal.
private final class CopyNote {
    private(set) weak var copy: AnyObject?
    /// The original: nobody else can have that address among the notes that were made before.
    let original: ObjectIdentifier

    init(_ copy: AnyObject, of original: AnyObject) {
        self.copy = copy
        self.original = ObjectIdentifier(original)
    }
}

/// Notes that are played back, the latest first.
private struct Playback {
    private var copies: [ObjectIdentifier: [AnyObject]] = [:]
    private var played: [(object: any Journaled, note: Journal.Note)] = []

    mutating func giveBack(_ note: Journal.Note) {
        if let object = note.object as? any Journaled {
            play(note, object)
            if copies.isEmpty { return }
            for copy in copies[ObjectIdentifier(object.original)] ?? [] {
                if let object = object.inPlace(of: copy) { play(note, object) }
            }
        } else if let note = note.object as? CopyNote, let copy = note.copy {
            // A copy of a copy has the past of both.
            copies[note.original, default: []] += [copy] + (copies[ObjectIdentifier(copy)] ?? [])
        }
    }

    private mutating func play(_ note: Journal.Note, _ object: any Journaled) {
        object.giveBack(note)
        played.append((object, note))
    }

    func takeAwayValues(on database: Database) {
        for (object, note) in played { object.takeAwayValues(note, on: database) }
    }
}
