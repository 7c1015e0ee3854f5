//: # Values
//: SQLite stores five kinds of values. Swift's types go in, and come out again only when nothing is
//: lost.

import Shellac

//: Every type says how it is stored.

let stored: [(String, DatabaseValue)] = [
    ("1 as Int", 1.databaseValue),
    ("true as Bool", true.databaseValue),
    ("1.5 as Double", 1.5.databaseValue),
    ("\"Arthur\" as String", "Arthur".databaseValue),
    ("nil as Int?", Int?.none.databaseValue),
]
for (swift, value) in stored {
    print("\(swift) is stored as \(value.debugDescription)")
}

//: A conversion is accepted when nothing is lost by it.

print("1.0 read as an Int:", Int.fromDatabaseValue(1.0) ?? "refused")
print("1.5 read as an Int:", Int.fromDatabaseValue(1.5) ?? "refused")
print("300 read as an Int8:", Int8.fromDatabaseValue(300) ?? "refused")

//: An enum with raw values conforms with one line.

enum Colour: String, DatabaseValueConvertible {
    case red, white
}
print("'red' read as a Colour:", Colour.fromDatabaseValue("red") ?? "refused")
print("'blue' read as a Colour:", Colour.fromDatabaseValue("blue") ?? "refused")
