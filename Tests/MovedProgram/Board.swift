// swift-format-ignore-file
// Each line has the same number as in the other of the two files.

import Foundation
import Shellac
import Synchronization

/// The server of a message board: users write posts about topics, and jobs run in the background.
enum BoardProgram {
    // MARK: - Values

    /// A colour, which is stored as a text like "#ff8000".
    struct Colour: DatabaseValueConvertible, Codable, Hashable {
        var rgb: Int

        var databaseValue: DatabaseValue {
            ("#" + String(rgb + 0x1000000, radix: 16).dropFirst()).databaseValue
        }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Colour? {
            guard let text = String.fromDatabaseValue(dbValue), text.hasPrefix("#") else {
                return nil
            }
            return Int(text.dropFirst(), radix: 16).map(Colour.init)
        }
    }

    enum JobState: String, Codable, DatabaseValueConvertible, CaseIterable {
        case waiting, running, done, failed
    }

    struct Priority: RawRepresentable, Codable, Hashable, DatabaseValueConvertible {
        var rawValue: Int

        static let low = Priority(rawValue: 1)
        static let high = Priority(rawValue: 10)
    }

    enum BoardError: Error, Equatable {
        case nameIsTaken(String)
        case unknownTopic(Int64)
        case invalid(String)
        case jobFailed
    }

    // MARK: - Records

    /// A record with columns in snake case.
    protocol BoardRecord: Codable, Sendable, FetchableRecord, EncodableRecord {}

    struct User: BoardRecord, Identifiable, Hashable, PersistableRecord {
        var id: UUID
        var name: String
        var colour: Colour?
        var joinedAt: Date

        enum Columns {
            static let name = Column("name")
            static let joinedAt = Column("joined_at")
        }
    }

    struct Topic: BoardRecord, Identifiable, Hashable, MutablePersistableRecord {
        var id: Int64?
        var title: String
        var slug: String?
        var postCount = 0

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct Post: BoardRecord, Identifiable, Hashable, MutablePersistableRecord {
        var id: Int64?
        var topicId: Int64
        var authorId: UUID
        var body: String
        var createdAt: Date

        enum Columns {
            static let id = Column("id")
            static let topicId = Column("topic_id")
            static let body = Column("body")
        }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    struct JobRecord: BoardRecord, Identifiable, MutablePersistableRecord {
        static let databaseTableName = "job"

        var id: Int64?
        var kind: String
        var payload: Data
        var state: JobState
        var priority: Priority
        var attempts = 0

        enum Columns: String, ColumnExpression { case id, state, priority, attempts }

        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }
}

extension BoardProgram.BoardRecord {
    static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .lowercaseString
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
}

// MARK: - Functions and collations

extension DatabaseFunction {
    /// Turns "Hello World" into "hello-world".
    static let slug = DatabaseFunction("slug", argumentCount: 1, pure: true) { dbValues in
        guard let title = String.fromDatabaseValue(dbValues[0]) else {
            return nil
        }
        guard !title.isEmpty else {
            throw BoardProgram.BoardError.invalid("a title is empty")
        }
        return title.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
    }
}

extension DatabaseCollation {
    /// Sorts "2" before "10".
    static let numeric = DatabaseCollation("numeric") { $0.compare($1, options: .numeric) }
}

// MARK: - The board

extension BoardProgram {
    final class Board: Sendable {
        let dbPool: DatabasePool

        init(path: String) throws {
            let clock = Date(timeIntervalSince1970: 1_700_000_000)
            var configuration = Configuration()
            configuration.label = "Board"
            configuration.maximumReaderCount = 3
            configuration.busyMode = .callback { numberOfTries in numberOfTries < 20 }
            configuration.transactionClock = .custom { _ in clock }
            configuration.publicStatementArguments = true
            configuration.prepareDatabase { db in
                try db.add(function: .slug)
                try db.add(collation: .numeric)
                if !db.configuration.readonly {
                    try db.execute(sql: "PRAGMA synchronous = NORMAL")
                }
            }
            dbPool = try DatabasePool(path: path, configuration: configuration)
            try dbPool.write { db in
                try db.execute(sql: """
                    CREATE TABLE user (
                        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, colour TEXT, joined_at INTEGER);
                    CREATE TABLE topic (
                        id INTEGER PRIMARY KEY, title TEXT NOT NULL, slug TEXT, post_count INTEGER);
                    CREATE TABLE post (
                        id INTEGER PRIMARY KEY,
                        topic_id INTEGER NOT NULL REFERENCES topic ON DELETE CASCADE,
                        author_id TEXT NOT NULL REFERENCES user,
                        body TEXT NOT NULL CHECK (body <> ''), created_at INTEGER NOT NULL);
                    CREATE TABLE job (
                        id INTEGER PRIMARY KEY, kind TEXT, payload BLOB, state TEXT, priority INTEGER,
                        attempts INTEGER);
                    """)
            }
        }

