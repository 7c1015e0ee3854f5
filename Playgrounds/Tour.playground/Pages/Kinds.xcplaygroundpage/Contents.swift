//: # Kinds of a table
//:
//: One table, a hierarchy of classes, and a column that says which class.

import Shellac

class Animal: Record {
    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "animal" }
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["cat": Cat.self, "dog": Dog.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }

    var sound: String { "…" }
}

class Cat: Animal {
    var lives = 9

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("lives", lives) { lives = $0 }
    }

    override var sound: String { "meow, \(lives) times" }
}

class Dog: Animal {
    override var sound: String { "woof" }
}

let dbQueue = try DatabaseQueue()
try dbQueue.write { db in
    try db.create(table: "animal") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("kind", .text).indexed()
        t.column("name", .text).notNull()
        t.column("lives", .integer)
    }
}

//: Each record writes its kind when it is inserted. The names in the database are those of the
//: list.

try dbQueue.write { db in
    let (cat, dog, animal) = (Cat(), Dog(), Animal())
    (cat.name, dog.name, animal.name) = ("Tom", "Rex", "It")
    for one in [cat, dog, animal] { try one.insert(db) }
    print(try String?.fetchAll(db, sql: "SELECT kind FROM animal ORDER BY id"))
}

//: A record that is fetched as an animal is a cat, or a dog. Requests of a class find its own rows.

try dbQueue.write { db in
    for animal in try Animal.order(Column("name")).fetchAll(db) {
        print("\(type(of: animal)) \(animal.name): \(animal.sound)")
    }
    print(
        "\(try Cat.fetchCount(db)) cat, \(try Dog.filter(Column("name") == "Tom").deleteAll(db)) dogs deleted"
    )
}

//: A bulk update turns the cat into a dog, so the cat of this program is not written.

try dbQueue.write { db in
    let cat = try Cat.find(db, key: 1)
    cat.lives -= 1
    try Animal.filter(key: 1).updateAll(db, [Column("kind").set(to: "dog")])
    do {
        try cat.update(db)
    } catch RecordError.kindChanged(_, let kind, _) {
        print("\(cat.name) is a \(kind) now")
    }
    print(try Animal.find(db, key: 1).sound)
}
