// swift-format-ignore-file
// Each line has the same number as in the other of the two files.

import Foundation
import Shellac

/// A tool for double-entry bookkeeping: accounts, entries, and the postings of entries to accounts.
enum LedgerProgram {}

// MARK: - Tables

extension LedgerProgram {
    static let accounts = Table("account")
    static let entries = Table("entry")
    static let postings = Table<Posting>("posting")

    static let postingsOfAccount = accounts.hasMany(postings)
    static let postingsOfEntry = entries.hasMany(postings, key: "lines")
    static let accountOfPosting = postings.belongsTo(accounts)
    static let entryOfPosting = postings.belongsTo(entries)
    static let accountsOfEntry = entries.hasMany(accounts, through: postingsOfEntry, using: accountOfPosting)

    /// An amount in cents.
    struct Money: Hashable, DatabaseValueConvertible, CustomStringConvertible {
        var cents: Int

        init(_ cents: Int) { self.cents = cents }

        /// Reads "12.50", or "-3".
        init?(text: String) {
            guard let amount = Double(text) else {
                return nil
            }
            cents = Int((amount * 100).rounded())
        }

        var databaseValue: DatabaseValue { cents.databaseValue }
        var description: String { String(format: "%.2f", Double(cents) / 100) }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Money? {
            Int.fromDatabaseValue(dbValue).map(Money.init)
        }
    }

    struct Account: Hashable, FetchableRecord {
        var id: Int64
        var code: String
        var name: String

        init(row: Row) throws {
            id = try row["id"]
            code = try row["code"]
            name = try row.coalesce(["nickname", "name"]) ?? "nameless"
        }
    }

    struct Posting: FetchableRecord, PersistableRecord {
        static let databaseTableName = "posting"

        var entryId: Int64
        var accountId: Int64
        var amount: Money
        var side: String?

        enum Columns {
            static let accountId = Column("accountId")
            static let amount = Column("amount")
        }

        init(entryId: Int64, accountId: Int64, amount: Money) {
            (self.entryId, self.accountId, self.amount) = (entryId, accountId, amount)
        }

        init(row: Row) throws {
            entryId = try row["entryId"]
            accountId = try row[Columns.accountId]
            amount = try row[Columns.amount]
            side = try row["side"]
        }

        func encode(to container: inout PersistenceContainer) {
            container["entryId"] = entryId
            container[Columns.accountId] = accountId
            container[Columns.amount] = amount
        }
    }

    /// A line of the journal: a posting with its entry and its account.
    struct JournalLine: FetchableRecord {
        var posting: Posting
        var account: Account
        var memo: String
        var day: DatabaseDateComponents

        init(row: Row) throws {
            posting = try Posting(row: row)
            account = try row["account"]
            let entry = row.scopes["entry"]!
            memo = try entry["memo"]
            day = try entry[Column("day")]
        }
    }

    enum LedgerError: Error, Equatable {
        case usage(String)
        case notBalanced(Money)
        case badLine(Int)
    }
}

// MARK: - Migrations

extension LedgerProgram {
    static func migrator(erases: Bool = false) -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = erases