        func join(name: String, colour: Colour? = nil) async throws -> User {
            do {
                return try await dbPool.write { db in
                    let user = User(id: UUID(), name: name, colour: colour, joinedAt: try db.transactionDate)
                    try user.insert(db)
                    return user
                }
            } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
                throw BoardError.nameIsTaken(name)
            }
        }

        func open(topic title: String) async throws -> Topic {
            try await dbPool.write { db in
                var topic = Topic(title: title)
                try topic.insert(db)
                try db.execute(literal: """
                    UPDATE \(Topic.self) SET slug = \(DatabaseFunction.slug(Column("title")))
                    WHERE id = \(topic.id)
                    """)
                return try Topic.find(db, key: topic.id)
            }
        }

        @discardableResult
        func post(_ body: String, by user: User, in topicId: Int64) async throws -> Post {
            do {
                return try await dbPool.write { db in
                    let date = try db.transactionDate
                    let post = try Post(topicId: topicId, authorId: user.id, body: body, createdAt: date)
                        .inserted(db)
                    try db
                        .cachedStatement(sql: "UPDATE topic SET post_count = post_count + :n WHERE id = :id")
                        .execute(arguments: ["n": 1, "id": topicId])
                    return post
                }
            } catch let error as DatabaseError
                where error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY {
                throw BoardError.unknownTopic(topicId)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                throw BoardError.invalid(error.message ?? "")
            }
        }

        /// The posts that contain all of the words, those of one author first if there is one.
        func search(_ words: [String], first author: User? = nil, limit: Int = 10) async throws -> [Post] {
            try await dbPool.read { db in
                let conditions = words.map { word -> SQL in "instr(\(Post.Columns.body), \(word)) > 0" }
                var query: SQL = """
                    SELECT \(columnsOf: Post.self) FROM \(Post.self)
                    WHERE \(literal: conditions.joined(separator: " AND "))
                    """
                query += " ORDER BY "
                if let author {
                    query.append(sql: "author_id = ? DESC, ", arguments: [author.id.uuidString.lowercased()])
                }
                query += SQL(sql: "id LIMIT :limit", arguments: ["limit": limit])
                return try SQLRequest<Post>(literal: query).fetchAll(db)
            }
        }

        func topics(ids: [Int64]) async throws -> [String] {
            let request: SQLRequest<String> = """
                SELECT \(Column("title")) FROM \(Topic.self) WHERE \(Column("id")) IN \(ids)
                ORDER BY title COLLATE \(DatabaseCollation.numeric)
                """
            return try await dbPool.read { try request.fetchAll($0) }
        }

        /// Imports posts. A post that the database refuses does not stop the others.
        func importPosts(_ lines: [(topicId: Int64, body: String)], by user: User) throws -> Int {
            try dbPool.writeWithoutTransaction { db in
                var count = 0
                try db.inTransaction(.immediate) {
                    let statement = try db.makeStatement(sql: """
                        INSERT INTO post (topic_id, body, author_id, created_at) VALUES (?, ?, ?, ?)
                        """)
                    for line in lines {
                        var arguments: StatementArguments = [line.topicId, line.body]
                        arguments += [user.id.uuidString.lowercased(), 0]
                        try db.inSavepoint {
                            do {
                                try statement.execute(arguments: arguments)
                                count += db.changesCount
                                return .commit
                            } catch is DatabaseError {
                                return .rollback
                            }
                        }
                    }
                    return .commit
                }
                return count
            }
        }

