// swift-format-ignore-file
// Each line has the same number as in the other of the two files.

import Foundation
import Shellac

// MARK: - Configuration

enum Shop {
    /// Opens the shop's database, in memory.
    static func open() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "Bookshop"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.publicStatementArguments = true
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA temp_store = MEMORY")
            try db.add(function: .isbnCheck)
            try db.add(function: .initials)
            try db.add(function: .geometricMean)
            try db.add(collation: .byLength)
        }
        let dbQueue = try DatabaseQueue(configuration: configuration)
        try migrator.migrate(dbQueue)
        return dbQueue
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        #if DEBUG
        migrator.eraseDatabaseOnSchemaChange = true
        #endif

        migrator.registerMigration("createAuthors") { db in
            try db.create(table: "author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().collate(.nocase)
                t.column("countryCode", .text)
                t.column("birthDate", .date)
            }
            try db.create(index: "author_on_name", on: "author", columns: ["name"])
        }

        migrator.registerMigration("createBooks") { db in
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("authorId", .integer)
                    .notNull()
                    .indexed()
                    .references("author", onDelete: .cascade)
                t.column("isbn", .text).unique()
                t.column("title", .text).notNull()
                t.column("price", .double).notNull().defaults(to: 0)
                t.column("stock", .integer).notNull().defaults(to: 0).check { $0 >= 0 }
                t.column("publicationDate", .datetime)
                t.column("attributes", .jsonText)
                t.column("searchTitle", .text).generatedAs(sql: "LOWER(title)", .stored)
            }
        }

        migrator.registerMigration("createCustomers") { db in
            try db.create(table: "customer") { t in
                t.primaryKey("id", .text)
                t.column("name", .text).notNull()
                t.column("email", .text).notNull().unique().collate(.nocase)
                t.column("address", .jsonText)
                t.column("creationDate", .datetime).notNull()
                t.column("modificationDate", .datetime).notNull()
            }
        }

        migrator.registerMigration("createOrders") { db in
            try db.create(table: "purchase") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("customer", onDelete: .cascade).notNull()
                t.column("date", .datetime).notNull()
                t.column("status", .text).notNull().defaults(to: "open")
            }
            try db.create(table: "purchaseLine") { t in
                t.primaryKey {
                    t.belongsTo("purchase", onDelete: .cascade)
                    t.belongsTo("book")
                }
                t.column("quantity", .integer).notNull()
                t.column("unitPrice", .double).notNull()
            }
        }

        migrator.registerMigration("createCategories") { db in
            try db.create(table: "category") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("parentId", .integer).references("category")
                t.column("name", .text).notNull()
                t.uniqueKey(["parentId", "name"])
            }
            try db.create(table: "bookCategory") { t in
                t.belongsTo("book", onDelete: .cascade).notNull()
                t.belongsTo("category", onDelete: .cascade).notNull()
                t.primaryKey(["bookId", "categoryId"])
            }
        }

        migrator.registerMigration("addNotes") { db in
            try db.alter(table: "book") { t in
                t.add(column: "notes", .text)
            }
            try db.alter(table: "author") { t in
                t.add(column: "isFavorite", .boolean).notNull().defaults(to: false)
            }
        }

        migrator.registerMigration("createStockMovements") { db in
            try db.create(table: "stockMovement") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("bookId", .integer).notNull().references("book", onDelete: .cascade)
                t.column("quantity", .integer).notNull()
                t.column("reason", .integer).notNull()
                t.column("date", .datetime).notNull()
            }
            try db.execute(sql: """
                CREATE VIEW stockSummary AS
                SELECT bookId, SUM(quantity) AS total, COUNT(*) AS count
                FROM stockMovement
                GROUP BY bookId
                """)
        }

        return migrator
    }
}

// MARK: - Functions and collations

extension DatabaseFunction {
    /// Returns whether a text is an ISBN of thirteen digits.
    static let isbnCheck = DatabaseFunction("isbnCheck", argumentCount: 1, pure: true) { dbValues in
        guard let text = String.fromDatabaseValue(dbValues[0]) else {
            return nil
        }
        let digits = text.filter { $0 != "-" }.compactMap { $0.wholeNumberValue }
        guard digits.count == 13 else {
            return false
        }
        let sum = zip(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1])
            .map { $0 * $1 }
            .reduce(0, +)
        return sum % 10 == 0
    }

    /// Returns the first letters of the words of a name.
    static let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { dbValues in
        guard let name = String.fromDatabaseValue(dbValues[0]) else {
            return nil
        }
        return name
            .split(separator: " ")
            .compactMap { $0.first.map(String.init) }
            .joined()
    }

    /// Returns the geometric mean of positive numbers.
    static let geometricMean = DatabaseFunction(
        "geometricMean",
        argumentCount: 1,
        pure: true,
        aggregate: GeometricMean.self)
}

struct GeometricMean: DatabaseAggregate {
    var product = 1.0
    var count = 0

    mutating func step(_ dbValues: [DatabaseValue]) throws {
        if let value = Double.fromDatabaseValue(dbValues[0]) {
            product *= value
            count += 1
        }
    }

    func finalize() throws -> (any DatabaseValueConvertible)? {
        count == 0 ? nil : pow(product, 1 / Double(count))
    }
}

extension DatabaseCollation {
    static let byLength = DatabaseCollation("byLength") { a, b in
        if a.count == b.count {
            return a < b ? .orderedAscending : a == b ? .orderedSame : .orderedDescending
        }
        return a.count < b.count ? .orderedAscending : .orderedDescending
    }
}

// MARK: - Values

/// A code of a country, which is stored in capital letters.
struct CountryCode: Hashable, Codable {
    var rawValue: String

    init?(_ text: String) {
        guard text.count == 2 else {
            return nil
        }
        rawValue = text.uppercased()
    }
}

extension CountryCode: DatabaseValueConvertible {
    var databaseValue: DatabaseValue {
        rawValue.databaseValue
    }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> CountryCode? {
        guard let text = String.fromDatabaseValue(dbValue) else {
            return nil
        }
        return CountryCode(text)
    }
}

enum PurchaseStatus: String, Codable, DatabaseValueConvertible, CaseIterable {
    case open
    case paid
    case shipped
    case cancelled
}

enum StockReason: Int, Codable, DatabaseValueConvertible {
    case delivery = 1
    case sale = 2
    case loss = 3
}

// MARK: - Author

struct Author: Identifiable, Hashable {
    var id: Int64?
    var name: String
    var countryCode: CountryCode?
    var birthDate: Date?
    var isFavorite: Bool = false
}

extension Author: TableRecord {
    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let countryCode = Column("countryCode")
        static let birthDate = Column("birthDate")
        static let isFavorite = Column("isFavorite")
    }

    static let books = hasMany(Book.self)
    static let databaseTableName = "author"

    var books: QueryInterfaceRequest<Book> {
        request(for: Author.books)
    }
}

