//: # Transactions
//: An error rolls back. When SQLite ends a transaction by itself, nothing runs on by accident.

import Foundation
import Shellac

var configuration = Configuration()
configuration.transactionClock = .custom { _ in Date(timeIntervalSince1970: 1_000_000_000) }
let dbQueue = try DatabaseQueue(configuration: configuration)

func balances() throws -> [Int] {
    try dbQueue.read { db in try Int.fetchAll(db, sql: "SELECT balance FROM account ORDER BY id") }
}

try dbQueue.write { db in
    try db.execute(
        sql: """
            CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0));
            INSERT INTO account (balance) VALUES (100), (100);
            """)
}

//: All or nothing.

do {
    try dbQueue.write { db in
        try db.execute(sql: "UPDATE account SET balance = balance + 150 WHERE id = 2")
        try db.execute(sql: "UPDATE account SET balance = balance - 150 WHERE id = 1")
    }
} catch {
    print(error)
}
print(try balances())

//: A savepoint is undone alone.

try dbQueue.write { db in
    try db.execute(sql: "UPDATE account SET balance = 90 WHERE id = 1")
    try db.inSavepoint {
        try db.execute(sql: "DELETE FROM account")
        return .rollback
    }
}
print(try balances())

//: OR ROLLBACK ends the whole transaction. Even code that ignores the error cannot go on outside of
//: it.

do {
    try dbQueue.write { db in
        try db.execute(sql: "UPDATE account SET balance = 0 WHERE id = 1")
        try? db.execute(sql: "INSERT OR ROLLBACK INTO account (id, balance) VALUES (1, 1)")
        try db.execute(sql: "UPDATE account SET balance = 1000 WHERE id = 2")  // throws the first error
    }
} catch {
    print(error)
}
print(try balances())

//: The date of a transaction is constant, and comes from a clock that tests control.

try dbQueue.write { db in
    print(try db.transactionDate == db.transactionDate, try db.transactionDate.databaseValue)
}