        /// Deletes a topic, and says so when that is certain.
        func close(topicId: Int64, fails: Bool = false, log: Log) async throws {
            try await dbPool.write { db in
                db.afterNextTransaction(
                    onCommit: { _ in log.add("closed \(topicId)") },
                    onRollback: { _ in log.add("not closed \(topicId)") })
                try Topic.deleteOne(db, key: topicId)
                if fails {
                    throw BoardError.invalid("a topic that must stay")
                }
            }
        }

        func rename(_ user: User, to name: String) async throws -> String {
            try await withCheckedThrowingContinuation { continuation in
                dbPool.asyncWrite({ db in
                    try User.filter(id: user.id).updateAll(db, User.Columns.name.set(to: name))
                    return try User.find(db, id: user.id).name
                }, completion: { _, result in
                    continuation.resume(with: result)
                })
            }
        }

        func userCount() async throws -> Int {
            try await withCheckedThrowingContinuation { continuation in
                dbPool.asyncRead { dbResult in
                    continuation.resume(with: Result { try User.fetchCount(dbResult.get()) })
                }
            }
        }
    }

    /// Messages of several threads.
    final class Log: Sendable {
        private let mutex = Mutex<[String]>([])

        var messages: [String] { mutex.withLock { $0 } }

        func add(_ message: String) { mutex.withLock { $0.append(message) } }
    }

    // MARK: - Jobs

    protocol Job: Codable, Sendable {
        static var kind: String { get }
        func run(_ db: Database) throws
    }

    /// Sets the count of posts of a topic.
    struct RecountJob: Job {
        static let kind = "recount"
        var topicId: Int64

        func run(_ db: Database) throws {
            let count = try Post.filter(Post.Columns.topicId == topicId).fetchCount(db)
            let arguments = StatementArguments([count, Int(topicId)])
            try db.execute(sql: "UPDATE topic SET post_count = ? WHERE id = ?", arguments: arguments)
        }
    }

    struct FailingJob: Job {
        static let kind = "failing"

        func run(_ db: Database) throws {
            try db.execute(sql: "DELETE FROM post")
            throw BoardError.jobFailed
        }
    }

    /// A queue of jobs of some types, which the database keeps.
    struct JobQueue<Writer: DatabaseWriter>: Sendable {
        typealias Decode = @Sendable (Data) throws -> any Job

        let writer: Writer
        private var decoders: [String: Decode] = [:]

        init(_ writer: Writer) {
            self.writer = writer
        }

        mutating func register<J: Job>(_ type: J.Type) {
            decoders[type.kind] = { data in try JSONDecoder().decode(type, from: data) }
        }

        @discardableResult
        func enqueue(_ job: some Job, priority: Priority = .low) async throws -> Int64 {
            let payload = try JSONEncoder().encode(job)
            let kind = type(of: job).kind
            return try await writer.write { db in
                var record = JobRecord(kind: kind, payload: payload, state: .waiting, priority: priority)
                try record.insert(db)
                return db.lastInsertedRowID
            }
        }

        /// Runs the most important job, and returns its state, or nil if none is waiting.
        func runNext() async throws -> JobState? {
            let decoders = decoders
            return try await writer.write { db in
                let next = JobRecord
                    .filter { $0.state == JobState.waiting }
                    .order { [$0.priority.desc, $0.id] }
                guard var job = try next.fetchOne(db) else {
                    return nil
                }
                job.attempts += 1
                try job.updateChanges(db) { $0.state = .running }
                do {
                    try db.inSavepoint {
                        try decoders[job.kind]?(job.payload).run(db)
                        return .commit
                    }
                    job.state = .done
                } catch BoardError.jobFailed {
                    job.state = job.attempts < 2 ? .waiting : .failed
                }
                try job.update(db, columns: [JobRecord.Columns.state, JobRecord.Columns.attempts])
                return job.state
            }
        }

        func states() async throws -> [JobState: Int] {
            try await writer.read { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT state, COUNT(*) AS n FROM job GROUP BY state")
                return try Dictionary(uniqueKeysWithValues: rows.map { (try $0["state"], try $0["n"]) })
            }
        }
    }

    // MARK: - The program

    final class Report {
        private(set) var failures: [String] = []

        func check(_ condition: Bool, _ what: String) {
            if !condition { failures.append(what) }
        }

