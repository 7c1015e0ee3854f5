import Shellac
import TestSupport
import Testing

/// Relations that lead through rows which have an order and a limit of their own.
@Suite("The order and the limit of the rows that a relation leads through")
struct ThroughOrderTests {
    class Post: Record {
        static let taggings = hasMany(Tagging.self)
        static let sorted = taggings.order { $0.position }
        static let ranked = taggings.order {
            $0.position
            $0.id
        }
        static let tags = hasMany(Tag.self, through: ranked, using: Tagging.tag)
        static let named = hasMany(Tag.self, through: sorted, using: Tagging.tag.order { $0.name }).forKey(
            "named")
        static let first = hasMany(Tag.self, through: ranked.limitPerParent(2), using: Tagging.tag)
            .forKey("first")
        static let marks = hasMany(
            Mark.self,
            through: hasMany(
                Tag.self, through: ranked.limitPerParent(2), using: Tagging.tag.order { $0.name.desc }
            ),
            using: Tag.marks.order { $0.id.desc })

        var id: Int64?

        override class var databaseTableName: String { "post" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    class Tagging: Record {
        static let tag = belongsTo(Tag.self)

        var id: Int64?
        var position: Int?

        override class var databaseTableName: String { "tagging" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("position", position) { position = $0 }
        }
    }

    class Tag: Record {
        static let marks = hasMany(Mark.self)

        var id: Int64?
        var name = ""

        override class var databaseTableName: String { "tag" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("name", name) { name = $0 }
        }
    }

    class Mark: Record {
        var id: Int64?

        override class var databaseTableName: String { "mark" }
        override func columns(_ column: borrowing RecordColumns) throws { try column("id", id) { id = $0 } }
    }

    private final class TakenRequest {
        private(set) var request: QueryInterfaceRequest<Tag>?

        func take(_ request: QueryInterfaceRequest<Tag>) -> QueryInterfaceRequest<Tag> {
            self.request = request
            return request
        }
    }

    static func database(_ spy: SQLSpy? = nil) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy?.configuration() ?? Configuration())
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE post (id INTEGER PRIMARY KEY);
                    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE tagging (id INTEGER PRIMARY KEY, postID INTEGER REFERENCES post, tagID INTEGER REFERENCES tag,
                        position INTEGER, label TEXT COLLATE NOCASE);
                    CREATE TABLE mark (id INTEGER PRIMARY KEY, tagID INTEGER REFERENCES tag);
                    INSERT INTO post VALUES (1), (2), (3);
                    INSERT INTO tag VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
                    INSERT INTO tagging (postID, tagID, position, label) VALUES
                        (1, 1, 30, 'B'), (1, 2, 20, 'a'), (1, 3, 10, 'C'), (2, 2, 1, 'x'), (2, 1, 1, 'x'), (2, 4, 0, 'y'),
                        (NULL, 4, 5, 'n');
                    INSERT INTO mark VALUES (1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (6, 2);
                    """)
        }
        spy?.removeAll()
        return queue
    }

    /// Returns the names for the three posts by each road: loaded together, loaded alone,
    /// requested, fetched as rows.
    private func names(_ tags: HasMany<Tag>) throws -> [[String]] {
        try Self.database().read { db in
            let posts = try Post.including(tags).order { $0.id }.fetchAll(db)
            let together = try posts.map { try $0[tags].map(\.name) }
            let alone = try Post.order { $0.id }.fetchAll(db).map { post in
                try post.load(tags, db)
                return try post[tags].map(\.name)
            }
            #expect(alone == together)
            let requested = try posts.map { try $0.request(for: tags).fetchAll(db).map(\.name) }
            #expect(requested == together)
            let rows = try Row.fetchAll(db, Post.including(all: tags.forKey("found")).order { $0.id })
            let prefetched = try rows.map { row in
                try #require(row.prefetchedRows["found"]).map { try $0["name"] as String }
            }
            #expect(prefetched == together)
            return together
        }
    }

    @Test("sort what it leads to, and what is derived replaces that or reverses it", .behaviour(67))
    func order() throws {
        try #expect(names(Post.tags) == [["c", "b", "a"], ["d", "b", "a"], []])
        try #expect(names(Post.tags.reversed()) == [["a", "b", "c"], ["a", "b", "d"], []])
        try #expect(names(Post.tags.order { $0.name }) == [["a", "b", "c"], ["a", "b", "d"], []])
        try #expect(names(Post.tags.filter { $0.name != "b" }) == [["c", "a"], ["d", "a"], []])
        try #expect(names(Post.tags.limitPerParent(2)) == [["c", "b"], ["d", "b"], []])
    }

    @Test("come before the order of the rows that it leads to", .behaviour(67))
    func both() throws {
        try #expect(names(Post.named) == [["c", "b", "a"], ["d", "a", "b"], []])
        try #expect(names(Post.named.reversed()) == [["a", "b", "c"], ["b", "a", "d"], []])
    }

    @Test("are those of SQL, of expressions, of NULL and of collations, too", .behaviour(67))
    func terms() throws {
        func tags(_ taggings: HasMany<Tagging>) -> HasMany<Tag> {
            Post.hasMany(Tag.self, through: taggings, using: Tagging.tag.order { $0.id })
        }
        try #expect(
            names(tags(Post.taggings.order(SQL("position DESC, id").sqlExpression))) == [
                ["a", "b", "c"], ["b", "a", "d"], [],
            ])
        try #expect(
            names(tags(Post.taggings.order(Column("label")))) == [["b", "a", "c"], ["a", "b", "d"], []])
        try #expect(
            names(tags(Post.taggings.order(Column("label").desc))) == [
                ["c", "a", "b"], ["d", "a", "b"], [],
            ])
        try #expect(
            names(tags(Post.taggings.order { -$0.position })) == [["a", "b", "c"], ["a", "b", "d"], []])
        try #expect(
            names(tags(Post.taggings.refined { $0.orderByPrimaryKey().reversed() }))
                == [["c", "b", "a"], ["d", "a", "b"], []])
    }

    @Test("leave the first of each parent", .behaviour(67))
    func limit() throws {
        try #expect(names(Post.first) == [["c", "b"], ["d", "b"], []])
        try #expect(names(Post.first.order { $0.name }) == [["b", "c"], ["b", "d"], []])
        try #expect(names(Post.first.limitPerParent(1)) == [["c"], ["d"], []])
        let none = Post.hasMany(Tag.self, through: Post.ranked.limitPerParent(0), using: Tagging.tag)
        try #expect(names(none) == [[], [], []])
    }

    @Test("are those of several steps", .behaviour(67))
    func steps() throws {
        try Self.database().read { db in
            let posts = try Post.including(Post.marks).order { $0.id }.fetchAll(db)
            let found = try posts.map { try $0[Post.marks].map(\.id) }
            // Tags c and b of the first, d and b of the second, in this order, and the marks of
            // each from the last.
            #expect(found == [[4, 3, 6, 2], [5, 6, 2], []])
            let requested = try posts.map { try $0.request(for: Post.marks).fetchAll(db).map(\.id) }
            #expect(requested == found)
            let reversed = try posts.map { try $0.request(for: Post.marks.reversed()).fetchAll(db).map(\.id) }
            #expect(reversed == found.map { $0.reversed() })
        }
    }

    @Test("sort joined rows behind those of the request", .behaviour(68))
    func joining() throws {
        let spy = SQLSpy()
        try Self.database(spy).read { db in
            let request = Post.including(required: Post.named).filter { $0.id < 3 }.order { $0.id.desc }
            let rows = try request.asRequest(of: Row.self).fetchAll(db)
            let found = try rows.map {
                try #require($0.scopes["named"])["name"] as String
            }
            #expect(found == ["d", "a", "b", "c", "b", "a"])
            #expect(
                spy.selections.last?.hasSuffix(
                    #"ORDER BY "post"."id" DESC, "tagging"."position", "tag"."name""#) == true)
        }
    }

    private func refusal(_ word: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was refused")
        } catch {
            #expect("\(error)".contains(word), "\(error)")
        }
    }

    @Test("are refused where they cannot be meant, with what to write", .behaviour(67, 68))
    func refusals() throws {
        let queue = try Self.database()
        refusal("including(all:)") {
            try queue.read { _ = try Post.including(required: Post.first).fetchAll($0) }
        }
        refusal("limit for each parent") {
            try queue.read { _ = try Post.annotated(with: Post.first.count).fetchAll($0) }
        }
        let each = Post.hasMany(
            Mark.self, through: Post.tags, using: Tag.marks.limitPerParent(1))
        let words = "write limitPerParent(1) after the whole relation, for each Post"
        refusal(words) { try queue.read { try Self.load(each, $0) } }
        refusal(words) { try queue.read { try Self.request(each, $0) } }
        refusal(words) { try queue.read { _ = try Post.joining(required: each).fetchCount($0) } }
        let distinct = Post.hasMany(
            Tag.self, through: Post.sorted.refined { $0.distinct() }, using: Tagging.tag)
        refusal("leave out distinct(), or both of these") { try queue.read { try Self.load(distinct, $0) } }
        refusal("leave out distinct(), or both of these") {
            try queue.read { _ = try Post.having(distinct.isEmpty).fetchAll($0) }
        }
        // A request that is taken out of its relation has lost the way that the order is about.
        let taken = TakenRequest()
        _ = Post.tags.refined { taken.take($0) }
        let request = try #require(taken.request)
        refusal("request(for:)") { try queue.read { _ = try request.fetchAll($0) } }
    }

    private static func load(_ relation: some Relation, _ db: Database) throws {
        try db.load([#require(try Post.fetchOne(db))], relation)
    }

    private static func request(_ relation: HasMany<Mark>, _ db: Database) throws {
        _ = try #require(try Post.fetchOne(db)).request(for: relation).fetchAll(db)
    }

    @Test("count in requests of one record, and in their regions", .behaviour(68))
    func requests() throws {
        try Self.database().write { db in
            let post = try #require(try Post.fetchOne(db, key: 1))
            try #expect(post.request(for: Post.first).fetchCount(db) == 2)
            try #expect(post.request(for: Post.tags).filter { $0.name != "c" }.fetchOne(db)?.name == "b")
            try #expect(Post().request(for: Post.tags).fetchAll(db).isEmpty)
            let region = try Post.including(Post.tags).region(db)
            #expect(region.description.contains("position"))
            try #expect(post.request(for: Post.first).updateAll(db, Column("name").set(to: "!")) == 2)
            try #expect(Tag.order { $0.id }.fetchAll(db).map(\.name) == ["a", "!", "!", "d"])
        }
    }
}