        migrator.registerMigration("accounts") { db in
            try db.create(table: "account") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("number", .text).notNull().unique(onConflict: .abort)
                t.column("title", .text).notNull().collate(.nocase)
                t.column("kind", .text).notNull().check { ["asset", "income", "expense"].contains($0) }
            }
        }

        migrator.registerMigration("entries") { db in
            try db.create(table: "entry") { t in
                t.primaryKey("id", .integer)
                t.column("day", .date).notNull()
                t.column("memo", .text).notNull().defaults(to: "")
                t.column("isClosed", .boolean).notNull().defaults(to: false)
                t.column("importedAt", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
            }
            try db.create(table: "posting", options: [.ifNotExists, .withoutRowID]) { t in
                t.primaryKey {
                    t.belongsTo("entry", onDelete: .cascade)
                    t.column("accountId", .integer)
                }
                t.column("amount", .integer).notNull()
                t.foreignKey(["accountId"], references: "account", onDelete: .restrict)
                t.check(sql: "amount <> 0")
            }
            try db.create(indexOn: "posting", columns: ["accountId"])
            try db.create(
                index: "entry_on_open_day",
                on: "entry",
                columns: ["day"],
                options: [.ifNotExists],
                condition: Column("isClosed") == false)
        }

        migrator.registerMigration("names", foreignKeyChecks: .immediate) { db in
            try db.alter(table: "account") { t in
                t.rename(column: "number", to: "code")
                t.rename(column: "title", to: "name")
                t.add(column: "nickname", .text)
                t.add(column: "codeClass", .text).generatedAs(sql: "substr(code, 1, 1)", .virtual)
            }
            try db.alter(table: "entry") { t in t.drop(column: "importedAt") }
        }

        // SQLite cannot add a stored column to a table: the table is made again.
        migrator.registerMigration("sides") { db in
            try db.create(table: "newPosting", options: .withoutRowID) { t in
                t.primaryKey {
                    t.belongsTo("entry", onDelete: .cascade)
                    t.belongsTo("account", onDelete: .restrict)
                }
                t.column("amount", .integer).notNull().check { $0 != 0 }
                t.column("side", .text).generatedAs(sql: "iif(amount < 0, 'credit', 'debit')", .stored)
            }
            try db.execute(sql: """
                INSERT INTO newPosting (entryId, accountId, amount)
                SELECT entryId, accountId, amount FROM posting
                """)
            try db.drop(table: "posting")
            try db.rename(table: "newPosting", to: "posting")
        }

        migrator.registerMigration("views") { db in
            let balances = postings
                .select(Column("accountId"), sum(Column("amount")).forKey("balance"))
                .group(Column("accountId"))
            try db.create(view: "balance", as: balances)
            try db.execute(sql: """
                CREATE TRIGGER closedEntry BEFORE UPDATE ON entry WHEN OLD.isClosed
                BEGIN
                    SELECT RAISE(ABORT, 'the entry is closed');
                END
                """)
        }
        return migrator
    }
}

// MARK: - The tool

extension LedgerProgram {
    /// Runs commands, each of which returns the text to print.
    struct Tool {
        let dbQueue: DatabaseQueue

        func run(_ arguments: String...) throws -> String {
            switch (arguments.first, arguments.dropFirst().first) {
            case ("import", let text?):
                "\(try importEntries(text)) entries"
            case ("balance", let code?):
                try balance(code: code)?.description ?? "-"
            case ("journal", nil):
                try journal().map { line in
                    let (day, amount) = (line.day.dateComponents, line.posting.amount)
                    return "\(day.month!)/\(day.day!) \(line.memo): \(line.account.name) \(amount)"
                }
                .joined(separator: "\n")
            case ("close", let day?):
                "\(try close(until: day)) closed"
            case ("totals", nil):
                try totals().map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
            default:
                throw LedgerError.usage(arguments.joined(separator: " "))
            }
        }

        /// Imports lines such as "2026-01-31;Rent;6000:900;1000:-900", all of them or none.
        func importEntries(_ text: String) throws -> Int {
            try dbQueue.write { db in
                let account = try db.makeStatement(sql: "SELECT id FROM account WHERE code = ?")
                let entry = try db.makeStatement(literal: """
                    INSERT INTO entry (day, memo) VALUES (:day, :memo) RETURNING id
                    """)
                var count = 0
                for (index, line) in text.split(separator: "\n").enumerated() {
                    let fields = line.split(separator: ";").map(String.init)
                    guard fields.count >= 4 else {
                        throw LedgerError.badLine(index + 1)
                    }
                    let values: [String: any DatabaseValueConvertible] = ["day": fields[0], "memo": fields[1]]
                    try entry.setArguments(StatementArguments(values))
                    let entryId = try Int64.fetchOne(entry)!
                    var sum = Money(0)
                    for field in fields.dropFirst(2) {
                        let parts = field.split(separator: ":").map(String.init)
                        guard parts.count == 2, let amount = Money(text: parts[1]),
                            let accountId = try Int64.fetchOne(account, arguments: [parts[0]])
                        else {
                            throw LedgerError.badLine(index + 1)
                        }
                        try Posting(entryId: entryId, accountId: accountId, amount: amount).insert(db)
                        sum.cents += amount.cents
                    }
                    guard sum.cents == 0 else {
                        throw LedgerError.notBalanced(sum)
                    }
                    count += 1
                }
                return count
            }
        }

        func balance(code: String) throws -> Money? {
            try dbQueue.read { db in
                let balances = Table("balance")
                let account = balances.belongsTo(accounts, using: ForeignKey(["accountId"], to: ["id"]))
                return try balances
                    .joining(required: account.filter(Column("code") == code))
                    .select(Column("balance"), as: Money.self)
                    .fetchOne(db)
            }
        }