extension Author: FetchableRecord {
    init(row: Row) throws {
        id = try row[Columns.id]
        name = try row[Columns.name]
        countryCode = try row[Columns.countryCode]
        birthDate = try row[Columns.birthDate]
        isFavorite = try row[Columns.isFavorite]
    }
}

extension Author: MutablePersistableRecord {
    func encode(to container: inout PersistenceContainer) {
        container[Columns.id] = id
        container[Columns.name] = name
        container[Columns.countryCode] = countryCode
        container[Columns.birthDate] = birthDate
        container[Columns.isFavorite] = isFavorite
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

extension DerivableRequest<Author> {
    func filter(country: CountryCode) -> Self {
        filter(Author.Columns.countryCode == country)
    }

    func orderedByName() -> Self {
        order(
            Author.Columns.name.collating(.nocase),
            Author.Columns.id)
    }

    func favorites() -> Self {
        filter(Author.Columns.isFavorite == true)
    }
}

// MARK: - Book

struct Book: Codable, Identifiable, Hashable {
    /// The attributes of a book, which are stored as JSON.
    struct Attributes: Codable, Hashable {
        var pageCount: Int?
        var language: String
        var tags: [String]
    }

    var id: Int64?
    var authorId: Int64
    var isbn: String?
    var title: String
    var price: Double
    var stock: Int
    var publicationDate: Date?
    var attributes: Attributes?
    var notes: String?
}

extension Book: FetchableRecord, MutablePersistableRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let authorId = Column(CodingKeys.authorId)
        static let isbn = Column(CodingKeys.isbn)
        static let title = Column(CodingKeys.title)
        static let price = Column(CodingKeys.price)
        static let stock = Column(CodingKeys.stock)
        static let publicationDate = Column(CodingKeys.publicationDate)
        static let attributes = JSONColumn(CodingKeys.attributes)
        static let notes = Column(CodingKeys.notes)
        static let searchTitle = Column("searchTitle")
    }

    static let author = belongsTo(Author.self)
    static let lines = hasMany(PurchaseLine.self)
    static let bookCategories = hasMany(BookCategory.self)
    static let categories = hasMany(Category.self, through: bookCategories, using: BookCategory.category)

    static let databaseTableName = "book"

    static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }

    func willUpdate(_ db: Database, columns: Set<String>) throws {
        if price < 0 {
            throw ShopError.negativePrice(title: title)
        }
    }

    mutating func willInsert(_ db: Database) throws {
        if price < 0 {
            throw ShopError.negativePrice(title: title)
        }
        if title.isEmpty {
            title = "Untitled"
        }
    }
}

extension DerivableRequest<Book> {
    func inStock() -> Self {
        filter(Book.Columns.stock > 0)
    }

    func cheaper(than price: Double) -> Self {
        filter(Book.Columns.price < price)
    }

    func written(in language: String) -> Self {
        filter(Book.Columns.attributes["language"] == language)
    }

    func matching(_ words: String) -> Self {
        let words = words.lowercased().split(separator: " ")
        let conditions = words.map { Book.Columns.searchTitle.like("%\($0)%") }
        return filter(conditions.joined(operator: .and))
    }

    func published(between start: Date, and end: Date) -> Self {
        filter((start...end).contains(Book.Columns.publicationDate))
    }
}

enum ShopError: Error, Equatable {
    case negativePrice(title: String)
    case outOfStock(bookId: Int64)
    case emptyPurchase
}

// MARK: - Customer

struct Customer: Codable, Identifiable, Hashable {
    struct Address: Codable, Hashable {
        var street: String
        var city: String
        var countryCode: CountryCode?
    }

    var id: UUID
    var name: String
    var email: String
    var address: Address?
    var creationDate: Date?
    var modificationDate: Date?

    init(name: String, email: String, address: Address? = nil) {
        self.id = UUID()
        self.name = name
        self.email = email
        self.address = address
    }
}

/// A record that keeps the dates of its insertion and of its last modification.
protocol DatedRecord: MutablePersistableRecord {
    var creationDate: Date? { get set }
    var modificationDate: Date? { get set }
}

extension DatedRecord {
    mutating func willInsert(_ db: Database) throws {
        if creationDate == nil {
            creationDate = try db.transactionDate
        }
        if modificationDate == nil {
            modificationDate = try db.transactionDate
        }
    }

    mutating func updateDated(_ db: Database) throws {
        modificationDate = try db.transactionDate
        try update(db)
    }

    @discardableResult
    mutating func updateChangesDated(_ db: Database, modify: (inout Self) -> Void) throws -> Bool {
        let changes = try databaseChanges(modify: modify)
        if changes.isEmpty {
            return false
        }
        modificationDate = try db.transactionDate
        try update(db, columns: Set(changes.keys).union(["modificationDate"]))
        return true
    }
}

extension Customer: FetchableRecord, DatedRecord {
    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let email = Column(CodingKeys.email)
        static let address = JSONColumn(CodingKeys.address)
        static let creationDate = Column(CodingKeys.creationDate)
        static let modificationDate = Column(CodingKeys.modificationDate)
    }

    static let purchases = hasMany(Purchase.self)
    static let databaseTableName = "customer"

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .iso8601
    }

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .iso8601
    }

    static func find(_ db: Database, email: String) throws -> Customer {
        try Customer.find(db, key: ["email": email])
    }
}

extension DerivableRequest<Customer> {
    func living(in city: String) -> Self {
        filter(Customer.Columns.address["city"] == city)
    }

    func havingPurchases() -> Self {
        having(Customer.purchases.isEmpty == false)
    }
}

// MARK: - Purchase

struct Purchase: Codable, Identifiable, Hashable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var customerId: UUID
    var date: Date
    var status: PurchaseStatus

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let customerId = Column(CodingKeys.customerId)
        static let date = Column(CodingKeys.date)
        static let status = Column(CodingKeys.status)
    }

    static let customer = belongsTo(Customer.self)
    static let lines = hasMany(PurchaseLine.self)

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .uppercaseString
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

struct PurchaseLine: Codable, Hashable, FetchableRecord, PersistableRecord {
    var purchaseId: Int64
    var bookId: Int64
    var quantity: Int
    var unitPrice: Double

    enum Columns: String, ColumnExpression {
        case purchaseId
        case bookId
        case quantity
        case unitPrice
    }

    static let purchase = belongsTo(Purchase.self)
    static let book = belongsTo(Book.self)

    static let databaseTableName = "purchaseLine"
}

extension DerivableRequest<Purchase> {
    func with(status: PurchaseStatus) -> Self {
        filter(Purchase.Columns.status == status)
    }

    func latestFirst() -> Self {
        order(Purchase.Columns.date.desc, Purchase.Columns.id.desc)
    }
}

// MARK: - Category

struct Category: Codable, Identifiable, Hashable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var parentId: Int64?
    var name: String

    enum Columns: String, ColumnExpression {
        case id
        case parentId
        case name
    }

    static let databaseTableName = "category"

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

