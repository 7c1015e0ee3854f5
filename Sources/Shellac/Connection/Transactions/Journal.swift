// The undo log of objects in memory, which restores their state when changes are rolled back.

import CSQLite
import Synchronization

/// An object whose state follows the database: if changes are rolled back, its earlier state is
/// restored.
protocol Journaled: AnyObject {
    /// Restores the state that the object had before the undone changes. It calls no other code.
    func restore(_ note: Journal.Note)

    /// Takes away values that the object was given, such as a row id. At this point the states of
    /// all objects are restored. So user code that is called here sees no outdated object.
    func revert(_ note: Journal.Note, on database: Database)

    /// Returns whether the database agrees with the object's state, or nil if that cannot be
    /// determined.
    func matches(_ database: Database) -> Bool?

    /// Discards all that the object assumes about the database.
    func forget()

    /// The object that was changed: notes made of it before it was copied concern its copy, too.
    var original: AnyObject { get }

    /// Returns the object that restores the state of a copy in place of this one's, or nil if
    /// `copy` is no copy of this.
    func inPlace(of copy: AnyObject) -> (any Journaled)?
}

/// The undo log of objects in memory: notes of their earlier states, in order of time.
///
/// ## The life of a note
///
/// A note is made when an object has been saved inside of something that may be undone. That is a
/// transaction, a savepoint, or a running statement, one of whose functions saved it. The note
/// holds the object and its earlier state.
///
/// - *ROLLBACK*, and every other way in which SQLite ends a transaction without committing: all
///   notes are played back, the latest first, and dropped.
/// - *ROLLBACK TO*: the same, for the notes made since the savepoint was opened. RELEASE does
///   nothing: the notes then belong to the scope around the savepoint.
/// - *A statement that failed*. Whether SQLite has undone what was saved from inside of it depends
///   on the kind of statement, and SQLite does not report it. So each object saved from there is
///   compared with the database, and its notes are played back until they agree. A statement that
///   only reads undoes nothing when it fails. The remaining notes, and those of a statement that
///   did not fail, then belong to the scope around the statement.
/// - *COMMIT*, and the end of the outermost statement outside of a transaction: the notes are
///   dropped.
///
/// All of this happens when the statement has ended, and never inside one of SQLite's hooks.
///
/// If a note held the last reference to its object, the object is freed with it. Its `deinit` may
/// use the database: save other objects, and begin and end transactions. So notes are not dropped
/// at the point where they end. They depart: they are put aside. They are released after all
/// handlers of the statement's end have run, when nothing is half done.
///
/// One note of an object is enough between two moments that can be restored. The numbers of
/// ``moment`` distinguish these, and each object remembers the number of its last note.
struct Journal: ~Copyable {
    struct Note {
        /// The object, which is ``Journaled``.
        let object: AnyObject
        /// The earlier state of the object, or another value that it restores.
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

        /// The number of running functions, called by SQLite, whose statements may still fail.
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
    /// Notes that have ended, and are still to be released.
    private var departing: [Note] = []
    /// The memory of released notes, for reuse: new memory is slow.
    private var spare: [Note] = []
    /// The number of the present moment, for the notes made since the last point that can be
    /// restored. No other journal has the same number.
    private(set) var moment = Self.nextMoment()

    private static let lastMoment = Atomic<UInt64>(0)
    private static func nextMoment() -> UInt64 { lastMoment.add(1, ordering: .relaxed).newValue }

    #if DEBUG
    static var latestMoment: UInt64 { lastMoment.load(ordering: .relaxed) }
    var deepest: Int { notes.map(\.depth).max() ?? 0 }
    #endif

    var isEmpty: Bool { log.isEmpty }
    var count: Int { log.count }

    /// Adds a note, with the number of the savepoint opened last.
    mutating func add(_ note: Note, after savepoint: Int) { log.append(note, after: savepoint) }

    /// Begins a moment that can be restored: a savepoint was opened.
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

    // MARK: Releasing notes

    /// Whether notes are still to be released.
    var hasDepartures: Bool { !departing.isEmpty }

    /// Adds notes that have been taken, and have ended.
    mutating func depart(_ notes: [Note]) { departing += notes }

    /// Takes the notes to be released. The array has no other reference, so it can be emptied in
    /// place.
    mutating func takeDepartures() -> [Note] {
        let taken = departing
        departing = []
        return taken
    }

    /// Keeps the memory of released notes. (That of a very large transaction is not kept.)
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

    /// Puts notes that are still valid back, in front of those made since they were taken. They
    /// then belong to the scope around the statement.
    ///
    /// (No savepoint is opened while a statement runs that writes.)
    ///
    /// - Parameter start: The number of notes when they were taken.
    mutating func putBack(_ kept: [Note], at start: Int, depth: Int, after savepoint: Int) {
        let later = log.takeElements(from: start)
        for var note in kept {
            note.depth = depth
            log.append(note, after: savepoint)
        }
        log.append(contentsOf: later, after: savepoint)
    }