        func journal() throws -> [JournalLine] {
            try dbQueue.read { db in
                try postings
                    .including(required: entryOfPosting)
                    .including(required: accountOfPosting)
                    .order(Column("entryId"), Column("amount").desc)
                    .asRequest(of: JournalLine.self)
                    .fetchAll(db)
            }
        }

        func close(until day: String) throws -> Int {
            try dbQueue.write { db in
                let open = entries.filter(Column("isClosed") == false && Column("day") <= day)
                return try open.updateAll(db, [Column("isClosed").set(to: true)])
            }
        }

        /// The sums of the accounts' classes.
        func totals() throws -> [String: Money] {
            try dbQueue.read { db in
                let rows = try Row.fetchCursor(db, sql: """
                    SELECT codeClass, SUM(amount) AS total FROM account
                    JOIN posting ON posting.accountId = account.id GROUP BY codeClass
                    """)
                var totals: [String: Money] = [:]
                while let row = try rows.next() {
                    try totals[row["codeClass"]] = row["total"]
                }
                return totals
            }
        }
    }
}

// MARK: - The program

extension LedgerProgram {
    final class Report {
        private(set) var failures: [String] = []

        func check(_ condition: Bool, _ what: String) {
            if !condition { failures.append(what) }
        }

        func check(throws expected: LedgerError, _ what: String, _ body: () throws -> String) {
            do {
                _ = try body()
                failures.append("\(what): nothing was thrown")
            } catch {
                check(error as? LedgerError == expected, "\(what): \(error)")
            }
        }
    }

    final class Output: TextOutputStream {
        var text = ""

        func write(_ string: String) { text += string }
    }

    static func main() async throws {
        let report = Report()
        let dbQueue = try DatabaseQueue()
        try checkMigrations(dbQueue, report)
        try checkSchema(dbQueue, report)
        try checkTool(Tool(dbQueue: dbQueue), report)
        try await checkTables(dbQueue, report)
        try checkReading(dbQueue, report)

        print(report.failures.isEmpty ? "The ledger balances." : report.failures.joined(separator: "\n"))
    }

    static func checkMigrations(_ dbQueue: DatabaseQueue, _ report: Report) throws {
        let migrator = migrator()
        report.check(migrator.migrations == ["accounts", "entries", "names", "sides", "views"], "migrations")
        report.check(try dbQueue.read(migrator.hasCompletedMigrations) == false, "a new database is empty")
        try migrator.migrate(dbQueue, upTo: "entries")
        try dbQueue.write { db in
            for (number, title, kind) in [("1000", "Bank", "asset"), ("4000", "Sales", "income")] {
                try db.execute(
                    sql: "INSERT INTO account (number, title, kind) VALUES (?, ?, ?)",
                    arguments: [number, title, kind])
            }
            try db.execute(sql: """
                INSERT INTO entry (day, memo) VALUES ('2026-01-01', 'First');
                INSERT INTO posting VALUES (1, 1, 500), (1, 2, -500);
                """)
            report.check(try migrator.completedMigrations(db) == ["accounts", "entries"], "two are completed")
        }
        try migrator.migrate(dbQueue)
        try dbQueue.read { db in
            report.check(try migrator.appliedMigrations(db).last == "views", "all migrations are applied")
            report.check(try migrator.appliedIdentifiers(db) == Set(migrator.migrations), "as a set")
            report.check(try migrator.hasSchemaChanges(db) == false, "the schema is that of the migrations")
            report.check(try DatabaseMigrator().hasBeenSuperseded(db), "a migrator without migrations")
        }

        let other = try DatabaseQueue()
        try migrator.migrate(other)
        try other.write { db in
            try db.execute(sql: "INSERT INTO entry (day) VALUES ('2026-01-01'); CREATE TABLE extra (id)")
        }
        let eraser = LedgerProgram.migrator(erases: true)
        report.check(try other.read(eraser.hasSchemaChanges), "a table is not of the migrations")
        try eraser.migrate(other)
        report.check(try other.read { try !$0.tableExists("extra") && entries.fetchCount($0) == 0 }, "erased")

        var failing = migrator
        failing.registerMigration("orphan") { db in
            try db.execute(sql: "INSERT INTO posting (entryId, accountId, amount) VALUES (77, 88, 1)")
        }
        do {
            try failing.migrate(other)
            report.check(false, "a migration leaves an orphan")
        } catch let error as DatabaseError {
            report.check(error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY, "an orphan: \(error)")
        }
        report.check(try other.read { try !failing.appliedMigrations($0).contains("orphan") }, "rolled back")
    }