struct BookCategory: Codable, FetchableRecord, PersistableRecord {
    var bookId: Int64
    var categoryId: Int64

    static let book = belongsTo(Book.self)
    static let category = belongsTo(Category.self)
    static let databaseTableName = "bookCategory"
}

// MARK: - Stock movements

struct StockMovement: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var bookId: Int64
    var quantity: Int
    var reason: StockReason
    var date: Date

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let bookId = Column(CodingKeys.bookId)
        static let quantity = Column(CodingKeys.quantity)
        static let reason = Column(CodingKeys.reason)
        static let date = Column(CodingKeys.date)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

struct StockSummary: Decodable, FetchableRecord, TableRecord {
    var bookId: Int64
    var total: Int
    var count: Int
}

/// Declares which column identifies the rows of a view.
struct ShopSchemaSource: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
        view.name == "stockSummary" ? ["bookId"] : nil
    }
}

// MARK: - Rows that are made of several tables

struct BookInfo: Decodable, Hashable, FetchableRecord {
    var book: Book
    var author: Author?

    init(book: Book, author: Author?) {
        self.book = book
        self.author = author
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        book = try container.decode(Book.self, forKey: .book)
        author = nil
    }

    enum CodingKeys: String, CodingKey {
        case book
    }
}

struct AuthorInfo: FetchableRecord {
    var name: String
    var bookCount: Int
    var maximumPrice: Double?

    init(row: Row) throws {
        name = try row["name"]
        bookCount = try row["bookCount"]
        maximumPrice = try row["maxPrice"]
    }
}

struct PurchaseInfo: FetchableRecord {
    var id: Int64
    var status: PurchaseStatus
    var customerName: String
    var total: Double

    init(row: Row) throws {
        id = try row["id"]
        status = try row["status"]
        customerName = try row["customerName"]
        total = try row["total"] ?? 0
    }
}

struct CategoryPath: Decodable, FetchableRecord {
    var id: Int64
    var path: String
    var depth: Int
}

struct BookRow: Hashable {
    var title: String
    var author: String
    var stock: Int

    init(row: Row) throws {
        title = try row["title"]
        author = try row["author"]
        stock = try row["stock"]
    }
}

struct DailyTotal: Hashable {
    var day: String
    var total: Double
    var count: Int
}

// MARK: - The store

/// The store that the views of the shop use: it reads and writes the database.
final class Store: Sendable {
    let dbWriter: any DatabaseWriter

    init(_ dbWriter: any DatabaseWriter) {
        self.dbWriter = dbWriter
    }

    // MARK: - Authors

    func addAuthor(name: String, country: String? = nil, birthDate: Date? = nil) throws -> Author {
        try dbWriter.write { db in
            var author = Author(
                id: nil,
                name: name,
                countryCode: country.flatMap { CountryCode($0) },
                birthDate: birthDate)
            try author.insert(db)
            return author
        }
    }

    func authors() throws -> [Author] {
        try dbWriter.read { db in
            try Author.all().orderedByName().fetchAll(db)
        }
    }

    func author(id: Int64) throws -> Author? {
        try dbWriter.read { db in
            try Author.fetchOne(db, id: id)
        }
    }

    func author(named name: String) throws -> Author? {
        try dbWriter.read { db in
            try Author
                .filter(Author.Columns.name == name)
                .fetchOne(db)
        }
    }

    func authors(in country: CountryCode) throws -> [Author] {
        try dbWriter.read { db in
            try Author.all()
                .filter(country: country)
                .orderedByName()
                .fetchAll(db)
        }
    }

    func setFavorite(_ isFavorite: Bool, authorId: Int64) throws {
        try dbWriter.write { db in
            var author = try Author.find(db, id: authorId)
            try author.updateChanges(db) {
                $0.isFavorite = isFavorite
            }
        }
    }

    func toggleAllFavorites() throws -> Int {
        try dbWriter.write { db in
            try Author.updateAll(db) { [$0.isFavorite.set(to: !$0.isFavorite)] }
        }
    }

    func deleteAuthor(id: Int64) throws -> Bool {
        try dbWriter.write { db in
            try Author.deleteOne(db, id: id)
        }
    }

    func countryCodes() throws -> Set<CountryCode> {
        try dbWriter.read { db in
            try Author
                .select(Author.Columns.countryCode, as: CountryCode.self)
                .filter(Author.Columns.countryCode != nil)
                .distinct()
                .fetchSet(db)
        }
    }

    func initials() throws -> [String] {
        try dbWriter.read { db in
            try Author
                .select(DatabaseFunction.initials(Author.Columns.name), as: String.self)
                .order(Author.Columns.id)
                .fetchAll(db)
        }
    }

    func authorInfos() throws -> [AuthorInfo] {
        try dbWriter.read { db in
            let request = Author
                .annotated(with: Author.books.count)
                .annotated(with: Author.books.max(Book.Columns.price).forKey("maxPrice"))
                .orderedByName()
                .asRequest(of: AuthorInfo.self)
            return try request.fetchAll(db)
        }
    }

    func authorsWithoutBooks() throws -> [Author] {
        try dbWriter.read { db in
            try Author
                .having(Author.books.isEmpty)
                .orderByPrimaryKey()
                .fetchAll(db)
        }
    }