        func check(throws expected: BoardError, _ what: String, _ body: () async throws -> Void) async {
            do {
                try await body()
                failures.append("\(what): nothing was thrown")
            } catch {
                check(error as? BoardError == expected, "\(what): \(error)")
            }
        }
    }

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Board-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = Report()
        let board = try Board(path: folder.appendingPathComponent("board.sqlite").path)
        let ann = try await board.join(name: "Ann", colour: Colour(rgb: 0xff8000))
        let bob = try await board.join(name: "Bob")

        try await checkPosts(board, ann, bob, report)
        try await checkJobs(board, report)
        try await checkConcurrency(board, report)
        try checkStatements(board, report)
        try checkFiles(board, folder, report)
        try await board.dbPool.close()

        print(report.failures.isEmpty ? "The board is up." : report.failures.joined(separator: "\n"))
    }

    static func checkPosts(_ board: Board, _ ann: User, _ bob: User, _ report: Report) async throws {
        let found = try await board.dbPool.read { db in try User.find(db, id: ann.id) }
        report.check(found == ann, "a user is read as it was written")
        let raw = try await board.dbPool.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || joined_at FROM user WHERE colour = '#ff8000'")
        }
        report.check(raw == ["\(ann.id.uuidString.lowercased()) 1700000000000"], "how it is stored: \(raw)")
        await report.check(throws: .nameIsTaken("Bob"), "a name is taken") {
            _ = try await board.join(name: "Bob")
        }

        let first = try await board.open(topic: "Topic No. 2")
        let second = try await board.open(topic: "Topic No. 10")
        report.check(first.slug == "topic-no-2", "a slug")
        await report.check(throws: .unknownTopic(99), "a topic is unknown") {
            try await board.post("Hello", by: ann, in: 99)
        }
        await report.check(throws: .invalid("CHECK constraint failed: body <> ''"), "a post is empty") {
            try await board.post("", by: ann, in: first.id!)
        }
        for (body, user) in [("red and green", ann), ("green", bob), ("red", bob)] {
            try await board.post(body, by: user, in: first.id!)
        }
        report.check(try await board.search(["red", "green"]).map(\.id) == [1], "two words")
        report.check(try await board.search(["red"], first: bob).map(\.id) == [3, 1], "an author first")
        report.check(try await board.search(["e"], limit: 2).count == 2, "a limit")
        report.check(try await board.topics(ids: [1, 2]) == [first.title, second.title], "a collation")
        let count = try board.importPosts([(1, "blue"), (2, ""), (77, "black"), (2, "white")], by: bob)
        report.check(count == 2, "two of four posts are imported")
        report.check(try await board.rename(bob, to: "Robert") == "Robert", "a user is renamed")
        report.check(try await board.userCount() == 2, "users")
        do {
            report.check(try await board.dbPool.write(ann.delete) == false, "a user with posts is deleted")
        } catch DatabaseError.SQLITE_CONSTRAINT {}