    static func checkSchema(_ dbQueue: DatabaseQueue, _ report: Report) throws {
        try dbQueue.read { db in
            let columns = try db.columns(in: "account")
            let names = columns.map(\.name).joined(separator: " ")
            report.check(names == "id code name kind nickname codeClass", "columns: \(names)")
            report.check(columns[1].isNotNull && columns[1].type == "TEXT", "a column is not null")
            let memo = try db.columns(in: "entry").first { $0.name == "memo" }
            report.check(memo?.defaultValueSQL == "''" && memo?.primaryKeyIndex == 0, "a default")
            let key = try db.primaryKey("posting")
            report.check(key.columns == ["entryId", "accountId"] && key.rowIDColumn == nil, "a key")
            report.check(!key.tableHasRowID, "a table without row identifiers")
            report.check(try db.primaryKey("account").rowIDColumn == "id", "a row identifier")
            let indexes = try db.indexes(on: "account").filter(\.isUnique)
            report.check(indexes.map(\.columns) == [["code"]], "a unique index")
            report.check(try db.table("account", hasUniqueKey: ["code"]), "a unique key")
            let foreignKeys = try db.foreignKeys(on: "posting")
                .sorted { $0.destinationTable < $1.destinationTable }
            report.check(foreignKeys.map(\.destinationTable) == ["account", "entry"], "foreign keys")
            report.check(foreignKeys[0].mapping.first?.origin == "accountId", "a foreign key's column")
            report.check(foreignKeys[1].originColumns == ["entryId"], "and another one's")
            report.check(try db.viewExists("balance") && db.triggerExists("closedEntry"), "a view, a trigger")
            try db.checkForeignKeys()
            try db.checkForeignKeys(in: "posting")
        }
    }

    static func checkTool(_ tool: Tool, _ report: Report) throws {
        let text = "2026-01-31;Rent;6000:900;1000:-900\n2026-02-01;Gift;1000:12.50;4000:-12.5"
        report.check(throws: .badLine(1), "an account is missing") { try tool.run("import", text) }
        try tool.dbQueue.write { db in
            try db.execute(
                sql: "INSERT INTO account (code, name, kind, nickname) VALUES (:code, :name, 'expense', :s)",
                arguments: ["code": "6000", "name": "Rent paid", "s": "Rent"])
        }
        report.check(try tool.run("import", text) == "2 entries", "an import")
        report.check(throws: .notBalanced(Money(100)), "an entry is not balanced") {
            try tool.run("import", "2026-02-02;Wrong;1000:2;4000:-1")
        }
        report.check(throws: .usage("help me"), "an unknown command") { try tool.run("help", "me") }
        report.check(try tool.run("balance", "1000") == "-882.50", "a balance")
        report.check(try tool.run("balance", "9999") == "-", "no balance")
        let journal = try tool.run("journal").split(separator: "\n")
        report.check(journal.count == 6 && journal[2] == "1/31 Rent: Rent 900.00", "a journal: \(journal)")
        report.check(try tool.run("totals") == "1=-882.50 4=-17.50 6=900.00", "totals")
        report.check(try tool.run("close", "2026-01-31") == "2 closed", "entries are closed")
        do {
            try tool.dbQueue.write { try entries.updateAll($0, Column("memo").set(to: "x")) }
            report.check(false, "a closed entry changes")
        } catch let error as DatabaseError {
            report.check(error.message == "the entry is closed", "a trigger refuses: \(error)")
        }
    }