    func authorNamesByCountry() throws -> [String?: [String]] {
        try dbWriter.read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT countryCode, name FROM author ORDER BY name")
            var names: [String?: [String]] = [:]
            while let row = try rows.next() {
                let code: String? = try row["countryCode"]
                names[code, default: []].append(try row["name"])
            }
            return names
        }
    }

    func ageOfAuthors(at date: Date) throws -> [String: Int] {
        try dbWriter.read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, birthDate FROM author WHERE birthDate IS NOT NULL")
            var ages: [String: Int] = [:]
            for row in rows {
                let birthDate: Date = try row["birthDate"]
                let years = date.timeIntervalSince(birthDate) / (365.25 * 86400)
                try ages[row["name"]] = Int(years)
            }
            return ages
        }
    }

    // MARK: - Books

    func addBook(_ book: Book) throws -> Book {
        try dbWriter.write { db in
            var book = book
            try book.insert(db)
            return book
        }
    }

    func addBooks(_ books: [Book]) throws -> [Book] {
        try dbWriter.write { db in
            try books.map { book in
                var book = book
                try book.insert(db)
                return book
            }
        }
    }

    func books() throws -> [Book] {
        try dbWriter.read { db in
            try Book.order(Book.Columns.title).fetchAll(db)
        }
    }

    func book(isbn: String) throws -> Book? {
        try dbWriter.read { db in
            try Book.fetchOne(db, key: ["isbn": isbn])
        }
    }

    func books(ids: [Int64]) throws -> [Book] {
        try dbWriter.read { db in
            try Book.fetchAll(db, ids: ids)
        }
    }

    func search(_ words: String) throws -> [Book] {
        try dbWriter.read { db in
            try Book.all()
                .matching(words)
                .order { [$0.title, $0.id] }
                .fetchAll(db)
        }
    }

    func cheapBooks(below price: Double) throws -> [Book] {
        try dbWriter.read { db in
            try Book.all()
                .inStock()
                .cheaper(than: price)
                .order(Book.Columns.price, Book.Columns.title)
                .fetchAll(db)
        }
    }

    func books(language: String) throws -> [String] {
        try dbWriter.read { db in
            try Book.all()
                .written(in: language)
                .order { $0.title }
                .select({ $0.title }, as: String.self)
                .fetchAll(db)
        }
    }

    func books(publishedBetween start: Date, and end: Date) throws -> [Book] {
        try dbWriter.read { db in
            try Book.all()
                .published(between: start, and: end)
                .order { $0.publicationDate }
                .fetchAll(db)
        }
    }

    func titlesAndPrices() throws -> [(title: String, price: Double)] {
        try dbWriter.read { db in
            let request = Book
                .order { $0.id }
                .select { [$0.title, $0.price] }
            let rows = try Row.fetchAll(db, request)
            return try rows.map { row in
                (title: try row["title"], price: try row["price"])
            }
        }
    }

    func bookRows() throws -> [BookRow] {
        try dbWriter.read { db in
            let sql = """
                SELECT book.title, author.name AS author, book.stock
                FROM book
                JOIN author ON author.id = book.authorId
                ORDER BY book.id
                """
            let rows = try Row.fetchAll(db, sql: sql)
            return try rows.map { try BookRow(row: $0) }
        }
    }

    func booksWithAuthors() throws -> [(book: Book, author: Author)] {
        try dbWriter.read { db in
            let request = Book
                .including(required: Book.author)
                .orderByPrimaryKey()
            let rows = try Row.fetchAll(db, request)
            return try rows.map { row in
                let author: Author = try row["author"]
                return (book: try Book(row: row), author: author)
            }
        }
    }

    func splitBooksAndAuthors() throws -> [(title: String, author: String)] {
        try dbWriter.read { db in
            let bookWidth = try db.columns(in: "book").count
            let authorWidth = try db.columns(in: "author").count
            let adapters = splittingRowAdapters(columnCounts: [bookWidth, authorWidth])
            let sql = """
                SELECT book.*, author.*
                FROM book
                JOIN author ON author.id = book.authorId
                ORDER BY book.id
                """
            let rows = try Row.fetchAll(
                db,
                sql: sql,
                adapter: ScopeAdapter([
                    "book": adapters[0],
                    "author": adapters[1],
                ]))
            return try rows.compactMap { row in
                guard let book = row.scopes["book"], let author = row.scopes["author"] else {
                    return nil
                }
                return try (title: book["title"], author: author["name"])
            }
        }
    }

    func titles(in category: Category) throws -> [String] {
        try dbWriter.read { db in
            try Book
                .joining(required: Book.categories.filter(Category.Columns.id == category.id))
                .order(Book.Columns.title)
                .select(Book.Columns.title, as: String.self)
                .fetchAll(db)
        }
    }

    func mostExpensivePrices() throws -> [Int64: Double] {
        try dbWriter.read { db in
            let request = Book
                .select { [$0.authorId, max($0.price).forKey("maxPrice")] }
                .group { $0.authorId }
                .having { max($0.price) > 5 }
            let rows = try Row.fetchAll(db, request)
            var prices: [Int64: Double] = [:]
            for row in rows {
                try prices[row["authorId"]] = row["maxPrice"]
            }
            return prices
        }
    }

    func geometricMeanOfPrices() throws -> Double? {
        try dbWriter.read { db in
            try Double.fetchOne(db, sql: "SELECT geometricMean(price) FROM book WHERE price > 0")
        }
    }

    func invalidISBNs() throws -> [String] {
        try dbWriter.read { db in
            try Book
                .filter(Book.Columns.isbn != nil)
                .filter(sql: "NOT isbnCheck(isbn)")
                .order(Book.Columns.isbn)
                .select(Book.Columns.isbn, as: String.self)
                .fetchAll(db)
        }
    }

    func titlesByLength() throws -> [String] {
        try dbWriter.read { db in
            try Book
                .order(Book.Columns.title.collating(.byLength))
                .select(Book.Columns.title, as: String.self)
                .fetchAll(db)
        }
    }

    func raisePrices(by percentage: Double, language: String) throws -> Int {
        try dbWriter.write { db in
            try Book.all()
                .written(in: language)
                .updateAll(db) { [$0.price *= 1 + percentage / 100] }
        }
    }

    func clearStock() throws -> Set<Int64> {
        try dbWriter.write { db in
            let books = try Book
                .filter { $0.stock > 0 }
                .updateAndFetchAll(db) { [$0.stock.set(to: 0)] }
            return Set(books.compactMap(\.id))
        }
    }

    func removeUnpriced() throws -> [String] {
        try dbWriter.write { db in
            let books = try Book
                .filter(Book.Columns.price == 0)
                .deleteAndFetchAll(db)
            return books.map(\.title).sorted()
        }
    }

    func setTag(_ tag: String, bookId: Int64) throws {
        try dbWriter.write { db in
            try Book
                .filter(id: bookId)
                .updateAll(db) {
                    [$0.attributes.set(to: Database.jsonInsert($0.attributes, ["$.tags[#]": tag]))]
                }
        }
    }

    func tags() throws -> [String] {
        try dbWriter.read { db in
            try String.fetchAll(db, sql: """
                SELECT DISTINCT tag.value
                FROM book, json_each(book.attributes, '$.tags') AS tag
                ORDER BY 1
                """)
        }
    }

    func upsert(_ book: Book) throws -> Book {
        try dbWriter.write { db in
            var book = book
            return try book.upsertAndFetch(
                db,
                onConflict: ["isbn"],
                doUpdate: { excluded in
                    [
                        Column("stock").set(to: Column("stock") + excluded["stock"]),
                        Column("authorId").noOverwrite,
                    ]
                })
        }
    }

    func nextId(after book: Book) throws -> Int64? {
        try dbWriter.write { db in
            var book = book
            book.id = nil
            book.isbn = nil
            return try book.insertAndFetch(db, selection: [Column("id")]) { statement in
                try Int64.fetchOne(statement)
            }
        }
    }

    func saveIfValid(_ book: Book) throws -> Bool {
        do {
            _ = try addBook(book)
            return true
        } catch DatabaseError.SQLITE_CONSTRAINT_UNIQUE {
            return false
        } catch DatabaseError.SQLITE_CONSTRAINT {
            return false
        }
    }

    func relatedBooks(to book: Book) throws -> [Book] {
        try dbWriter.read { db in
            let sameAuthor = Book
                .filter(Book.Columns.authorId == book.authorId)
                .filter(Book.Columns.id != book.id)
            let sameLanguage = Book
                .filter(Book.Columns.attributes["language"] == book.attributes?.language)
                .filter(Book.Columns.id != book.id)
            return try sameAuthor
                .union(sameLanguage)
                .order(Column("id"))
                .fetchAll(db)
        }
    }

    // MARK: - Categories

    func addCategory(name: String, parent: Category? = nil) throws -> Category {
        try dbWriter.write { db in
            var category = Category(id: nil, parentId: parent?.id, name: name)
            try category.insert(db)
            return category
        }
    }

    func assign(_ category: Category, to book: Book) throws {
        guard let bookId = book.id, let categoryId = category.id else {
            return
        }
        try dbWriter.write { db in
            try BookCategory(bookId: bookId, categoryId: categoryId)
                .insert(db, onConflict: .ignore)
        }
    }

    func categoryPaths() throws -> [CategoryPath] {
        try dbWriter.read { db in
            let tree = CommonTableExpression<CategoryPath>(
                recursive: true,
                named: "tree",
                columns: ["id", "path", "depth"],
                sql: """
                    SELECT id, name, 0 FROM category WHERE parentId IS NULL
                    UNION ALL
                    SELECT category.id, tree.path || ? || category.name, tree.depth + 1
                    FROM category JOIN tree ON category.parentId = tree.id
                    """,
                arguments: [" / "])
            return try tree
                .all()
                .with(tree)
                .order(Column("path"))
                .fetchAll(db)
        }
    }

    func bestSellers(limit: Int) throws -> [String] {
        try dbWriter.read { db in
            let sold = CommonTableExpression(
                named: "sold",
                request: PurchaseLine
                    .select(
                        PurchaseLine.Columns.bookId,
                        sum(PurchaseLine.Columns.quantity).forKey("quantity"))
                    .group(PurchaseLine.Columns.bookId))
            let literal: SQL = """
                WITH \(definitionFor: sold)
                SELECT \(Column("title")) FROM \(Book.self)
                JOIN \(sold) ON sold.bookId = book.id
                ORDER BY sold.quantity DESC, title
                LIMIT \(limit)
                """
            return try SQLRequest<String>(literal: literal).fetchAll(db)
        }
    }

    // MARK: - Customers

    func addCustomer(_ customer: Customer) throws -> Customer {
        try dbWriter.write { db in
            var customer = customer
            try customer.insert(db)
            return customer
        }
    }

    func customer(email: String) throws -> Customer {
        try dbWriter.read { db in
            try Customer.find(db, email: email)
        }
    }

    func rename(customerId: UUID, to name: String) throws -> Bool {
        try dbWriter.write { db in
            guard var customer = try Customer.fetchOne(db, id: customerId) else {
                return false
            }
            return try customer.updateChangesDated(db) {
                $0.name = name
            }
        }
    }

    func customers(in city: String) throws -> [Customer] {
        try dbWriter.read { db in
            try Customer.all()
                .living(in: city)
                .order(Customer.Columns.name)
                .fetchAll(db)
        }
    }

    func buyers() throws -> [String] {
        try dbWriter.read { db in
            try Customer.all()
                .havingPurchases()
                .order(Customer.Columns.name)
                .select(Customer.Columns.name, as: String.self)
                .fetchAll(db)
        }
    }

    // MARK: - Purchases

    func purchase(_ quantities: [Int64: Int], for customer: Customer, date: Date) throws -> Purchase {
        guard !quantities.isEmpty else {
            throw ShopError.emptyPurchase
        }
        return try dbWriter.write { db in
            var purchase = Purchase(id: nil, customerId: customer.id, date: date, status: .open)
            try purchase.insert(db)
            for (bookId, quantity) in quantities.sorted(by: { $0.key < $1.key }) {
                try sell(db, bookId: bookId, quantity: quantity, purchase: purchase)
            }
            return purchase
        }
    }

    private func sell(_ db: Database, bookId: Int64, quantity: Int, purchase: Purchase) throws {
        var book = try Book.find(db, id: bookId)
        guard book.stock >= quantity else {
            throw ShopError.outOfStock(bookId: bookId)
        }
        book.stock -= quantity
        try book.update(db, columns: [Book.Columns.stock])

        try PurchaseLine(
            purchaseId: purchase.id!,
            bookId: bookId,
            quantity: quantity,
            unitPrice: book.price)
            .insert(db)

        var movement = StockMovement(
            id: nil,
            bookId: bookId,
            quantity: -quantity,
            reason: .sale,
            date: purchase.date)
        try movement.insert(db)
    }

    func purchases(status: PurchaseStatus) throws -> [Purchase] {
        try dbWriter.read { db in
            try Purchase.all()
                .with(status: status)
                .latestFirst()
                .fetchAll(db)
        }
    }

    func pay(purchaseId: Int64) throws {
        try dbWriter.write { db in
            let count = try Purchase
                .filter(key: purchaseId)
                .filter(Purchase.Columns.status == PurchaseStatus.open)
                .updateAll(db, Purchase.Columns.status.set(to: PurchaseStatus.paid))
            if count == 0 {
                throw RecordError.recordNotFound(
                    databaseTableName: "purchase",
                    key: ["id": purchaseId.databaseValue])
            }
        }
    }

    func cancelOpenPurchases(before date: Date) throws -> Set<Int64> {
        try dbWriter.write { db in
            let purchases = try Purchase
                .filter { $0.status == PurchaseStatus.open && $0.date < date }
                .updateAndFetchSet(db) { [$0.status.set(to: PurchaseStatus.cancelled)] }
            return Set(purchases.compactMap(\.id))
        }
    }

    func purchaseInfos() throws -> [PurchaseInfo] {
        try dbWriter.read { db in
            let sql = """
                SELECT
                    purchase.id,
                    purchase.status,
                    customer.name AS customerName,
                    SUM(purchaseLine.quantity * purchaseLine.unitPrice) AS total
                FROM purchase
                JOIN customer ON customer.id = purchase.customerId
                LEFT JOIN purchaseLine ON purchaseLine.purchaseId = purchase.id
                GROUP BY purchase.id
                ORDER BY purchase.id
                """
            return try PurchaseInfo.fetchAll(db, sql: sql)
        }
    }

    func total(purchaseId: Int64) throws -> Double {
        try dbWriter.read { db in
            let lines = PurchaseLine.filter(PurchaseLine.Columns.purchaseId == purchaseId)
            let amount = PurchaseLine.Columns.quantity * PurchaseLine.Columns.unitPrice
            return try lines
                .select(sum(amount), as: Double.self)
                .fetchOne(db) ?? 0
        }
    }

    func dailyTotals() throws -> [DailyTotal] {
        try dbWriter.read { db in
            let rows = try Row.fetchAll(db, sql: """
                SELECT
                    strftime('%Y-%m-%d', purchase.date) AS day,
                    SUM(quantity * unitPrice) AS total,
                    COUNT(DISTINCT purchase.id) AS count
                FROM purchase
                JOIN purchaseLine ON purchaseLine.purchaseId = purchase.id
                GROUP BY day
                ORDER BY day
                """)
            return try rows.map { row in
                DailyTotal(
                    day: try row["day"],
                    total: try row["total"],
                    count: try row["count"])
            }
        }
    }

    func linesByPurchase() throws -> [Int64: [PurchaseLine]] {
        try dbWriter.read { db in
            let lines = try PurchaseLine
                .order(PurchaseLine.Columns.purchaseId, PurchaseLine.Columns.bookId)
                .fetchCursor(db)
            return try Dictionary(grouping: lines, by: { $0.purchaseId })
        }
    }

    func quantities(purchaseId: Int64) throws -> [Int64: Int] {
        try dbWriter.read { db in
            let rows = try Row.fetchCursor(
                db,
                sql: "SELECT bookId, quantity FROM purchaseLine WHERE purchaseId = ?",
                arguments: [purchaseId])
            return try Dictionary(uniqueKeysWithValues: rows.map { row in
                (try row["bookId"], try row["quantity"])
            })
        }
    }

    // MARK: - Stock

    func deliver(_ quantity: Int, bookId: Int64, date: Date) throws {
        try dbWriter.write { db in
            try Book
                .filter(key: bookId)
                .updateAll(db, Book.Columns.stock += quantity)
            try db.execute(literal: """
                INSERT INTO \(StockMovement.self) (bookId, quantity, reason, date)
                VALUES (\(bookId), \(quantity), \(StockReason.delivery), \(date))
                """)
        }
    }

    func summary(bookId: Int64) throws -> StockSummary? {
        try dbWriter.read { db in
            try StockSummary
                .filter(Column("bookId") == bookId)
                .fetchOne(db)
        }
    }

    func movements(reason: StockReason) throws -> [StockMovement] {
        try dbWriter.read { db in
            try StockMovement
                .filter { $0.reason == reason }
                .withStableOrder()
                .fetchAll(db)
        }
    }

    func movementCountsByReason() throws -> [StockReason: Int] {
        try dbWriter.read { db in
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT reason, COUNT(*) AS count FROM stockMovement GROUP BY reason")
            return try rows.reduce(into: [:]) { counts, row in
                try counts[row["reason"]] = row["count"]
            }
        }
    }

    func importDeliveries(_ lines: [(isbn: String, quantity: Int)], date: Date) throws -> Int {
        try dbWriter.write { db in
            let statement = try db.makeStatement(sql: "SELECT id FROM book WHERE isbn = ?")
            var count = 0
            for line in lines {
                statement.arguments = [line.isbn]
                guard let bookId = try Int64.fetchOne(statement) else {
                    continue
                }
                var movement = StockMovement(
                    id: nil,
                    bookId: bookId,
                    quantity: line.quantity,
                    reason: .delivery,
                    date: date)
                try movement.insert(db)
                try Book
                    .filter(id: bookId)
                    .updateAll(db) { [$0.stock += line.quantity] }
                count += 1
            }
            return count
        }
    }

    func tryToSellEverything() throws -> Bool {
        try dbWriter.writeWithoutTransaction { db in
            var isSold = false
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "UPDATE book SET stock = 0")
                    return .rollback
                }
                let stock = try Int.fetchOne(db, sql: "SELECT SUM(stock) FROM book") ?? 0
                isSold = stock == 0
                return .commit
            }
            return isSold
        }
    }

    // MARK: - Texts

    func dump() throws -> String {
        let stream = DumpText()
        try dbWriter.dumpRequest(
            Author.all().orderedByName().select { [$0.name, $0.countryCode] },
            format: .list(header: true, separator: ";", nullValue: "-"),
            to: stream)
        try dbWriter.dumpSQL(
            "SELECT title, stock FROM book ORDER BY title",
            format: .json(),
            to: stream)
        try dbWriter.dumpTables(
            ["category"],
            format: .quote(),
            to: stream)
        return stream.text
    }

    func untypedValues(sql: String) throws -> [String] {
        try dbWriter.read { db in
            let rows = try Row.fetchAll(db, sql: sql)
            return rows.map { row in
                row.map { column, dbValue in
                    switch dbValue.storage {
                    case .null:
                        return "\(column): nothing"
                    case .int64(let integer):
                        return "\(column): integer \(integer)"
                    case .double(let double):
                        return "\(column): real \(double)"
                    case .string(let string):
                        return "\(column): text \(string)"
                    case .blob(let data):
                        return "\(column): \(data.count) bytes"
                    }
                }
                .joined(separator: ", ")
            }
        }
    }
}

