// Custom SQL functions and aggregates written in Swift, and their registration.

import CSQLite

/// An SQL function implemented in Swift.
///
/// ```swift
/// let initials = DatabaseFunction("initials", argumentCount: 1, pure: true) { values in
///     let name: String? = String.fromDatabaseValue(values[0])
///     return name.map { $0.split(separator: " ").compactMap(\.first).map(String.init).joined() }
/// }
/// try db.add(function: initials)
/// let names = try String.fetchAll(db, sql: "SELECT initials(name) FROM player")
/// ```
///
/// If the function throws an error, the statement fails, and its caller gets that error.
public struct DatabaseFunction: Sendable {
    typealias Scalar = @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?

    enum Kind: Sendable {
        case scalar(Scalar)
        case aggregate(@Sendable () -> any DatabaseAggregate)
    }

    /// The name of the function in SQL.
    public let name: String
    /// The number of arguments, or nil for any number.
    public let argumentCount: Int?
    /// Whether equal arguments always give equal results. SQLite may then call the function less
    /// often, and indexes and generated columns may use it.
    public let isPure: Bool
    let kind: Kind

    /// Creates a function of the values in one row.
    ///
    /// - Parameters:
    ///   - name: The name of the function in SQL.
    ///   - argumentCount: The number of arguments, or nil for any number.
    ///   - pure: Whether equal arguments always give equal results.
    ///   - function: A function that returns the result for the values of the arguments.
    public init(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false,
        function: @escaping @Sendable (_ values: [DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) {
        self.name = name
        self.argumentCount = argumentCount
        isPure = pure
        kind = .scalar(function)
    }

    /// Creates an aggregate function of the values in many rows.
    ///
    /// - Parameters:
    ///   - name: The name of the function in SQL.
    ///   - argumentCount: The number of arguments, or nil for any number.
    ///   - pure: Whether equal arguments always give equal results.
    ///   - aggregate: The type that computes one value from many rows.
    public init<Aggregate: DatabaseAggregate>(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, aggregate: Aggregate.Type
    ) {
        self.name = name
        self.argumentCount = argumentCount
        isPure = pure
        kind = .aggregate { Aggregate() }
    }
}

/// An SQL aggregate function, which computes one value from many rows.
///
/// ```swift
/// struct Longest: DatabaseAggregate {
///     var longest: String?
///
///     mutating func step(_ values: [DatabaseValue]) throws {
///         if let text = String.fromDatabaseValue(values[0]), text.count > longest?.count ?? -1 {
///             longest = text
///         }
///     }
///
///     func finalize() throws -> (any DatabaseValueConvertible)? { longest }
/// }
///
/// try db.add(function: DatabaseFunction("longest", argumentCount: 1, aggregate: Longest.self))
/// ```
public protocol DatabaseAggregate: SendableMetatype {
    /// Creates an aggregate without any rows.
    init()

    /// Adds the values of a row.
    ///
    /// - Parameter values: The values of the arguments, as many as the SQL passes to the function
    ///   in that row.
    /// - Throws: an error that makes the statement fail.
    mutating func step(_ values: [DatabaseValue]) throws

    /// Returns the result for the rows that were added.
    ///
    /// - Throws: an error that makes the statement fail.
    mutating func finalize() throws -> (any DatabaseValueConvertible)?
}

extension Database {
    /// Adds a function, or replaces the one with the same name and number of arguments.
    ///
    /// - Parameter function: The function. Its name has at most 255 bytes, and its case does not
    ///   matter. It takes 0 to 127 arguments, or as many as the running SQLite allows (1,000 in
    ///   newer versions), or any number.
    /// - Throws: a ``DatabaseError`` if SQLite rejects the name or the number of arguments. The
    ///   code is `SQLITE_BUSY` if a function is replaced while statements are running.
    public func add(function: DatabaseFunction) throws {
        checkAccess()
        if isClosed { throw closedError() }
        if function.name.utf8.contains(0) || function.argumentCount ?? 0 < 0 { throw refusal(of: function) }
        let box = Unmanaged.passRetained(FunctionBox(function, database: self))
        let isAggregate = if case .aggregate = function.kind { true } else { false }
        // If this fails, SQLite has already released the box. Keep SQLite's error: freeing the old
        // function may cause other errors on the connection.
        let (code, error) = added.departures.hold {
            let code = sqlite3_create_function_v2(
                pointer, function.name, function.sqliteArgumentCount, function.sqliteFlags, box.toOpaque(),
                isAggregate ? nil : { FunctionBox.call($0, $1, $2) },
                isAggregate ? { FunctionBox.step($0, $1, $2) } : nil,
                isAggregate ? { FunctionBox.finish($0) } : nil, { FunctionBox.destroy($0) })
            return (code, code == SQLITE_OK ? nil : self.error(code))
        }
        if code & 0xFF == SQLITE_MISUSE { throw refusal(of: function) }
        if let error { throw error }
        withExtendedLifetime(added.replace(function.isSame, by: [function])) {}
    }

    /// Removes a function. Does nothing if there is none.
    ///
    /// - Parameter function: Any function with the name and number of arguments. It need not be the
    ///   same object that was added.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_BUSY` while statements are running.
    public func remove(function: DatabaseFunction) throws {
        checkAccess()
        if isClosed { throw closedError() }
        try added.departures.hold {
            try check(
                sqlite3_create_function_v2(
                    pointer, function.name, function.sqliteArgumentCount, function.sqliteFlags, nil, nil,
                    nil, nil, nil))
        }
        withExtendedLifetime(added.replace(function.isSame, by: [])) {}
    }
}

extension Database {
    private func refusal(of function: DatabaseFunction) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message:
                "the function \(function.name) cannot be added: its name must have at most 255 bytes and "
                + "no NUL, and it must take 0 to \(sqlite3_limit(pointer, SQLITE_LIMIT_FUNCTION_ARG, -1)) "
                + "arguments")
    }
}

extension DatabaseFunction {
    /// Whether one of the two replaces the other.
    fileprivate func isSame(_ other: DatabaseFunction) -> Bool {
        CaseInsensitiveName.matches(name, other.name) && argumentCount == other.argumentCount
    }

    fileprivate var sqliteArgumentCount: Int32 { argumentCount.map { Int32(clamping: $0) } ?? -1 }
    fileprivate var sqliteFlags: Int32 { SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0) }
}
