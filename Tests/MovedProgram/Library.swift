// swift-format-ignore-file
// Each line has the same number as in the other of the two files.

import Foundation
import Shellac
import Synchronization

/// A public library: members borrow copies of books, and review the books.
enum LibraryProgram {
    // MARK: - Records

    /// A record whose identifier is made by the database.
    protocol Entity: Codable, Identifiable, Hashable, Sendable, FetchableRecord, MutablePersistableRecord {
        var id: Int64? { get set }
    }

    struct Author: Entity {
        var id: Int64?
        var name: String
        var country: String?

        enum Columns {
            static let id = Column(CodingKeys.id)
            static let name = Column(CodingKeys.name)
            static let country = Column(CodingKeys.country)
        }

        static let books = hasMany(Book.self, using: Book.authorForeignKey)
        static let translations = hasMany(Book.self, key: "translations", using: Book.translatorForeignKey)
        static let copies = hasMany(Copy.self, through: books, using: Book.copies)

        var books: QueryInterfaceRequest<Book> { request(for: Author.books) }
        var translations: QueryInterfaceRequest<Book> { request(for: Author.translations).order { $0.year } }
    }

    struct Book: Entity {
        /// The details that a JSON column stores.
        struct Details: Codable, Hashable {
            var pages: Int
            var subjects: [String]
            var edition: String?
        }

        var id: Int64?
        var authorId: Int64
        var translatorId: Int64?
        var title: String
        var year: Int
        var details: Details?

        enum Columns {
            static let id = Column(CodingKeys.id)
            static let authorId = Column(CodingKeys.authorId)
            static let title = Column(CodingKeys.title)
            static let year = Column(CodingKeys.year)
            static let details = JSONColumn(CodingKeys.details)
        }

        static let authorForeignKey = ForeignKey([Columns.authorId])
        static let translatorForeignKey = ForeignKey(["translatorId"])
        static let author = belongsTo(Author.self, using: authorForeignKey)
        static let translator = belongsTo(Author.self, key: "translator", using: translatorForeignKey)
        static let copies = hasMany(Copy.self)
        static let loans = hasMany(Loan.self, through: copies, using: Copy.loans)
        static let openLoans = loans.filter { $0.returnDate == nil }.forKey("openLoans")
    }

    struct Copy: Entity {
        var id: Int64?
        var bookId: Int64
        var shelf: String

        enum Columns {
            static let id = Column(CodingKeys.id)
            static let bookId = Column(CodingKeys.bookId)
            static let shelf = Column(CodingKeys.shelf)
        }

        static let book: BelongsToAssociation<Copy, Book> = belongsTo(Book.self)
        static let loans: HasManyAssociation<Copy, Loan> = hasMany(Loan.self)
    }

    struct Member: Entity {
        var id: Int64?
        var name: String
        var email: String

        enum Columns { static let name = Column(CodingKeys.name) }

        static let card = hasOne(Card.self)
        static let loans = hasMany(Loan.self)
        static let books = hasMany(Book.self, through: loans, using: Loan.book, key: "borrowedBooks")
    }

    struct Card: Codable, Hashable, FetchableRecord, PersistableRecord {
        var memberId: Int64
        var number: String
    }

    struct Loan: Entity {
        var id: Int64?
        var copyId: Int64
        var memberId: Int64
        var startDate: Date
        var dueDate: Date
        var returnDate: Date?

        enum Columns {
            static let dueDate = Column(CodingKeys.dueDate)
            static let returnDate = Column(CodingKeys.returnDate)
        }

        static let copy = belongsTo(Copy.self)
        static let member = belongsTo(Member.self)
        static let book: HasOneThroughAssociation<Loan, Book> =
            hasOne(Book.self, through: copy, using: Copy.book)

        var member: QueryInterfaceRequest<Member> { request(for: Loan.member) }
    }

    struct Review: Codable, Hashable, FetchableRecord, PersistableRecord {
        var bookId: Int64
        var memberId: Int64
        var stars: Int

        enum Columns: String, ColumnExpression { case bookId, memberId, stars }
    }

    enum LibraryError: Error, Equatable { case noFreeCopy(String), tooManyLoans(Int) }

    // MARK: - Rows of several tables

    struct BookInfo: Decodable, Hashable, FetchableRecord {
        var book: Book
        var author: Author
        var translator: Author?
        var copies: [Copy]
    }

    struct AuthorStats: Decodable, FetchableRecord {
        struct Entry: Decodable {
            var book: Book
            var copies: [Copy]
        }

        var author: Author
        var bookCount: Int
        var maxBookYear: Int?
        var workCount: Int
        var books: [Entry]
    }