/// A text that dumps are written to.
final class DumpText: TextOutputStream {
    var text = ""

    func write(_ string: String) {
        text += string
    }
}

// MARK: - Observation

/// The contents of the shop's window.
struct ShopWindow: Equatable, Sendable {
    var titles: [String]
    var favoriteCount: Int
}

extension Store {
    func windowObservation() -> ValueObservation<ValueReducers.Fetch<ShopWindow>> {
        ValueObservation.tracking { db in
            ShopWindow(
                titles: try Book.all()
                    .inStock()
                    .order(Book.Columns.title)
                    .select(Book.Columns.title, as: String.self)
                    .fetchAll(db),
                favoriteCount: try Author.all().favorites().fetchCount(db))
        }
    }

    func windows(count: Int, change: @Sendable () async throws -> Void) async throws -> [ShopWindow] {
        var windows: [ShopWindow] = []
        for try await window in windowObservation().values(in: dbWriter) {
            windows.append(window)
            if windows.count == count {
                break
            }
            try await change()
        }
        return windows
    }

    func stockCounts() -> ValueObservation<ValueReducers.Fetch<Int>> {
        ValueObservation.tracking { db in
            try Int.fetchOne(db, Book.select(sum(Book.Columns.stock))) ?? 0
        }
    }
}