    static func checkTables(_ dbQueue: DatabaseQueue, _ report: Report) async throws {
        let sums = try await dbQueue.read { db in
            let request = accounts
                .annotated(with: postingsOfAccount.count)
                .annotated(with: postingsOfAccount.sum(Column("amount")).forKey("sum"))
                .having(postingsOfAccount.count > 1)
                .order(Column("code"))
            return try request.fetchAll(db).map { row in
                "\(try row["name"] as String) \(try row["postingCount"] as Int) \(try row["sum"] as Money)"
            }
        }
        report.check(sums == ["Bank 3 -882.50", "Sales 2 -17.50"], "sums: \(sums)")
        try dbQueue.inDatabase { db in
            let entry = try entries
                .including(all: postingsOfEntry)
                .including(all: accountsOfEntry.order(Column("code")))
                .order(Column("id").desc)
                .fetchOne(db)
            report.check(entry?.prefetchedRows["lines"]?.count == 2, "the lines of an entry")
            let codes = try entry?.prefetchedRows["accounts"]?.map { try $0["code"] as String }
            report.check(codes == ["1000", "4000"], "the accounts of an entry")
            report.check(try accounts.exists(db, key: ["code": "6000"]), "an account exists")
            let bank = try Table<Account>("account").filter(Column("code") == "1000").fetchOne(db)
            report.check(bank?.name == "Bank" && bank?.id == 1, "a table of a type")
            let raised = try accounts
                .filter([1, 2].contains(Column("id")))
                .updateAll(db, Column("code").set(to: Column("code") + 1), Column("nickname").set(to: nil))
            report.check(raised == 2, "codes are raised")
            let large = postings.filter(Posting.Columns.amount > 50_000)
            report.check(try large.deleteAll(db) == 1, "a posting is deleted")
            report.check(try entries.filter(key: 2).deleteAll(db) == 1, "an entry is deleted")
            report.check(try postings.fetchCount(db) == 4, "with its postings")
        }
    }

    static func checkReading(_ dbQueue: DatabaseQueue, _ report: Report) throws {
        try dbQueue.read { db in
            try checkRows(report)
            try checkAdapters(db, report)
            try checkScopes(db, report)
        }
        try checkDumps(dbQueue, report)
    }

    static func checkRows(_ report: Report) throws {
        let row: Row = ["id": 1, "name": "Bank", "note": nil, "rate": 1.5]
        report.check(Array(row.columnNames) == ["id", "name", "note", "rate"], "the columns of a row")
        report.check(try row.count == 4 && row[0] as Int == 1 && row["NAME"] as String == "Bank", "values")
        report.check(try row["note"] as String? == nil && row["rate"] as Double? == 1.5, "values or nil")
        report.check(try row.hasColumn("rate") && row["other"] as DatabaseValue? == nil, "no such column")
        report.check(row.databaseValues.filter(\.isNull).count == 1, "one value is NULL")
        report.check(try row.coalesce([Column("note"), Column("name")]) as String? == "Bank", "coalesce")
        report.check(try row[Column("rate")] as Double == 1.5 && row.containsNonNullValue, "a column")
        let texts = row.map { column, dbValue in "\(column)=\(dbValue)" }
        report.check(texts.joined(separator: " ") == "id=1 name=Bank note=NULL rate=1.5", "\(texts)")
        let dictionary = Dictionary(row, uniquingKeysWith: { left, _ in left })
        report.check(dictionary["name"] == "Bank".databaseValue, "a row as a dictionary")
        if let (column, dbValue) = row.first(where: { $0.1.isNull }) {
            report.check(column == "note" && dbValue == .null, "the first NULL")
        }
        for (index, (_, dbValue)) in row.enumerated() where index == 3 {
            guard case .double(let rate) = dbValue.storage else { return report.check(false, "a double") }
            report.check(rate == 1.5, "a storage")
        }
        let values: [String: (any DatabaseValueConvertible)?] = ["id": 7, "code": "1", "nickname": "N"]
        report.check(try Account(row: Row(values)).name == "N", "a row of a dictionary")
        report.check(Row(["id": 1]) == ["id": 1] && Row(["id": 1]) != ["id": 2], "rows are compared")
        report.check("\(row)" == "[id: 1, name: 'Bank', note: NULL, rate: 1.5]", "a description: \(row)")
    }

