import Foundation
import Shellac
import TestSupport
import Testing

/// A book and its author, of structs and of plain tables.
private func withLibrary(_ body: (Database) throws -> Void) throws {
    try DatabaseQueue().inDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                CREATE TABLE book (
                    id INTEGER PRIMARY KEY, authorId INTEGER REFERENCES author(id), title TEXT, pages INTEGER);
                CREATE TABLE review (id INTEGER PRIMARY KEY, bookId INTEGER NOT NULL REFERENCES book(id), stars INTEGER);
                INSERT INTO author VALUES (1, 'Anna'), (2, 'Bert');
                INSERT INTO book VALUES (1, 1, 'Apes', 100), (2, 1, 'Bees', 50), (3, NULL, 'Cats', 10);
                INSERT INTO review VALUES (1, 1, 5), (2, 1, 3), (3, 3, 1);
                """)
        try body(db)
    }
}

private struct Author: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String

    static let books = hasMany(Book.self)
    static let works = hasMany(Book.self, key: "works")
    static let longest = hasOne(Book.self, key: "longest").order(Column("pages").desc)
    static let rows = hasMany(Table("book"), key: "rows")
    static let reviews = hasMany(Review.self, through: books, using: Book.reviews, key: "opinions")
}

private struct Book: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int64
    var authorId: Int64?
    var title: String
    var pages: Int

    // GRDB's types of associations, for stored properties.
    static let author: BelongsToAssociation<Book, Author> = belongsTo(Author.self)
    static let writer = belongsTo(Author.self, key: "writer", using: ForeignKey(["authorId"]))
    static let reviews: HasManyAssociation<Book, Review> = hasMany(Review.self)
    static let authorRow = belongsTo(Table("author"))
}

private struct Review: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int64
    var bookId: Int64
    var stars: Int

    static let book = belongsTo(Book.self)
    static let author: HasOneThroughAssociation<Review, Author> = hasOne(
        Author.self, through: book, using: Book.author)
}

@Suite("Names of relations, and what they mean")
struct RelationNamesTests {
    @Test("A key is that of rows in the plural, and of one row, counts and aggregates in the singular")
    func keys() throws {
        struct Info: Decodable, FetchableRecord {
            var author: Author
            var works: [Book]
        }
        try withLibrary { db in
            let infos = try Author.including(all: Author.works).order(Column("id"))
                .asRequest(of: Info.self).fetchAll(db)
            #expect(infos.map(\.works.count) == [2, 0])
            let counts = try Author.annotated(
                with: Author.works.count, Author.works.max(Column("pages")), Author.works.isEmpty,
                Author.books.filter(Column("pages") > 60).forKey("longBooks").count
            ).asRequest(of: Row.self).fetchAll(db)
            #expect(
                counts.map { Array($0.columnNames.dropFirst(2)) }.first == [
                    "workCount", "maxWorkPages", "hasNoWork", "longBookCount",
                ])
            let joined = try Row.fetchAll(db, Author.including(required: Author.works))
            #expect(joined.first?.scopes.names == ["work"])
            let longest = try Row.fetchOne(db, Author.including(optional: Author.longest).filter(key: 1))
            try #expect(longest?.scopes["longest"]?["pages"] == 100)
            let written = try Row.fetchOne(db, Book.including(required: Book.writer).filter(key: 1))
            try #expect(written?.scopes["writer"]?["name"] == "Anna")
            let reviewed = try Row.fetchOne(db, Author.including(all: Author.reviews).filter(key: 1))
            #expect(reviewed?.prefetchedRows["opinions"]?.count == 2)
        }
        // Digits at the end are kept.
        #expect("d1".pluralized == "ds1" && "ds1".singularized == "d1")
    }

    @Test("A generic function takes any association to one row, and a property holds one")
    func types() throws {
        func joined<A: AssociationToOne>(_ association: A) -> QueryInterfaceRequest<Book>
        where A.RowDecoder == Author {
            Book.including(required: association.filter(Column("name") == "Anna"))
        }
        func any(_ association: some Association) -> QueryInterfaceRequest<Author> {
            Author.joining(required: association)
        }
        try withLibrary { db in
            try #expect(joined(Book.author).fetchCount(db) == 2)
            try #expect(any(Author.books).fetchCount(db) == 2)
            let authors = try Review.including(required: Review.author).asRequest(of: Row.self).fetchAll(db)
            #expect(authors.count == 2)
            // The scope of a relation is that of the row itself.
            #expect(authors[0].scopes.names == ["author"])
            try #expect(authors[0].scopes["author"]?["name"] == "Anna")
            struct Info: Decodable, FetchableRecord {
                var review: Review
                var author: Author?
            }
            let infos = try Review.including(optional: Review.author).order(Column("id"))
                .asRequest(of: Info.self).fetchAll(db)
            #expect(infos.map(\.author?.name) == ["Anna", "Anna", nil])
        }
    }

    @Test("A table without a type is an end of a relation, with rows as its elements")
    func tables() throws {
        let books = Table("author").hasMany(Table("book"))
        let author = Table("book").belongsTo(Table("author"))
        let typed = Table("author").hasMany(Book.self)
        let first = Table("author").hasOne(Book.self, key: "first")
        let reviews = Table("author").hasMany(
            Table("review"), through: books, using: Table("book").hasMany(Table("review")))
        try withLibrary { db in
            let rows = try Book.including(required: Book.authorRow).asRequest(of: Row.self).order(
                Column("id")
            )
            .fetchAll(db)
            try #expect(rows.map { try $0.scopes["author"]?["name"] as String? } == ["Anna", "Anna"])
            let authors = try Table("author").including(all: books.order(Column("id"))).order(Column("id"))
                .fetchAll(db)
            let titles = try authors.map {
                try ($0.prefetchedRows["books"] ?? []).map { try $0["title"] as String }
            }
            #expect(titles == [["Apes", "Bees"], []])
            let lists = try Author.including(all: Author.rows).asRequest(of: Row.self).order(Column("id"))
                .fetchAll(db)
            #expect(lists.map { $0.prefetchedRows["rows"]?.count } == [2, 0])
            try #expect(
                Table("author").annotated(with: books.count, reviews.count).order(Column("id")).fetchAll(db)
                    .map { try [$0["bookCount"] as Int, $0["reviewCount"]] } == [[2, 2], [0, 0]])
            try #expect(
                Table("book").joining(required: author.filter(Column("name") == "Bert")).fetchCount(db) == 0)
            try #expect(Table("author").joining(required: typed.filter { $0.pages > 60 }).fetchCount(db) == 1)
            try #expect(Table("author").including(required: first).fetchAll(db)[0].scopes.names == ["first"])
            let anna = try #require(try Author.fetchOne(db, key: 1))
            try #expect(anna.request(for: Author.rows).fetchAll(db).count == 2)
            // The table of a type has the relations of the table.
            try #expect(Author.annotated(with: books.count).asRequest(of: Row.self).fetchAll(db).count == 2)
        }
    }

    @Test("A relation of another table, of a missing one, and without a foreign key throws")
    func errors() throws {
        try withLibrary { db in
            let wrong = thrownText { _ = try Table("review").including(all: Author.rows).fetchAll(db) }
            #expect(wrong.contains(#"Author.rows is not a relation of Table("review")"#), "\(wrong)")
            let missing = Table("author").hasMany(Table("nothing"))
            let text = thrownText { _ = try Table("author").including(all: missing).fetchAll(db) }
            #expect(text.contains("no such table: nothing"), "\(text)")
            let stray = Table("author").belongsTo(Table("review"))
            let reason = thrownText { _ = try Table("author").joining(required: stray).fetchAll(db) }
            #expect(reason.contains("has no foreign key that refers to review"), "\(reason)")
        }
    }

    @Test("The list of an absent parent is empty, and its own list counts before it")
    func absentParents() throws {
        struct Info: Decodable, FetchableRecord {
            var book: Book
            var author: Author?
            var books: [Book]
        }
        try withLibrary { db in
            let infos = try Book.including(optional: Book.author.including(all: Author.books)).order(
                Column("id")
            )
            .asRequest(of: Info.self).fetchAll(db)
            #expect(infos.map(\.books.count) == [2, 2, 0])
            #expect(infos[2].author == nil)
        }
    }

    @Test("A value nested in a row knows the key that it is decoded for")
    func codingPaths() throws {
        struct Nested: Decodable {
            let path: [String]
            init(from decoder: any Decoder) throws {
                path = decoder.codingPath.map(\.stringValue)
                _ = try decoder.container(keyedBy: Keys.self)
            }
            private enum Keys: CodingKey {
                case id
            }
        }
        struct Info: Decodable, FetchableRecord {
            var author: Nested
        }
        struct Lists: Decodable, FetchableRecord {
            var books: [Nested]
        }
        try withLibrary { db in
            let info = try Book.including(required: Book.author).asRequest(of: Info.self).fetchOne(db)
            #expect(info?.author.path == ["author"])
            let lists = try Author.including(all: Author.books).asRequest(of: Lists.self).fetchOne(db)
            #expect(lists?.books.map(\.path) == [["books"], ["books"]])
        }
    }

    @Test("One relation to one row has two aliases; to several rows, that throws")
    func aliases() throws {
        let (a, b) = (TableAlias(), TableAlias())
        try withLibrary { db in
            let request = Book.joining(required: Book.author.aliased(a)).filter(a["name"] == "Anna")
                .joining(optional: Book.author.aliased(b)).order(b["name"], Column("id"))
            try #expect(request.fetchAll(db).map(\.id) == [1, 2])
            let twice = Author.joining(required: Author.books.aliased(a)).joining(
                required: Author.books.aliased(b))
            let text = thrownText { _ = try twice.fetchAll(db) }
            #expect(text.contains("it leads to several rows, and was joined under two aliases"), "\(text)")
            let pairs = Author.joining(required: Author.books.aliased(a))
                .joining(required: Author.works.aliased(b)).filter(a["id"] < b["id"])
            try #expect(pairs.fetchCount(db) == 1)
        }
    }

    @Test("Keys of a table whose rows are only encoded are stored as the type stores them")
    func keysOfEncodableRecords() throws {
        struct Session: EncodableRecord, FetchableRecord {
            init(row: Row) {}
            func encode(to container: inout PersistenceContainer) {}
            static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                .uppercaseString
            }
        }
        let id = UUID()
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: "CREATE TABLE session (id TEXT PRIMARY KEY); INSERT INTO session VALUES (?)",
                arguments: [id.uuidString])
            try #expect(Table<Session>("session").filter(key: id).fetchCount(db) == 1)
            try #expect(Table<Session>("session").filter(keys: [id, UUID()]).fetchCount(db) == 1)
        }
    }

    @Test("A record that wraps another value reads and saves the columns of that value")
    func wrappers() throws {
        struct Wrapper<Content: Codable>: Codable, FetchableRecord, PersistableRecord {
            static var databaseTableName: String { "author" }
            var content: Content

            init(_ content: Content) { self.content = content }
            init(from decoder: any Decoder) throws {
                content = try decoder.singleValueContainer().decode(Content.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(content)
            }
        }
        struct Inner: Codable, Equatable {
            var id: Int64
            var name: String
        }
        struct Pages: Decodable, FetchableRecord {
            var books: [Int]
        }
        try withLibrary { db in
            try Wrapper(Inner(id: 3, name: "Carl")).insert(db)
            try Wrapper(Wrapper(Inner(id: 4, name: "Dora"))).insert(db)
            let all = try Wrapper<Inner>.order(Column("id")).fetchAll(db).map(\.content)
            #expect(all.map(\.name) == ["Anna", "Bert", "Carl", "Dora"])
            let cursor = try Wrapper<Wrapper<Author>>.all().fetchCursor(db)
            try #expect(cursor.next()?.content.content == Author(id: 1, name: "Anna"))
            let lists = try Author.including(all: Author.books.select(Column("pages")).order(Column("pages")))
                .order(Column("id")).asRequest(of: Pages.self).fetchAll(db)
            #expect(lists.map(\.books) == [[50, 100], [], [], []])
            // A number has no columns.
            let text = thrownText { try Wrapper(17).insert(db) }
            #expect(text.contains("encodes itself as a single value or an array without columns"), "\(text)")
            let array = thrownText { try Wrapper([17]).insert(db) }
            #expect(
                array.contains("encodes itself as a single value or an array without columns"), "\(array)")
        }
    }

    @Test("A joined row takes no column away that has its name")
    func columnsBesideScopes() throws {
        enum Code: String, Codable, DatabaseValueConvertible { case a }
        struct Member: Codable, FetchableRecord, PersistableRecord {
            static let group = belongsTo(Table("group"), key: "code", using: ForeignKey(["code"]))
            var id: Int64
            var code: Code?
        }
        try DatabaseQueue().inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE "group" (code TEXT PRIMARY KEY);
                    CREATE TABLE member (id INTEGER PRIMARY KEY, code TEXT REFERENCES "group"(code));
                    INSERT INTO "group" VALUES ('a');
                    INSERT INTO member VALUES (1, 'a'), (2, NULL);
                    """)
            let members = try Member.including(optional: Member.group).order(Column("id")).fetchAll(db)
            #expect(members.map(\.code) == [.a, nil])
        }
    }

    @Test("A record that is a part of an adapted row decodes itself from it")
    func recordsOfAdaptedRows() throws {
        struct Info: Decodable, FetchableRecord {
            var author: Author
            var extra: Int
        }
        try withLibrary { db in
            let infos = try Info.fetchAll(
                db, sql: "SELECT 0, *, 7 AS extra FROM author ORDER BY id",
                adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(infos.map(\.author.name) == ["Anna", "Bert"] && infos.map(\.extra) == [7, 7])
            let scoped = try Row.fetchOne(
                db, sql: "SELECT *, 7 AS extra FROM author ORDER BY id",
                adapter: ScopeAdapter(
                    base: RangeRowAdapter(0..<3), scopes: ["all": SuffixRowAdapter(fromIndex: 0)]))
            let row = try #require(scoped?.scopes["all"])
            try #expect(Info(row: row).author.name == "Anna")
        }
    }

    @Test("A wrapped record is stored as it is read, by the strategies of its own type")
    func wrappedStrategies() throws {
        struct Inner: Codable, Equatable, FetchableRecord, PersistableRecord {
            static var databaseTableName: String { "event" }
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .timeIntervalSince1970
            }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .timeIntervalSince1970
            }
            var id: Int64
            var date: Date
        }
        struct Outer: Codable, FetchableRecord, PersistableRecord {
            static var databaseTableName: String { "event" }
            var inner: Inner
            init(_ inner: Inner) { self.inner = inner }
            init(from decoder: any Decoder) throws {
                inner = try decoder.singleValueContainer().decode(Inner.self)
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(inner)
            }
        }
        struct Maybe: Decodable, FetchableRecord {
            var inner: Inner?
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                inner = container.decodeNil() ? nil : try container.decode(Inner.self)
            }
        }
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: "CREATE TABLE event (id INTEGER PRIMARY KEY, date)")
            let inner = Inner(id: 1, date: Date(timeIntervalSince1970: 5))
            try Outer(inner).insert(db)
            try #expect(Inner.fetchAll(db) == [inner])
            try #expect(Outer.fetchAll(db).map(\.inner) == [inner])
            try #expect(Maybe.fetchAll(db, sql: "SELECT NULL AS other, * FROM event").map(\.inner) == [inner])
            try #expect(Maybe.fetchAll(db, sql: "SELECT NULL AS id, NULL AS date").map(\.inner) == [nil])
        }
    }

    @Test("Class records are loaded by relations of tables, too")
    func classRecords() throws {
        try withLibrary { db in
            let typed = Table<ClassAuthor>("author").hasMany(ClassBook.self)
            let toTable = ClassAuthor.hasMany(Table<ClassBook>("book"))
            let back = ClassBook.belongsTo(Table<ClassAuthor>("author"))
            let author = try #require(
                try Table<ClassAuthor>("author").including(typed).order(Column("id")).fetchOne(db))
            try #expect(author[typed].map(\.title) == ["Apes", "Bees"])
            let other = try #require(try ClassAuthor.including(toTable).order(Column("id")).fetchOne(db))
            try #expect(other[toTable].map(\.title) == ["Apes", "Bees"])
            let book = try #require(try ClassBook.including(required: back).order(Column("id")).fetchOne(db))
            try #expect(book[back]?.name == "Anna")
        }
    }

    @Test("A row without its scopes, and as its statement returned it")
    func unscopedAndUnadapted() throws {
        let adapter = ScopeAdapter(
            base: ColumnMapping(["n": "name"]), scopes: ["rest": SuffixRowAdapter(fromIndex: 2)])
        try withLibrary { db in
            let sql = "SELECT id, name, id + 1 AS next FROM author ORDER BY id"
            let raw: Row = ["id": 1, "name": "Anna", "next": 2]
            let row = try #require(try Row.fetchOne(db, sql: sql, adapter: adapter))
            #expect(row.unscoped == ["n": "Anna"] && row.scopes["rest"] == ["next": 2])
            #expect(row.unadapted == raw && row.scopes["rest"]?.unadapted == raw)
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let live = try #require(try cursor.next())
            #expect(live.unadapted == raw && live.unscoped == ["n": "Anna"] && live.copy() == row)
            #expect(raw.unadapted == raw && raw.unscoped == raw)
            let joined = try #require(try Row.fetchOne(db, Book.including(optional: Book.author)))
            #expect(joined.unscoped == ["id": 1, "authorId": 1, "title": "Apes", "pages": 100])
            #expect(joined.unscoped.scopes.isEmpty)
            #expect(
                joined.unadapted == [
                    "id": 1, "authorId": 1, "title": "Apes", "pages": 100, "id": 1, "name": "Anna",
                ])
            // The elements of a row are pairs, as those of a dictionary.
            let values = Dictionary(raw, uniquingKeysWith: { first, _ in first })
            #expect(values == ["id": 1.databaseValue, "name": "Anna".databaseValue, "next": 2.databaseValue])
            try #expect(joined.decode(Author.self, forKey: "author").name == "Anna")
            let absent = try Row.fetchOne(db, Book.including(optional: Book.author).filter(key: 3))
            try #expect(absent?.decodeIfPresent(Author.self, forKey: "author") == nil)
            #expect(throws: RowDecodingError.self) { try absent?.decode(Author.self, forKey: "author") }
        }
    }
}

private final class ClassAuthor: Record {
    override class var databaseTableName: String { "author" }
    var id: Int64?
    var name = ""
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private final class ClassBook: Record {
    override class var databaseTableName: String { "book" }
    var id: Int64?
    var authorId: Int64?
    var title = ""
    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("authorId", authorId) { authorId = $0 }
        try column("title", title) { title = $0 }
    }
}