/// Counts the rows that are written to some tables, and reports them after the commit.
final class ChangeCounter: TransactionObserver {
    private let tables: Set<String>
    private var pending = 0
    private(set) var committed = 0
    private(set) var rollbacks = 0

    init(tables: Set<String>) {
        self.tables = tables
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
        switch eventKind {
        case .insert(let tableName):
            return tables.contains(tableName)
        case .delete(let tableName):
            return tables.contains(tableName)
        case .update(let tableName, _):
            return tables.contains(tableName)
        }
    }

    func databaseDidChange(with event: DatabaseEvent) {
        pending += 1
    }

    func databaseDidCommit(_ db: Database) {
        committed += pending
        pending = 0
    }

    func databaseDidRollback(_ db: Database) {
        rollbacks += 1
        pending = 0
    }
}

/// Reports when a shelf is empty.
final class ShelfGuard {
    private(set) var messages: [String] = []

    func sellLast(_ store: Store, title: String) throws {
        try store.dbWriter.write { db in
            try db.execute(
                sql: "UPDATE book SET stock = stock - 1 WHERE title = ?",
                arguments: [title])
            let stock = try Int.fetchOne(
                db,
                sql: "SELECT stock FROM book WHERE title = :title",
                arguments: ["title": title])
            if stock == 0 {
                db.afterNextTransaction { _ in
                    self.messages.append("\(title) is sold out")
                }
            }
        }
    }
}

