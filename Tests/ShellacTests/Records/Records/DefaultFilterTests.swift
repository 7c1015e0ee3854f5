import Foundation
import TestSupport
import Testing

@testable import Shellac

extension DefaultFilter.Name {
    fileprivate static let archived: Self = "archived"
    fileprivate static let drafts: Self = "drafts"
    fileprivate static let misspelled: Self = "archved"
}

/// Default filters hold for all reads of a type, unless they are left out by their names.
@Suite("Default filters", .behaviour(72))
struct DefaultFilterTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE blog (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE post (
                        id INTEGER PRIMARY KEY, title TEXT UNIQUE, isArchived INTEGER NOT NULL DEFAULT 0,
                        isDraft INTEGER NOT NULL DEFAULT 0, blogID INTEGER REFERENCES blog(id), answers INTEGER REFERENCES post(id));
                    CREATE INDEX postBlog ON post(blogID);
                    CREATE INDEX postAnswers ON post(answers);
                    INSERT INTO blog VALUES (1, 'one'), (2, 'two');
                    INSERT INTO post VALUES
                        (1, 'a', 0, 0, 1, NULL), (2, 'b', 1, 0, 1, 1), (3, 'c', 0, 1, 2, 1), (4, 'd', 1, 1, 2, 2), (5, 'e', 0, 0, 2, 2);
                    """)
        }
    }

    private static let byID = Column("id")

    private func statements(_ body: (Database) throws -> Void) throws -> [String] {
        let statements = Recorder<String>()
        try queue.inDatabase { db in
            db.trace { statements.record($0.description) }
            try body(db)
            db.trace(nil)
        }
        // Statements that read the schema are not the program's.
        return statements.elements.filter { $0.contains(#"FROM "post""#) }
    }

    @Test("All that is read of a type has its conditions, and each is left out by its name")
    func reading() throws {
        try queue.inDatabase { db in
            func ids(_ request: QueryInterfaceRequest<Post>) throws -> [Int64?] {
                try request.order(Self.byID).fetchAll(db).map(\.id)
            }
            try #expect(Post.fetchAll(db).map(\.id) == [1, 5])
            try #expect(ids(Post.all()) == [1, 5])
            try #expect(ids(Post.ignoringDefaultFilter(.archived)) == [1, 2, 5])
            try #expect(ids(Post.ignoringDefaultFilter(.drafts)) == [1, 3, 5])
            try #expect(ids(Post.ignoringDefaultFilter(.drafts, .archived)) == [1, 2, 3, 4, 5])
            try #expect(ids(Post.filter(Column("id") > 1).ignoringDefaultFilter(.archived)) == [2, 5])
            try #expect(ids(Post.filter(Column("id") == 1 || Column("id") == 2)) == [1])
            try #expect(ids(Post.filter(sql: "id = 1 OR id = 2")) == [1])
            try #expect(Post.fetchCount(db) == 2 && Post.all().fetchCount(db) == 2)
            try #expect(Post.fetchOne(db, key: 2) == nil && Post.fetchOne(db, key: 1) != nil)
            try #expect(Post.fetchOne(db, key: ["title": "b"]) == nil)
            try #expect(Post.fetchAll(db, keys: [1, 2, 3]).map(\.id) == [1])
            try #expect(Post.exists(db, key: 1) && !Post.exists(db, key: 2))
            try #expect(Post.ignoringDefaultFilter(.archived).filter(key: 2).fetchOne(db)?.title == "b")
            #expect(throws: RecordError.recordNotFound(databaseTableName: "post", key: ["id": 3])) {
                try Post.find(db, key: 3)
            }
            try #expect(Post.select(max(Column("id")), as: Int.self).fetchOne(db) == 5)
            try #expect(
                PlainPost.fetchAll(db).map(\.id) == [1, 5] && PlainPost.find(db, key: 5).title == "e")
            // Raw SQL is the program's.
            try #expect(Post.fetchAll(db, sql: "SELECT * FROM post").count == 5)
            try #expect(Table<Post>("post").fetchCount(db) == 5)
        }
    }

    @Test("The SQL says what is left out")
    func sql() throws {
        let statements = try statements { db in
            _ = try Post.fetchAll(db)
            _ = try Post.filter(Column("title") == "a").fetchAll(db)
        }
        #expect(
            statements == [
                #"SELECT * FROM "post" WHERE "isArchived" = ? AND "isDraft" = ?"#,
                #"SELECT * FROM "post" WHERE "isArchived" = ? AND "isDraft" = ? AND "title" = ?"#,
            ])
    }

    @Test("A name that nobody has given throws, and says which there are")
    func names() throws {
        try queue.inDatabase { db in
            let error = #expect(throws: DatabaseError.self) {
                try Post.ignoringDefaultFilter(.misspelled).fetchAll(db)
            }
            #expect(
                error?.message?.hasPrefix(
                    "Post has no default filter named archved: it has archived, drafts") == true,
                "\(error?.message ?? "")")
            expectError("Blog has no default filter named archived: it has none") {
                try Blog.ignoringDefaultFilter(.archived).fetchCount(db)
            }
            expectError("a table without a type has no default filter named archived: it has none") {
                try Table<Post>("post").ignoringDefaultFilter(.archived).deleteAll(db)
            }
            // One that is left out twice is left out.
            try #expect(Post.ignoringDefaultFilter(.drafts, .drafts).fetchCount(db) == 3)
            // A filter that names a column which is not there.
            let missing = #expect(throws: DatabaseError.self) { try LostPost.fetchAll(db) }
            #expect(missing?.message?.contains("isArchive") == true)
            expectError("no such column: isArchive, in the table post of LostPost: did you mean isArchived?")
            { try LostPost.deleteAll(db) }
            try #expect(Table<Post>("post").fetchCount(db) == 5)
        }
    }

    @Test("Relations and joins leave out the same rows, in either direction")
    func relations() throws {
        try queue.inDatabase { db in
            let blogs = try Blog.order(Self.byID).including(Blog.posts, Blog.allPosts).fetchAll(db)
            #expect(try blogs.map { try $0[Blog.posts].map(\.id) } == [[1], [5]])
            #expect(try blogs.map { try $0[Blog.allPosts].map(\.id) } == [[1, 2], [5]])
            try #expect(blogs[0].request(for: Blog.posts).fetchCount(db) == 1)
            try #expect(
                blogs[1].request(for: Blog.allPosts.ignoringDefaultFilter(.drafts)).fetchCount(db) == 3)
            let answered = try Post.ignoringDefaultFilter(.archived, .drafts).order(Self.byID).including(
                Post.answered
            ).fetchAll(db)
            #expect(try answered.map { try $0[Post.answered]?.id } == [nil, 1, 1, nil, nil])
            let joined = try Post.order(Self.byID).including(optional: Post.answered).fetchAll(db)
            #expect(try joined.map { try $0[Post.answered]?.id } == [nil, nil])
            try #expect(
                Post.ignoringDefaultFilter(.drafts).joining(required: Post.answered).fetchAll(db).map(\.id)
                    == [3])
            try #expect(Blog.joining(required: Blog.posts.filter(Column("title") == "b")).fetchCount(db) == 0)
            let counts = try Blog.annotated(with: [Blog.posts.count, Blog.allPosts.forKey("all").count])
                .order(Self.byID)
                .asRequest(of: Row.self).fetchAll(db).map {
                    try [$0["postCount"] as Int, try $0["allCount"]]
                }
            #expect(counts == [[1, 2], [1, 1]])
            let other = TableAlias("other")
            try #expect(
                Blog.all().join(
                    Post.all(), aliased: other,
                    on: TableAlias("blog")[Column("id")] == other[Column("blogID")]
                )
                .fetchCount(db) == 2)
            // All children of all rows, when some of the rows are hidden otherwise.
            let whole = try Post.ignoringDefaultFilter(.archived).including(Post.answers).order(Self.byID)
                .fetchAll(
                    db)
            #expect(try whole.map { try $0[Post.answers].map(\.id) } == [[], [5], []])
        }
    }

    @Test("A relation that is joined twice has the conditions of both, whichever comes first", .behaviour(68))
    func joinedTwice() throws {
        try queue.inDatabase { db in
            let some = Blog.posts
            let all = Blog.posts.ignoringDefaultFilter(.archived, .drafts)
            let archived = Blog.posts.ignoringDefaultFilter(.archived)
            func count(_ first: HasMany<Post>, _ second: HasMany<Post>) throws -> Int {
                let request = Blog.joining(required: first)
                let counts = try [
                    request.joining(required: second), request.joining(optional: second),
                    request.including(required: second),
                    Blog.joining(optional: second).joining(required: first),
                ].map { try $0.asRequest(of: Row.self).fetchCount(db) }
                #expect(Set(counts).count == 1)
                return counts[0]
            }
            try #expect(count(all, all) == 5)
            try #expect(count(all, some) == 2)
            try #expect(count(some, all) == 2)
            try #expect(count(some, some) == 2)
            try #expect(count(archived, all) == 3)
            try #expect(count(all, archived) == 3)
            // Their other conditions, too, as before.
            try #expect(count(all.filter(Column("id") > 1), archived.filter(Column("id") < 5)) == 1)
            try #expect(count(all, Blog.posts.ignoringDefaultFilter(.drafts).filter(Column("id") > 1)) == 2)
        }
    }

    @Test("Requests update and delete what they see; a record's own row is its own, wherever it is")
    func writing() throws {
        try queue.inDatabase { db in
            try #expect(Post.updateAll(db, [Column("answers").set(to: nil)]) == 2)
            try #expect(Post.deleteOne(db, key: 2) == false)
            try #expect(Post.deleteAll(db, keys: [2, 3]) == 0)
            let hidden = try #require(try Post.ignoringDefaultFilter(.archived).filter(key: 2).fetchOne(db))
            hidden.title = "bb"
            try hidden.update(db)
            try hidden.reload(db)
            #expect(hidden.title == "bb")
            try #expect(hidden.exists(db))
            hidden.isDraft = true
            try hidden.updateChanges(db)
            try hidden.save(db)
            try hidden.upsert(db)
            // Insertions ignore the filter.
            let new = Post()
            (new.title, new.isArchived) = ("new", true)
            try new.insert(db)
            try #expect(Table<Post>("post").filter(key: new.id).fetchOne(db)?.isArchived == true)
            try #expect(Post.fetchOne(db, key: new.id) == nil)
            try db.execute(sql: "UPDATE post SET answers = NULL")
            try #expect(hidden.delete(db))
            try #expect(Post.deleteAll(db) == 2)
            try #expect(Table<Post>("post").fetchCount(db) == 3)
        }
    }

    @Test("Live values follow what is left out", arguments: [0])
    func live(_: Int) async throws {
        var posts = queue.values(of: Post.order(Self.byID).select(Column("title"), as: String.self))
            .makeAsyncIterator()
        try #expect(await posts.next() == ["a", "e"])
        try await queue.run("UPDATE post SET isArchived = 0 WHERE id = 2")
        try #expect(await posts.next() == ["a", "b", "e"])
        try await queue.run(
            "UPDATE post SET title = 'x' WHERE id = 4; UPDATE post SET isDraft = 1 WHERE id = 1")
        try #expect(await posts.next() == ["b", "e"])
    }

    @Test("A subclass adds to the filter, and kinds have both conditions")
    func subclasses() throws {
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE item (id INTEGER PRIMARY KEY, kind TEXT, isArchived INTEGER NOT NULL DEFAULT 0, isDraft INTEGER NOT NULL DEFAULT 0);
                    INSERT INTO item VALUES (1, 'note', 0, 0), (2, 'note', 1, 0), (3, NULL, 0, 0), (4, 'note', 0, 1);
                    """)
            try #expect(Item.fetchAll(db).map(\.id) == [1, 3, 4])
            try #expect(Note.fetchAll(db).map(\.id) == [1])
            try #expect(Note.ignoringDefaultFilter(.archived).fetchCount(db) == 2)
            try #expect(Note.ignoringDefaultFilter(.archived, .drafts).fetchCount(db) == 3)
            try #expect(Note.deleteAll(db) == 1)
        }
    }
}