    /// Keeps the notes made from inside of a statement's functions, as the statement alone cannot
    /// be undone any more. They then belong to the scope around it.
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
    /// Notes the state that an object had before a change, if the change may be undone.
    ///
    /// - Parameters:
    ///   - rowID: The row id that the object was given.
    ///   - moment: The moment of the object's last note, or 0.
    ///   - database: The database of this log.
    /// - Returns: The moment of the new note, or 0 if nothing can be undone.
    @inline(__always)
    func note(
        _ object: some Journaled, _ state: @autoclosure () -> AnyObject?, rowID: Journal.GivenRowID?,
        moment: UInt64, in database: Database
    ) -> UInt64 {
        let depth = database.callbackDepth
        guard depth > 0 || sqlite3_get_autocommit(database.pointer) == 0 else { return 0 }
        // The statement whose function saves may be undone on its own.
        if rowID != nil || depth > 0 || moment != journal.moment {
            let note = Journal.Note(object: object, state: state(), rowID: rowID, depth: depth)
            journal.add(note, after: savepoints.lastNumber)
            if !isOpen { database.owed.insert(.autocommitStatementDidEnd) }
            if depth > 0 { database.owed.insert(.nestedStatementDidEnd) }
        }
        return journal.moment
    }

    /// Notes that an object was copied. The copy shares the original's past: undone changes of that
    /// are restored in the copy, too.
    func note(copy: AnyObject, of original: AnyObject) {
        if journal.isEmpty { return }
        let depth = database.callbackDepth
        let note = CopyNote(copy, of: original)
        journal.add(
            Journal.Note(object: note, state: nil, rowID: nil, depth: depth), after: savepoints.lastNumber)
        if depth > 0 { database.owed.insert(.nestedStatementDidEnd) }
    }

    /// Restores the objects that were saved since a savepoint was opened, or all of them.
    func playBack(since savepoint: Int?) {
        let notes = journal.takeNotes(since: savepoint)
        var playback = Playback()
        for note in notes.reversed() { playback.restore(note) }
        if savepoint != nil {
            // The states of their originals before the savepoint may still be restored.
            for note in notes where (note.object as? CopyNote)?.copy != nil {
                journal.add(note, after: savepoints.lastNumber)
            }
        }
        playback.revert(on: database)
        journal.depart(notes)
    }

    /// Keeps the notes of a statement that has ended, at the present depth. If their objects no
    /// longer agree with the database, restores these.
    ///
    /// - Parameter mayBeUndone: Whether the statement writes, and failed.
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
                playback.restore(note)
                kept.append(note)
                continue
            }
            let identifier = ObjectIdentifier(note.object)
            if !keptObjects.contains(identifier) {
                let matches = object.matches(database)
                if matches == false {
                    // (The next note of the object is compared with the state restored here.)
                    playback.restore(note)
                    undone.append(note)
                    continue
                }
                if matches == nil { object.forget() }
                keptObjects.insert(identifier)
            }
            kept.append(note)
        }
        journal.putBack(
            kept.reversed(), at: start, depth: database.callbackDepth, after: savepoints.lastNumber)
        // A comparison above runs a statement, which may have signalled the end of the autocommit
        // statement meanwhile.
        if !isOpen, !journal.isEmpty { database.owed.insert(.autocommitStatementDidEnd) }
        playback.revert(on: database)
        journal.depart(undone)
    }
}

/// A note that an object was copied, at this place of the journal.
private final class CopyNote {
    private(set) weak var copy: AnyObject?
    /// The original: no other object can have that address among the earlier notes.
    let original: ObjectIdentifier

    init(_ copy: AnyObject, of original: AnyObject) {
        self.copy = copy
        self.original = ObjectIdentifier(original)
    }
}

/// The playback of notes, the latest first.
private struct Playback {
    private var copies: [ObjectIdentifier: [AnyObject]] = [:]
    private var played: [(object: any Journaled, note: Journal.Note)] = []

    mutating func restore(_ note: Journal.Note) {
        if let object = note.object as? any Journaled {
            play(note, object)
            if copies.isEmpty { return }
            for copy in copies[ObjectIdentifier(object.original)] ?? [] {
                if let object = object.inPlace(of: copy) { play(note, object) }
            }
        } else if let note = note.object as? CopyNote, let copy = note.copy {
            // A copy of a copy shares the past of both.
            copies[note.original, default: []] += [copy] + (copies[ObjectIdentifier(copy)] ?? [])
        }
    }

    private mutating func play(_ note: Journal.Note, _ object: any Journaled) {
        object.restore(note)
        played.append((object, note))
    }

    func revert(on database: Database) {
        for (object, note) in played { object.revert(note, on: database) }
    }
}