// MARK: - The program

/// Fills the shop.
struct Fixtures {
    var authors: [Author] = []
    var books: [Book] = []
    var customers: [Customer] = []
    var categories: [Category] = []

    static func date(_ text: String) -> Date {
        let formatter = ISO8601DateFormatter()
        return formatter.date(from: "\(text)T12:00:00Z")!
    }

    static func fill(_ store: Store) throws -> Fixtures {
        var fixtures = Fixtures()
        fixtures.authors = [
            try store.addAuthor(name: "Jane Austen", country: "gb", birthDate: date("1775-12-16")),
            try store.addAuthor(name: "Herman Melville", country: "us", birthDate: date("1819-08-01")),
            try store.addAuthor(name: "Victor Hugo", country: "fr", birthDate: date("1802-02-26")),
            try store.addAuthor(name: "Nobody Yet"),
        ]
        let ids = fixtures.authors.compactMap(\.id)
        fixtures.books = try store.addBooks([
            book(ids[0], "Emma", isbn: "978-0-306-40615-7", price: 8.5, stock: 3, date: "1815-12-23", "en"),
            book(ids[0], "Persuasion", isbn: "978-0-306-40615-0", price: 7, stock: 0, date: "1817-12-20", "en"),
            book(ids[1], "Moby-Dick", isbn: nil, price: 12, stock: 1, date: "1851-10-18", "en"),
            book(ids[2], "Les Misérables", isbn: nil, price: 20, stock: 5, date: "1862-03-30", "fr"),
            book(ids[2], "", isbn: nil, price: 0, stock: 0, date: "1866-01-01", "fr"),
        ])
        fixtures.customers = [
            try store.addCustomer(
                Customer(
                    name: "Arthur",
                    email: "arthur@example.com",
                    address: Customer.Address(street: "1 Rue", city: "Arras", countryCode: CountryCode("fr")))),
            try store.addCustomer(Customer(name: "Barbara", email: "barbara@example.com")),
        ]
        let fiction = try store.addCategory(name: "Fiction")
        let novel = try store.addCategory(name: "Novel", parent: fiction)
        let sea = try store.addCategory(name: "Sea", parent: novel)
        fixtures.categories = [fiction, novel, sea]
        try store.assign(novel, to: fixtures.books[0])
        try store.assign(novel, to: fixtures.books[2])
        try store.assign(sea, to: fixtures.books[2])
        try store.assign(sea, to: fixtures.books[2])
        return fixtures
    }

    private static func book(
        _ authorId: Int64,
        _ title: String,
        isbn: String?,
        price: Double,
        stock: Int,
        date: String,
        _ language: String)
        -> Book
    {
        Book(
            id: nil,
            authorId: authorId,
            isbn: isbn,
            title: title,
            price: price,
            stock: stock,
            publicationDate: Self.date(date),
            attributes: Book.Attributes(pageCount: nil, language: language, tags: ["classic"]),
            notes: nil)
    }
}

/// The failures that a run of the program has found.
final class Report {
    private(set) var failures: [String] = []

    func check(_ condition: Bool, _ what: String) {
        if !condition {
            failures.append(what)
        }
    }

    func checkThrows(_ what: String, _ body: () throws -> Void) {
        do {
            try body()
            failures.append("\(what): nothing was thrown")
        } catch {
            // As expected.
        }
    }
}

struct Bookshop {
    static func main() async throws {
        let dbQueue = try Shop.open()
        let counter = ChangeCounter(tables: ["book", "purchase"])
        dbQueue.add(transactionObserver: counter)
        let store = Store(dbQueue)
        let report = Report()
        let fixtures = try Fixtures.fill(store)
        report.check(counter.committed == 5, "five books are inserted")

        try checkAuthors(store, report)
        try checkBooks(store, fixtures, report)
        try checkCustomers(store, fixtures, report)
        try checkPurchases(store, fixtures, report)
        try checkTexts(store, report)
        try await checkObservation(store, report)

        if report.failures.isEmpty {
            print("The shop is open.")
        } else {
            print(report.failures.joined(separator: "\n"))
        }
    }

    static func checkAuthors(_ store: Store, _ report: Report) throws {
        let authors = try store.authors()
        report.check(authors.map(\.name).first == "Herman Melville", "authors are sorted")
        let austen = try store.author(named: "Jane Austen")
        report.check(austen?.countryCode == CountryCode("GB"), "a code is stored in capital letters")
        report.check(try store.author(id: austen?.id ?? 0) == austen, "an author is found by id")
        let codes = try store.countryCodes()
        report.check(codes.count == 3, "there are three countries")
        report.check(try store.authors(in: CountryCode("fr")!).count == 1, "one author is French")
        report.check(try store.initials() == ["JA", "HM", "VH", "NY"], "initials")
        try store.setFavorite(true, authorId: austen?.id ?? 0)
        report.check(try store.author(named: "Jane Austen")?.isFavorite == true, "a favorite is kept")
        report.check(try store.toggleAllFavorites() == 4, "all are toggled")
        let infos = try store.authorInfos()
        report.check(infos.first { $0.name == "Jane Austen" }?.bookCount == 2, "books are counted")
        report.check(infos.first { $0.name == "Nobody Yet" }?.maximumPrice == nil, "no price without a book")
        report.check(try store.authorsWithoutBooks().map(\.name) == ["Nobody Yet"], "an author without books")
        let names = try store.authorNamesByCountry()
        report.check(names[nil] == ["Nobody Yet"], "an author without a country")
        let ages = try store.ageOfAuthors(at: Fixtures.date("1817-07-18"))
        report.check(ages["Jane Austen"] == 41, "an age")
    }