        let log = Log()
        try? await board.close(topicId: second.id!, fails: true, log: log)
        try await board.close(topicId: second.id!, log: log)
        report.check(log.messages == ["not closed 2", "closed 2"], "transactions end: \(log.messages)")
        report.check(try await board.dbPool.read(Post.fetchCount) == 4, "posts go with their topic")
    }

    static func checkJobs(_ board: Board, _ report: Report) async throws {
        var queue = JobQueue(board.dbPool)
        queue.register(RecountJob.self)
        queue.register(FailingJob.self)
        try await queue.enqueue(FailingJob())
        try await queue.enqueue(RecountJob(topicId: 1), priority: .high)
        var states: [JobState] = []
        while let state = try await queue.runNext() {
            states.append(state)
        }
        report.check(states == [.done, .waiting, .failed], "jobs run by priority: \(states)")
        report.check(try await queue.states() == [.done: 1, .failed: 1], "states are kept")
        report.check(try await board.dbPool.read { try Topic.find($0, key: 1).postCount } == 4, "a count")
        report.check(try await board.search(["e"]).count == 4, "a failing job changes nothing")
    }

    static func checkConcurrency(_ board: Board, _ report: Report) async throws {
        let dbPool = board.dbPool
        let snapshot = try dbPool.makeSnapshot()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for id in 1...4 {
                group.addTask {
                    try await dbPool.read { try Post.filter { $0.id <= id }.fetchCount($0) }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        report.check(counts.sorted() == [1, 2, 3, 4], "reads run together")
        let log = Log()
        let semaphore = DispatchSemaphore(value: 0)
        try await dbPool.writeWithoutTransaction { db in
            try db.inTransaction {
                try Post.filter { $0.id == 1 }.deleteAll(db)
                return .commit
            }
            dbPool.spawnConcurrentRead { dbResult in
                if let db = try? dbResult.get(), let count = try? Post.fetchCount(db) {
                    log.add("\(count)")
                }
                semaphore.signal()
            }
            try Post.deleteAll(db)
            semaphore.wait()
        }
        try await dbPool.barrierWriteWithoutTransaction { db in
            log.add("\(try Post.fetchCount(db))")
        }
        report.check(Set(log.messages) == ["3", "0"], "a concurrent read sees its state: \(log.messages)")
        report.check(try await snapshot.read(Post.fetchCount) == 4, "a snapshot does not change")
        try await dbPool.write { db in
            let user = try User.fetchOne(db)!
            for body in ["one", "three", "five"] {
                _ = try Post(topicId: 1, authorId: user.id, body: body, createdAt: .now).inserted(db)
            }
        }
    }

    static func checkStatements(_ board: Board, _ report: Report) throws {
        try board.dbPool.read { db in
            let statement = try db.makeStatement(sql: "SELECT body, id FROM post WHERE id > ? ORDER BY id")
            statement.arguments = [0]
            report.check(statement.columnNames == ["body", "id"] && statement.isReadonly, "a statement")
            let lengths = try String.fetchCursor(statement).map { $0.count }.filter { $0 > 3 }
            report.check(try Array(lengths) == [5, 4], "a cursor")
            let pairs = try Row.fetchCursor(statement, arguments: [0]).enumerated()
            while let (index, row) = try pairs.next() {
                report.check(try row["body"] as String == ["one", "three", "five"][index], "row \(index)")
            }
            report.check(try Row.fetchCursor(db, sql: "SELECT 1 WHERE 0").isEmpty(), "no row")
            let slugs = Topic.select(DatabaseFunction.slug(Column("title")), as: String.self)
            report.check(try slugs.fetchAll(db) == ["topic-no-2"], "a function of an expression")
            let named = StatementArguments(["a": 1]) &+ ["b": "two"]
            let row = try Row.fetchOne(db, sql: "SELECT :a AS a, :b AS b, NULL AS c", arguments: named)!
            report.check(try row["a"] as Int == 1 && row["b"] as String == "two", "arguments with names")
            report.check(try (row["c"] as DatabaseValue).isNull && row[2] as Int? == nil, "no value")
            do {
                try statement.setArguments([])
                report.check(false, "an argument is missing")
            } catch let error as DatabaseError {
                report.check(error.resultCode == .SQLITE_MISUSE, "too few arguments: \(error)")
            }
            do {
                try db.execute(sql: "SELECT * FROM missing WHERE id = ?", arguments: [7])
            } catch let error as DatabaseError {
                report.check("\(error)".hasPrefix("SQLite error 1: no such table: missing"), "\(error)")
                report.check(error.sql == "SELECT * FROM missing WHERE id = ?", "the SQL of an error")
            }
        }
    }

    static func checkFiles(_ board: Board, _ folder: URL, _ report: Report) throws {
        let (frames, done) = try board.dbPool.writeWithoutTransaction { try $0.checkpoint(.full) }
        report.check(frames > 0 && frames == done, "a checkpoint")
        let copy = try DatabaseQueue()
        var isComplete = false
        try board.dbPool.backup(to: copy) { progress in
            isComplete = progress.isCompleted && progress.completedPageCount == progress.totalPageCount
        }
        report.check(isComplete, "a backup is complete")
        report.check(try copy.read(Post.fetchAll) == board.dbPool.read(Post.fetchAll), "a backup is a copy")
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: board.dbPool.path, configuration: configuration)
        do {
            try reader.write { db in try db.execute(sql: "DELETE FROM post") }
            report.check(false, "a read-only connection writes")
        } catch let error as DatabaseError {
            report.check(error.resultCode == .SQLITE_READONLY, "a connection is read-only: \(error)")
        }
        try board.dbPool.erase()
        report.check(try board.dbPool.read { try $0.tableExists("post") } == false, "all is erased")
    }
}
