/// The classes whose records share one table, and the column that holds the class of each row.
///
/// ```swift
/// class Animal: Record {
///     var id: Int64?
///     var name = ""
///
///     override class var databaseTableName: String { "animal" }
///     override class var databaseKinds: DatabaseKinds {
///         .column("kind", ["cat": Cat.self, "dog": Dog.self])
///     }
/// }
/// class Cat: Animal { var lives = 9 }
/// class Dog: Animal { var tricks = 0 }
///
/// let animals = try Animal.fetchAll(db)   // cats and dogs
/// let cats = try Cat.fetchAll(db)         // SELECT * FROM "animal" WHERE "kind" = 'cat'
/// ```
///
/// This is single-table inheritance. The class that declares the kinds is their *base*, and its
/// subclasses inherit the declaration. The database holds the names in the list, never those of
/// Swift classes. So a class can be renamed, and the rows stay as they are. Kinds are compared byte
/// by byte.
///
/// See ``Record/databaseKinds``.
public struct DatabaseKinds: Sendable {
    /// The list of the classes. Nil if all rows of the table are of the class that fetches them.
    let list: (any ClassList)?

    /// Declares that all rows of the table are of the class that fetches them. This is the default.
    public init() { list = nil }

    init(_ list: some ClassList) { self.list = list }
}