    static func checkBooks(_ store: Store, _ fixtures: Fixtures, _ report: Report) throws {
        report.check(try store.books().count == 5, "five books")
        report.check(fixtures.books[4].title == "Untitled", "a title is invented")
        report.check(try store.book(isbn: "978-0-306-40615-7")?.title == "Emma", "a book by its ISBN")
        report.check(try store.books(ids: [1, 2, 99]).count == 2, "books by ids")
        report.check(try store.search("les mis").map(\.title) == ["Les Misérables"], "a search")
        report.check(try store.cheapBooks(below: 10).map(\.title) == ["Emma"], "cheap books in stock")
        report.check(try store.books(language: "en").count == 3, "books by language")
        let early = try store.books(
            publishedBetween: Fixtures.date("1810-01-01"),
            and: Fixtures.date("1820-01-01"))
        report.check(early.map(\.title) == ["Emma", "Persuasion"], "books by date")
        report.check(try store.titlesAndPrices()[0].price == 8.5, "titles and prices")
        report.check(try store.bookRows()[2].author == "Herman Melville", "rows of a join")
        report.check(try store.booksWithAuthors()[0].author.name == "Jane Austen", "an included author")
        report.check(try store.splitBooksAndAuthors()[3].author == "Victor Hugo", "split rows")
        report.check(try store.titles(in: fixtures.categories[2]) == ["Moby-Dick"], "books of a category")
        report.check(try store.mostExpensivePrices()[3] == 20, "greatest prices")
        report.check(try store.invalidISBNs() == ["978-0-306-40615-0"], "an invalid ISBN")
        report.check(try store.titlesByLength().first == "Emma", "the shortest title")
        report.check(try store.geometricMeanOfPrices().map { $0 > 10 && $0 < 12 } == true, "a mean")
        report.check(try store.raisePrices(by: 10, language: "fr") == 2, "prices are raised")
        try store.setTag("read", bookId: 1)
        report.check(try store.tags() == ["classic", "read"], "tags")
        var again = fixtures.books[0]
        again.id = nil
        again.stock = 2
        report.check(try store.upsert(again).stock == 5, "an upsert adds to the stock")
        report.check(try store.saveIfValid(again) == false, "an ISBN is taken")
        report.check(try store.nextId(after: fixtures.books[2]) == 7, "the next id")
        report.check(try store.relatedBooks(to: fixtures.books[0]).count == 3, "related books")
        report.check(try store.removeUnpriced() == ["Untitled"], "a book without a price is removed")
        report.check(try store.categoryPaths().last?.path == "Fiction / Novel / Sea", "paths of categories")
        report.checkThrows("a negative price") {
            var book = fixtures.books[0]
            book.id = nil
            book.isbn = nil
            book.price = -1
            _ = try store.addBook(book)
        }
    }

    static func checkCustomers(_ store: Store, _ fixtures: Fixtures, _ report: Report) throws {
        let arthur = try store.customer(email: "ARTHUR@example.com")
        report.check(arthur.id == fixtures.customers[0].id, "a customer is found by mail")
        report.check(arthur.creationDate != nil, "a customer has a date")
        report.check(try store.rename(customerId: arthur.id, to: "King Arthur"), "a customer is renamed")
        report.check(try store.rename(customerId: arthur.id, to: "King Arthur") == false, "and once only")
        report.check(try store.rename(customerId: UUID(), to: "Nobody") == false, "nobody is renamed")
        report.check(try store.customers(in: "Arras").map(\.name) == ["King Arthur"], "customers by city")
        report.checkThrows("an unknown mail") {
            _ = try store.customer(email: "nobody@example.com")
        }
    }

    static func checkPurchases(_ store: Store, _ fixtures: Fixtures, _ report: Report) throws {
        let arthur = fixtures.customers[0]
        let first = try store.purchase([1: 2, 3: 1], for: arthur, date: Fixtures.date("2026-01-01"))
        let second = try store.purchase([4: 1], for: arthur, date: Fixtures.date("2026-01-02"))
        report.checkThrows("a book that is out of stock") {
            _ = try store.purchase([1: 1, 2: 1], for: arthur, date: Fixtures.date("2026-01-03"))
        }
        report.checkThrows("an empty purchase") {
            _ = try store.purchase([:], for: arthur, date: Fixtures.date("2026-01-03"))
        }
        report.check(try store.purchases(status: .open) == [second, first], "the latest purchase is first")
        report.check(try store.buyers() == ["King Arthur"], "buyers")
        report.check(try store.total(purchaseId: first.id!) == 29, "a total")
        let infos = try store.purchaseInfos()
        report.check(infos.map(\.total) == [29, 22], "totals")
        report.check(infos[0].customerName == "King Arthur", "whose purchase it is")
        report.check(try store.dailyTotals().map(\.day) == ["2026-01-01", "2026-01-02"], "daily totals")
        report.check(try store.linesByPurchase()[first.id!]?.count == 2, "lines")
        report.check(try store.quantities(purchaseId: first.id!) == [1: 2, 3: 1], "quantities")
        try store.pay(purchaseId: first.id!)
        report.checkThrows("a purchase is paid once") {
            try store.pay(purchaseId: first.id!)
        }
        report.check(try store.bestSellers(limit: 1) == ["Emma"], "best sellers")
        let cancelled = try store.cancelOpenPurchases(before: Fixtures.date("2026-02-01"))
        report.check(cancelled == [second.id!], "an open purchase is cancelled")
        try store.deliver(10, bookId: 2, date: Fixtures.date("2026-01-05"))
        report.check(try store.summary(bookId: 2)?.total == 10, "a summary by a view")
        report.check(try store.movements(reason: .sale).count == 3, "movements")
        report.check(try store.movementCountsByReason()[.delivery] == 1, "movements by reason")
        let count = try store.importDeliveries(
            [(isbn: "978-0-306-40615-7", quantity: 1), (isbn: "unknown", quantity: 1)],
            date: Fixtures.date("2026-01-06"))
        report.check(count == 1, "a delivery is imported")
        report.check(try store.tryToSellEverything() == false, "a savepoint is rolled back")
    }

    static func checkTexts(_ store: Store, _ report: Report) throws {
        let dump = try store.dump()
        report.check(dump.hasPrefix("name;countryCode\nHerman Melville;US\n"), "a header, and rows")
        report.check(dump.contains(#"{"title":"Emma","stock":4}"#), "JSON")
        report.check(dump.hasSuffix("2,1,'Novel'\n3,2,'Sea'\n"), "SQL literals")
        let values = try store.untypedValues(sql: "SELECT 1 AS a, 'x' AS b, NULL AS c, 1.5 AS d, x'00' AS e")
        report.check(
            values == ["a: integer 1, b: text x, c: nothing, d: real 1.5, e: 1 bytes"],
            "values of any type")
    }

    static func checkObservation(_ store: Store, _ report: Report) async throws {
        let windows = try await store.windows(count: 2) {
            _ = try store.clearStock()
        }
        report.check(windows.first?.titles.contains("Emma") == true, "the window shows what is there")
        report.check(windows.last?.titles == [], "and is empty when all is sold")
        report.check(windows.last?.favoriteCount == 3, "favorites are counted")
        let shelf = ShelfGuard()
        try store.deliver(1, bookId: 1, date: Fixtures.date("2026-01-07"))
        try shelf.sellLast(store, title: "Emma")
        report.check(shelf.messages == ["Emma is sold out"], "a message comes after the commit")
        report.check(try store.deleteAuthor(id: 4), "an author is deleted")
        report.check(try store.authors().count == 3, "and only one")
    }
}
