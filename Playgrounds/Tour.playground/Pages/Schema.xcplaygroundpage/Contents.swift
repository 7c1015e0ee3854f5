//: # Schema
//: Tables are described in Swift, and read back from the database.

import Shellac

let dbQueue = try DatabaseQueue()

//: A definition creates the table and its indexes, or nothing.

try dbQueue.write { db in
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull().unique().collate(.nocase)
    }
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("team", onDelete: .cascade).notNull()
        t.column("name", .text).notNull().check(sql: "LENGTH(name) > 0")
        t.column("score", .integer).notNull().defaults(to: 0)
        t.column("bonus", .integer).notNull().defaults(to: 100)
        t.column("total", .integer).generatedAs(sql: "score + bonus")
    }
    try db.create(table: "passport", options: .withoutRowID) { t in
        t.primaryKey {
            t.column("country", .text)
            t.column("number", .integer)
        }
    }
    try db.create(indexOn: "player", columns: ["name"], condition: "score > \(1000)")
    try db.create(view: "hero", as: "SELECT * FROM player WHERE total > \(1000)")
    try db.create(virtualTable: "biography", using: "fts5") { t in
        t.column("text")
        t.option("tokenize", "porter ascii")
    }
}

//: Functions return the schema. The answers are kept until the schema changes.

try dbQueue.read { db in
    print("tables:", try db.tableNames().filter { !$0.hasPrefix("biography_") })
    print("views:", try db.viewNames())
    for column in try db.columns(in: "player") {
        print(
            column.name, column.type, column.affinity, column.isNotNull ? "NOT NULL" : "",
            column.isGenerated ? "generated" : "")
    }
    print("row id:", try db.primaryKey("player").rowIDColumn ?? "none")
    print("key of a passport:", try db.primaryKey("passport").columns)
    print("a team is told by its name:", try db.table("team", hasUniqueKey: ["name"]))
    for index in try db.indexes(on: "player") {
        print(index.name, index.columns, index.isPartial ? "partial" : "")
    }
    for key in try db.foreignKeys(on: "player") {
        print(key.originColumns, "→", key.destinationTable, key.destinationColumns)
    }
}

//: Tables change, and a change that is rolled back has not been.

try dbQueue.inDatabase { db in
    try db.inTransaction {
        try db.alter(table: "team") { t in
            t.add(column: "city", .text)
            t.rename(column: "name", to: "title")
        }
        print(try db.columns(in: "team").map(\.name))
        return .rollback
    }
    print(try db.columns(in: "team").map(\.name))
    do {
        try db.alter(table: "team") { t in t.drop(column: "id") }
    } catch {
        print(error)
    }
}

//: A rebuild can do what ALTER TABLE cannot: rows, indexes, triggers, views and foreign keys stay.

try dbQueue.write { db in
    try db.execute(
        sql: "INSERT INTO team (name) VALUES ('Reds'); INSERT INTO player (teamId, name) VALUES (1, 'Arthur')"
    )
    try db.rebuild(table: "team", copying: ["title": "upper(name)"]) { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("title", .text).notNull().check(sql: "title <> ''")
    }
    try db.dumpTables(["team", "player"])
}

//: A column may hold the cases of an enum alone, and another one may count the rows that refer to
//: its own.

enum Style: String, CaseIterable, DatabaseValueConvertible { case clay, grass }

try dbQueue.write { db in
    try db.create(table: "club") { t in
        t.autoIncrementedPrimaryKey("id")
        t.counter("courtsCount", of: "court")
    }
    try db.create(table: "court") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("style", .text).check(in: Style.self)
        t.belongsTo("club", onDelete: .setNull)
    }
    try db.execute(
        sql: "INSERT INTO club DEFAULT VALUES; INSERT INTO court VALUES (1, 'clay', 1), (2, 'grass', 1)")
    try db.execute(sql: "REPLACE INTO court VALUES (1, 'grass', NULL)")
    print("courts of the club:", try Int.fetchOne(db, sql: "SELECT courtsCount FROM club") ?? 0)
    print("wrong counts:", try db.recount("club", "courtsCount"))
    do {
        try db.execute(sql: "INSERT INTO court (style) VALUES ('sand')")
    } catch let error as DatabaseError {
        print("the style is one of", error.constraint?.values ?? [])
    }
}
