import Shellac

/// The migrations. A migration that has left the desk is never changed: new ones come behind it.
func makeMigrator() -> DatabaseMigrator {
    var migrator = DatabaseMigrator()

    migrator.registerMigration("Create tables") { db in
        try db.create(table: "remindersList") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text).notNull().unique().collate(.nocase)
        }
        try db.execute(sql: "INSERT INTO remindersList (title) VALUES ('Reminders')")
        try db.create(table: "reminder") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("remindersListID", .integer).notNull().references("remindersList", onDelete: .cascade)
                .indexed()
            t.column("title", .text).notNull().check(sql: "title <> ''")
            t.column("dueDate", .datetime)
            t.column("priority", .integer)
            t.column("isCompleted", .boolean).notNull().defaults(to: false)
            t.column("isFlagged", .boolean).notNull().defaults(to: false)
        }
    }

    migrator.registerMigration("Create tags") { db in
        try db.create(table: "tag") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text).notNull().unique().collate(.nocase)
        }
        try db.create(table: "tagging") { t in
            t.column("reminderID", .integer).notNull().references("reminder", onDelete: .cascade)
            t.column("tagID", .integer).notNull().references("tag", onDelete: .cascade).indexed()
            t.primaryKey(["reminderID", "tagID"])
        }
    }

    // Reminders that were there before have no dates: these are unknown.
    migrator.registerMigration("Add 'createdAt' and 'updatedAt' to 'reminder'") { db in
        try db.alter(table: "reminder") { t in
            t.add(column: "createdAt", .datetime)
            t.add(column: "updatedAt", .datetime)
        }
    }

    return migrator
}
