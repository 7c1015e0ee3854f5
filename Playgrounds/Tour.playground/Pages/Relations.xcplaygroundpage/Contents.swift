//: # Relations
//: Objects that know each other, loaded by one statement for each relation.

import Foundation
import Shellac

class Author: Record {
    static let posts = hasMany(Post.self).order { $0.id }

    var id: Int64?
    var name = ""

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }

    var posts: [Post] { get throws { try self[Author.posts] } }
}

class Post: Record {
    static let author = belongsTo(Author.self)
    static let taggings = hasMany(Tagging.self)
    static let tags = hasMany(Tag.self, through: taggings, using: Tagging.tag).order { $0.name }

    var id: Int64?
    var authorID: Int64?
    var title = ""

    convenience init(_ title: String) {
        self.init()
        self.title = title
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("authorID", authorID) { authorID = $0 }
        try column("title", title) { title = $0 }
    }

    var author: Author? { get throws { try self[Post.author] } }
    var tags: [Tag] { get throws { try self[Post.tags] } }
}

class Tag: Record {
    var name = ""

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("name", name) { name = $0 }
    }
}

class Tagging: Record {
    static let tag = belongsTo(Tag.self)
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "author") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
    }
    try db.create(table: "post") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("author", onDelete: .cascade).notNull()
        t.column("title", .text).notNull()
    }
    try db.create(table: "tag") { t in t.primaryKey("name", .text) }
    try db.create(table: "tagging") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("post", onDelete: .cascade).notNull()
        t.belongsTo("tag").notNull()
    }
}

//: A graph is saved in one go: keys are filled in on the way.

let anna = Author("Anna")
let posts = [Post("On tides"), Post("On rust")]
anna.set(Author.posts, to: posts)
try dbQueue.write { db in
    try anna.save(db, with: Author.posts)
    try db.execute(
        sql: """
            INSERT INTO tag VALUES ('sea'), ('moon');
            INSERT INTO tagging (postID, tagName) VALUES (1, 'sea'), (1, 'moon')
            """)
}
print("saved", posts.map { $0.authorID ?? 0 })

//: A request loads what it names, and no more. Reading asks no database.

let authors = try dbQueue.read { db in
    try Author.including(Author.posts.including(Post.tags)).fetchAll(db)
}
for author in authors {
    for post in try author.posts {
        print(author.name, "wrote", post.title, try post.tags.map(\.name))
    }
}

//: Reading a relation that was not loaded is an error that says what to add.

do {
    let post = try dbQueue.read { db in try Post.find(db, id: 1) }
    print(try post.author?.name ?? "nobody")
} catch {
    print(error)
}

//: In a loop, `load` thinks of the other records of the same fetch.

try dbQueue.read { db in
    for post in try Post.fetchAll(db) {
        try post.load(Post.author, db)
        print(post.title, "by", try post.author?.name ?? "nobody")
    }
}

//: A relation joins two tables, and counts and sums up the rows that are related to one.

try dbQueue.read { db in
    let byAnna = Post.including(required: Post.author.filter { $0.name == "Anna" })
    for post in try byAnna.fetchAll(db) { print(post.title, "by", try post.author?.name ?? "nobody") }

    let counted = Author.annotated(with: Author.posts.count).having(!Author.posts.isEmpty)
    for row in try counted.asRequest(of: Row.self).fetchAll(db) {
        print(try row["name"] as String, "wrote", try row["postCount"] as Int, "posts")
    }
}