private class Blog: Record {
    static let posts = hasMany(Post.self).order(Column("id"))
    static let allPosts = posts.ignoringDefaultFilter(.archived).forKey("allPosts")

    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "blog" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class Post: Record {
    static let answered = belongsTo(Post.self, using: "answers")
    static let answers = hasMany(Post.self, using: "answers")

    var id: Int64?
    var title: String?
    var isArchived = false
    var isDraft = false
    var blogID: Int64?

    override class var databaseTableName: String { "post" }
    override class var databaseDefaultFilter: DefaultFilter {
        [.archived: Column("isArchived") == false, .drafts: Column("isDraft") == false]
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("title", title) { title = $0 }
        try column("isArchived", isArchived) { isArchived = $0 }
        try column("isDraft", isDraft) { isDraft = $0 }
        try column("blogID", blogID) { blogID = $0 }
    }
}

private struct PlainPost: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var title: String

    static var databaseTableName: String { "post" }
    static var databaseDefaultFilter: DefaultFilter {
        [.archived: Column("isArchived") == false, .drafts: Column("isDraft") == false]
    }
}

private class LostPost: Post {
    override class var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchive") == false] }
}

private class Item: Record {
    var id: Int64?

    override class var databaseTableName: String { "item" }
    override class var databaseKinds: DatabaseKinds { .column("kind", ["note": Note.self]) }
    override class var databaseDefaultFilter: DefaultFilter { [.archived: Column("isArchived") == false] }

    override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
}

private class Note: Item {
    override class var databaseDefaultFilter: DefaultFilter {
        super.databaseDefaultFilter.adding(.drafts, Column("isDraft") == false)
    }
}