    struct LoanInfo: Decodable, FetchableRecord {
        struct Borrower: Decodable {
            var member: Member
            var card: Card?
        }

        var loan: Loan
        var borrower: Borrower
        var book: Book
    }

    struct RatedTitle: Decodable, FetchableRecord, TableRecord {
        static let databaseTableName = "book"
        static var databaseSelection: [any SQLSelectable] { [Column("title")] }

        var title: String
        var rating: Double?
    }
}

extension LibraryProgram.Entity {
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

extension DerivableRequest<LibraryProgram.Author> {
    func from(country: String) -> Self { filter { $0.country == country } }

    func orderedByName() -> Self {
        order { [$0.name.collating(.nocase), $0.id] }
    }
}

extension DerivableRequest<LibraryProgram.Book> {
    func written(in country: String) -> Self {
        joining(required: LibraryProgram.Book.author.from(country: country))
    }

    func orderedByAuthor() -> Self {
        let author = TableAlias<LibraryProgram.Author>()
        return joining(required: LibraryProgram.Book.author.aliased(author))
            .order { [author[LibraryProgram.Author.Columns.name], $0.title] }
    }
}

// MARK: - The catalogue

extension LibraryProgram {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { db in
            try db.create(table: "author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("country", .text)
            }
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("author", onDelete: .cascade).notNull()
                t.belongsTo("translator", inTable: "author", onDelete: .setNull)
                t.column("title", .text).notNull()
                t.column("year", .integer).notNull()
                t.column("details", .jsonText)
            }
            try db.create(table: "copy") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("book", onDelete: .cascade).notNull()
                t.column("shelf", .text).notNull()
            }
            try db.create(table: "member") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull()
                t.column("email", .text).notNull().unique()
            }
            try db.create(table: "card") { t in
                t.primaryKey("memberId", .integer).references("member", onDelete: .cascade)
                t.column("number", .text).notNull()
            }
            try db.create(table: "loan") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("copy", onDelete: .cascade).notNull()
                t.belongsTo("member", onDelete: .restrict).notNull()
                t.column("startDate", .datetime).notNull()
                t.column("dueDate", .datetime).notNull()
                t.column("returnDate", .datetime)
            }
            try db.create(table: "review") { t in
                t.primaryKey {
                    t.belongsTo("book", onDelete: .cascade)
                    t.belongsTo("member", onDelete: .cascade)
                }
                t.column("stars", .integer).notNull().check { (1...5).contains($0) }
            }
        }
        return migrator
    }

    /// The part of the database that the rest of the program uses.
    final class Catalogue: Sendable {
        private let dbWriter: any DatabaseWriter
        let openLoanCount: SharedValueObservation<Int>

        init(_ dbWriter: any DatabaseWriter) throws {
            self.dbWriter = dbWriter
            try LibraryProgram.migrator.migrate(dbWriter)
            openLoanCount = ValueObservation
                .tracking { db in try Loan.filter { $0.returnDate == nil }.fetchCount(db) }
                .removeDuplicates()
                .shared(in: dbWriter, extent: .whileObserved)
        }

        var reader: any DatabaseReader { dbWriter }

        func add(_ book: Book, copies: Int = 1) throws -> Book {
            try dbWriter.write { db in
                let book = try book.inserted(db)
                for number in 0..<copies {
                    var copy = Copy(bookId: book.id!, shelf: "\(book.title.prefix(1))\(number + 1)")
                    try copy.insert(db)
                }
                return book
            }
        }

        func register(name: String, email: String) async throws -> Member {
            try await dbWriter.write { db in
                var member = Member(name: name, email: email)
                let saved = try member.upsertAndFetch(db, onConflict: ["email"], doUpdate: { excluded in
                    [Member.Columns.name.set(to: excluded[Member.Columns.name])]
                })
                try Card(memberId: saved.id!, number: "C-\(saved.id!)").upsert(db)
                return saved
            }
        }

        @discardableResult
        func lend(_ book: Book, to member: Member, on date: Date, days: Double = 14) throws -> Loan {
            try dbWriter.write { db in
                let freeCopy = try Copy
                    .filter { $0.bookId == book.id }
                    .having(Copy.loans.filter { $0.returnDate == nil }.isEmpty)
                    .order { $0.id }
                    .fetchOne(db)
                guard let copyId = freeCopy?.id else {
                    throw LibraryError.noFreeCopy(book.title)
                }
                let dueDate = date.addingTimeInterval(days * 86400)
                return try Loan(copyId: copyId, memberId: member.id!, startDate: date, dueDate: dueDate)
                    .inserted(db)
            }
        }

        func takeBack(_ loan: inout Loan, on date: Date) throws -> Bool {
            try dbWriter.write { try loan.updateChanges($0) { $0.returnDate = date } }
        }

        func fetch<Request: FetchRequest>(_ request: Request) throws -> [Request.RowDecoder]
        where Request.RowDecoder: FetchableRecord {
            try reader.read { db in try request.fetchAll(db) }
        }

        func titles(_ request: QueryInterfaceRequest<Book>) throws -> [String] {
            try reader.read(request.select(Book.Columns.title, as: String.self).fetchAll)
        }

        func bookInfos() throws -> [BookInfo] {
            let request = Book
                .including(required: Book.author)
                .including(optional: Book.translator)
                .including(all: Book.copies.order { $0.shelf })
                .orderedByAuthor()
            return try reader.read { db in try BookInfo.fetchAll(db, request) }
        }

        func authorStats() throws -> [AuthorStats] {
            try fetch(
                Author.all()
                    .annotated(with: Author.books.count, Author.books.max(Book.Columns.year))
                    .annotated(with: (Author.books.count + Author.translations.count).forKey("workCount"))
                    .having(Author.books.count + Author.translations.count >= 1)
                    .including(all: Author.books.including(all: Book.copies).order { $0.year })
                    .orderedByName()
                    .asRequest(of: AuthorStats.self))
        }

        func overdueLoans(at date: Date) throws -> [LoanInfo] {
            try fetch(
                Loan
                    .filter { $0.returnDate == nil && $0.dueDate < date }
                    .including(required: Loan.member.forKey("borrower").including(optional: Member.card))
                    .including(required: Loan.book)
                    .order { $0.dueDate }
                    .asRequest(of: LoanInfo.self))
        }

        /// The books whose translator is from the author's country.
        func translatedAtHome() throws -> [String] {
            let author = TableAlias()
            let translator = TableAlias()
            return try titles(
                Book
                    .joining(required: Book.author.aliased(author))
                    .joining(required: Book.translator.aliased(translator))
                    .filter(author[Column("country")] == translator[Column("country")])
                    .order(Book.Columns.title))
        }

        func titlesWithAuthors() throws -> [String] {
            try reader.read { db in
                let request = Book
                    .select { $0.title }
                    .annotated(withRequired: Book.author.select { $0.name.forKey("authorName") })
                    .annotated(withOptional: Book.translator.select { $0.name.forKey("translatorName") })
                    .order { $0.id }
                return try Row.fetchAll(db, request).map { row in
                    let translator: String? = try row["translatorName"]
                    let author: String = try row["authorName"]
                    return try "\(row["title"] as String) by \(author), \(translator ?? "-")"
                }
            }
        }

        func ratedTitles() throws -> [RatedTitle] {
            let ratings = CommonTableExpression(
                named: "rating",
                request: Review
                    .select { [$0.bookId, average($0.stars).forKey("rating")] }
                    .group { $0.bookId })
            let title = TableAlias(name: "title")
            let rating = TableAlias(name: "rating")
            let isOfTitle = title["id"] == rating["bookId"]
            return try fetch(
                RatedTitle.aliased(title)
                    .with(ratings).leftJoin(ratings.all(), aliased: rating, on: isOfTitle)
                    .annotated(with: rating[Column("rating")])
                    .orderByPrimaryKey())
        }
    }

    // MARK: - Observers

    /// Counts the loans of each transaction, and refuses transactions with too many of them.
    final class LoanGuard: TransactionObserver {
        private var newLoans: [Int64] = []
        private(set) var committedLoans: [Int64] = []
        private(set) var rollbackCount = 0

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
            if case .insert(tableName: "loan") = eventKind { true } else { false }
        }

        func databaseDidChange(with event: DatabaseEvent) { newLoans.append(event.rowID) }

        func databaseWillCommit() throws {
            if newLoans.count > 2 { throw LibraryError.tooManyLoans(newLoans.count) }
        }

        func databaseDidCommit(_ db: Database) {
            committedLoans += newLoans
            newLoans.removeAll()
        }

        func databaseDidRollback(_ db: Database) {
            (newLoans, rollbackCount) = ([], rollbackCount + 1)
        }
    }

    /// The content of a screen.
    @MainActor
    final class ScreenModel {
        private(set) var titles: [String] = []
        private(set) var memberCount = 0
        private(set) var error: (any Error)?
        private var cancellables: [AnyDatabaseCancellable] = []

        func start(in reader: any DatabaseReader) {
            let titles = ValueObservation.tracking { db in
                try Book
                    .having(Book.openLoans.isEmpty == false)
                    .order { $0.title }
                    .select({ $0.title }, as: String.self)
                    .fetchAll(db)
            }
            cancellables.append(titles.removeDuplicates().start(
                in: reader,
                onError: { self.error = $0 },
                onChange: { [weak self] titles in self?.titles = titles }))
            let memberCount = ValueObservation.tracking(Member.fetchCount)
            cancellables.append(memberCount.start(in: reader, scheduling: .immediate) { self.error = $0 }
                onChange: { [unowned self] count in self.memberCount = count })
        }

        func stop() { cancellables.forEach { $0.cancel() } }

        /// Whether the titles become these ones, soon.
        func shows(_ expected: [String]) async throws -> Bool {
            for _ in 0..<200 where titles != expected {
                try await Task.sleep(for: .milliseconds(5))
            }
            return titles == expected && error == nil
        }
    }

    // MARK: - The program

    final class Report {
        private(set) var failures: [String] = []

        func check(_ condition: Bool, _ what: String) {
            if !condition { failures.append(what) }
        }
    }

    final class TextStream: TextOutputStream {
        var text = ""

        func write(_ string: String) { text += string }
    }

    static let today = Date(timeIntervalSince1970: 1_750_000_000)

    static func main() async throws {
        let dbQueue = try DatabaseQueue()
        let catalogue = try Catalogue(dbQueue)
        let report = Report()
        let loanGuard = LoanGuard()
        dbQueue.add(transactionObserver: loanGuard, extent: .observerLifetime)

        let lem = try await dbQueue.write { try Author(name: "Lem", country: "PL").inserted($0) }
        let kandel = try await dbQueue.write { try Author(name: "Kandel", country: "US").inserted($0) }
        let poe = try await dbQueue.write { try Author(name: "Poe", country: "US").inserted($0) }
        let stars = Book.Details(pages: 204, subjects: ["sf"])
        let bird = Book.Details(pages: 20, subjects: ["poem", "bird"], edition: "first")
        let books = try [
            Book(authorId: lem.id!, title: "Solaris", year: 1961, details: stars),
            Book(authorId: lem.id!, translatorId: kandel.id, title: "Cyberiad", year: 1965),
            Book(authorId: poe.id!, translatorId: kandel.id, title: "Raven", year: 1845, details: bird),
        ].map { try catalogue.add($0, copies: $0.year == 1961 ? 2 : 1) }
        let ann = try await catalogue.register(name: "Ann", email: "ann@example.com")
        let bob = try await catalogue.register(name: "Bob", email: "bob@example.com")
        let anna = try await catalogue.register(name: "Anna", email: "ann@example.com")
        report.check(anna.id == ann.id && anna.name == "Anna", "a member is registered once")

        try checkRequests(catalogue, lem: lem, kandel: kandel, report)
        for (member, stars) in [(ann, 3), (bob, 4), (ann, 5)] {
            try await dbQueue.write(Review(bookId: 1, memberId: member.id!, stars: stars).upsert)
        }
        report.check(try catalogue.ratedTitles().map(\.rating) == [4.5, nil, nil], "ratings are means")

        let loan = try catalogue.lend(books[0], to: ann, on: today)
        try catalogue.lend(books[0], to: bob, on: today.addingTimeInterval(3600), days: 30)
        do {
            try catalogue.lend(books[0], to: bob, on: today)
            report.check(false, "there is a third copy")
        } catch let error as LibraryError {
            report.check(error == .noFreeCopy("Solaris"), "no copy is free")
        }
        report.check(loanGuard.committedLoans.count == 2, "loans are observed")
        let overdue = try catalogue.overdueLoans(at: today.addingTimeInterval(20 * 86400))
        report.check(overdue.map(\.loan) == [loan], "one loan is overdue")
        report.check(overdue[0].borrower.card?.number == "C-1" && overdue[0].book == books[0], "a loan")
        report.check(try await dbQueue.read(loan.member.fetchOne) == anna, "a loan has a member")
        do {
            try await dbQueue.write { db in
                for _ in 1...3 {
                    _ = try Loan(copyId: 3, memberId: ann.id!, startDate: today, dueDate: today).inserted(db)
                }
            }
            report.check(false, "three loans are accepted")
        } catch LibraryError.tooManyLoans(let count) {
            report.check(count == 3 && loanGuard.rollbackCount == 2, "three loans are refused")
        }

        try await checkObservation(catalogue, books, ann, loan, dbQueue, report)
        report.check(try await dbQueue.write(poe.delete), "an author is removed")
        report.check(try await dbQueue.read(Book.fetchCount) == 2, "with the books")
        let dump = TextStream()
        try dbQueue.dumpRequest(Book.select { [$0.title, $0.year] }, format: .debug(), to: dump)
        try dbQueue.dumpTables(["card"], format: .json(), to: dump)
        report.check(dump.text.hasPrefix("Solaris|1961\nCyberiad|1965\n[{"), "a dump: \(dump.text)")

        print(report.failures.isEmpty ? "The library is open." : report.failures.joined(separator: "\n"))
    }

    static func checkRequests(_ catalogue: Catalogue, lem: Author, kandel: Author, _ report: Report) throws {
        let infos = try catalogue.bookInfos()
        report.check(infos.map(\.book.title) == ["Cyberiad", "Solaris", "Raven"], "books by author")
        report.check(infos.map(\.copies.count) == [1, 2, 1], "copies are included")
        report.check(infos.map(\.translator?.name) == ["Kandel", nil, "Kandel"], "translators are optional")
        let stats = try catalogue.authorStats()
        report.check(stats.map(\.author.name) == ["Kandel", "Lem", "Poe"], "authors by name")
        report.check(stats.map(\.bookCount) == [0, 2, 1], "books are counted")
        report.check(stats.map(\.maxBookYear) == [nil, 1965, 1845], "the latest year")
        report.check(stats.map(\.workCount) == [2, 2, 1], "books and translations are counted")
        report.check(stats.map { $0.books.map(\.copies.count) } == [[], [2, 1], [1]], "copies of books")
        report.check(try catalogue.translatedAtHome() == ["Raven"], "translated at home")
        let texts = try catalogue.titlesWithAuthors()
        report.check(texts[0] == "Solaris by Lem, -" && texts[2] == "Raven by Poe, Kandel", "texts: \(texts)")
        let author = TableAlias(name: "a")
        let oldBooks = Book.filter { $0.authorId == author[Author.Columns.id] && $0.year < 1900 }
        let authors = try catalogue.fetch(Author.aliased(author).filter(oldBooks.exists()))
        report.check(authors.map(\.name) == ["Poe"], "an old book")
        let poems = Book.filter { Database.jsonExtract($0.details, atPath: "$.subjects[0]") == "poem" }
        report.check(try catalogue.reader.read(poems.selectPrimaryKey(as: Int64.self).fetchSet) == [3], "one")
        report.check(try catalogue.titles(Book.filter { $0.details["pages"] > 100 }) == ["Solaris"], "long")
        report.check(try catalogue.titles(Book.all().written(in: "PL")).count == 2, "books of a country")
        report.check(try catalogue.titles(lem.books.order { $0.title.desc }.reversed()).count == 2, "order")
        report.check(try catalogue.titles(kandel.translations) == ["Raven", "Cyberiad"], "translations")
        try catalogue.reader.read { db in
            let polish = Author.all().from(country: "PL").annotated(with: Author.copies.count)
            report.check(try Row.fetchOne(db, polish)?["copyCount"] as Int? == 3, "copies of an author")
        }
    }

    static func checkObservation(
        _ catalogue: Catalogue, _ books: [Book], _ ann: Member, _ loan: Loan, _ dbQueue: DatabaseQueue,
        _ report: Report) async throws
    {
        let model = ScreenModel()
        await model.start(in: catalogue.reader)
        report.check(await model.memberCount == 2, "the first value comes at once")
        report.check(try await model.shows(["Solaris"]), "a screen shows what is lent")
        let changeCount = Mutex(0)
        let changes = DatabaseRegionObservation(tracking: Loan.all()).start(
            in: dbQueue,
            onError: { _ in }, onChange: { db in changeCount.withLock { $0 += 1 } })
        try catalogue.lend(books[1], to: ann, on: today)
        report.check(try await model.shows(["Cyberiad", "Solaris"]), "and what is lent later")
        var loan = loan
        report.check(try catalogue.takeBack(&loan, on: today), "a book comes back")
        report.check(changeCount.withLock { $0 } == 2, "two changes")
        changes.cancel()
        await model.stop()

        var counts: [Int] = []
        for try await count in catalogue.openLoanCount.values() {
            counts.append(count)
            if count == 3 { break }
            try catalogue.lend(books[2], to: ann, on: today)
        }
        report.check(counts == [2, 3], "a shared observation: \(counts)")
        let years = ValueObservation
            .tracking { db in try Int.fetchOne(db, Book.select { max($0.year) }) }
            .map { year in year.map { "\($0)" } ?? "none" }
        for try await year in years.values(in: dbQueue, bufferingPolicy: .unbounded).prefix(1) {
            report.check(year == "1965", "the latest year")
        }
    }
}