    static func checkAdapters(_ db: Database, _ report: Report) throws {
        let sql = "SELECT 1 AS id, 'Bank' AS name, 2 AS id, 'First' AS memo, 500 AS amount"
        let end = try Row.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 2))!
        report.check(try end.columnNames.first == "id" && end.count == 3 && end["id"] as Int == 2, "a suffix")
        report.check(try end.unadapted.count == 5 && end.unadapted["id"] as Int == 1, "without an adapter")
        let start = try Row.fetchOne(db, sql: sql, adapter: RangeRowAdapter(0..<2))
        report.check(start == ["id": 1, "name": "Bank"], "a range")
        let mapping = ColumnMapping(["id": "id", "code": "memo", "nickname": "name"])
        let account = try SQLRequest<Account>(sql: sql, adapter: mapping).fetchOne(db)
        report.check(account?.code == "First" && account?.name == "Bank", "a mapping")
        let renamed = try Row.fetchOne(db, sql: sql, adapter: RenameColumnAdapter { "my_" + $0 })
        report.check(try renamed?["my_memo"] as String? == "First", "renamed columns")
        let amount = try Int.fetchOne(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 4))
        report.check(amount == 500, "a value by an adapter")

        let adapters = splittingRowAdapters(columnCounts: [2, 2])
        let adapter = ScopeAdapter(["account": adapters[0], "entry": adapters[1], "rest": adapters[2]])
        let row = try Row.fetchOne(db, sql: sql, adapter: adapter)!
        report.check(Set(row.scopes.names) == ["account", "entry", "rest"], "scopes")
        report.check(row.scopes["entry"] == ["id": 2, "memo": "First"], "a scope")
        report.check(try row.scopes["rest"]?["amount"] as Int? == 500, "the rest")
        report.check(row.scopes["other"] == nil && row.count == 5, "no scope")
        let scoped = try SQLRequest<Row>(sql: sql)
            .adapted { _ in RangeRowAdapter(0..<2).addingScopes(["entry": SuffixRowAdapter(fromIndex: 2)]) }
            .fetchOne(db)!
        report.check(scoped.count == 2 && scoped.scopes["entry"]?.count == 3, "scopes are added")
        let nested = ScopeAdapter([
            "outer": EmptyRowAdapter().addingScopes(["inner": RangeRowAdapter(3..<4)]),
        ])
        let tree = try Row.fetchOne(db, sql: sql, adapter: nested)!
        report.check(try tree.scopesTree["inner"]?["memo"] as String? == "First", "a scope in a scope")
        report.check(tree.scopesTree.names == ["outer", "inner"], "names of a tree")
    }

    static func checkScopes(_ db: Database, _ report: Report) throws {
        let request = postings
            .including(required: accountOfPosting.forKey("bank").filter(Column("kind") == "asset"))
            .including(optional: entryOfPosting.select(Column("memo"), Column("day")))
            .order(Column("entryId"))
        for row in try Row.fetchAll(db, request) {
            report.check(Set(row.scopes.names) == ["bank", "entry"], "scopes of a request")
            report.check(row.unscoped.scopes.isEmpty && row.count == 4, "a row without scopes")
            report.check(row.unadapted.count == 4 + 6 + 2, "all columns")
            let bank: Account = try row["bank"]
            report.check(try bank.code == "1001" && row["side"] as String == "debit", "a record of a scope")
            let names = row.scopes.map { name, scope in "\(name) \(scope.count)" }.sorted()
            report.check(names == ["bank 6", "entry 2"], "scopes are a collection: \(names)")
        }
    }

    static func checkDumps(_ dbQueue: DatabaseQueue, _ report: Report) throws {
        let output = Output()
        try dbQueue.dumpTables(
            ["account", "posting"], format: .list(header: true),
            to: output)
        let tables = output.text
        report.check(tables.hasPrefix("account\nid|code|name|kind|nickname|codeClass\n1|1001|"), tables)
        report.check(tables.contains("\n\nposting\nentryId|accountId|amount|side\n1|1|500|debit\n"), tables)
        let lines = Output()
        try dbQueue.dumpSQL("SELECT code, name FROM account LIMIT 1", format: .line(), to: lines)
        try dbQueue.dumpRequest(accounts.select(Column("id"), Column("code")), format: .quote(), to: lines)
        try dbQueue.dumpSQL("SELECT NULL AS a, 1.5 AS b", format: .debug(header: true), to: lines)
        report.check(lines.text.hasPrefix("code = 1001\nname = Bank\n1,'1001'\n2,"), lines.text)
        report.check(lines.text.hasSuffix("a|b\n|1.5\n"), lines.text)
        let schema = Output()
        try dbQueue.dumpSchema(to: schema)
        report.check(schema.text.contains("CREATE VIEW \"balance\" AS SELECT"), schema.text)
        report.check(schema.text.contains("ON \"entry\"(\"day\") WHERE"), "an index with a condition")
        try dbQueue.dumpContent(format: .json(), to: schema)
        report.check(schema.text.contains(#""kind":"asset""#), "the content")
    }
}
