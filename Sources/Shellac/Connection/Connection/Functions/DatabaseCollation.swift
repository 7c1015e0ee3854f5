// Custom collations written in Swift, and their registration with a connection.

import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A collation, which orders texts, implemented in Swift.
///
/// ```swift
/// let length = DatabaseCollation("length") { a, b in
///     a.count == b.count ? .orderedSame : a.count < b.count ? .orderedAscending : .orderedDescending
/// }
/// try db.add(collation: length)
/// let names = try String.fetchAll(db, sql: "SELECT name FROM player ORDER BY name COLLATE length")
/// ```
///
/// An index that uses a collation requires it on each connection that writes, always with the same
/// order: see ``Configuration/prepareDatabase(_:)``.
public struct DatabaseCollation: Sendable {
    /// The name of the collation in SQL.
    public let name: String
    let compare: @Sendable (String, String) -> ComparisonResult

    /// Creates a collation.
    ///
    /// - Parameters:
    ///   - name: The name of the collation in SQL.
    ///   - compare: A function that returns the order of two texts. The order must be consistent:
    ///     see "Define New Collating Sequences" in the SQLite documentation.
    public init(_ name: String, compare: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.name = name
        self.compare = compare
    }
}

/// The object that keeps a collation alive for SQLite.
private final class CollationBox {
    let collation: DatabaseCollation
    private let departures: Departures

    init(_ collation: DatabaseCollation, _ departures: Departures) {
        self.collation = collation
        self.departures = departures
    }

    static func destroy(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        let box = Unmanaged<CollationBox>.fromOpaque(context).takeRetainedValue()
        box.departures.depart(box)
    }

    func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int32 {
        switch collation.compare(String(decoding: a, as: UTF8.self), String(decoding: b, as: UTF8.self)) {
        case .orderedAscending: -1
        case .orderedSame: 0
        case .orderedDescending: 1
        }
    }
}

extension Database {
    /// Adds a collation, or replaces the one of the same name.
    ///
    /// - Parameter collation: The collation. The case of its name does not matter.
    /// - Throws: a ``DatabaseError`` if the name contains a NUL. The code is `SQLITE_BUSY` if a
    ///   collation is replaced while statements are running.
    public func add(collation: DatabaseCollation) throws {
        checkAccess()
        if isClosed { throw closedError() }
        guard !collation.name.utf8.contains(0) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "there is a NUL character in the name of the collation")
        }
        let box = Unmanaged.passRetained(CollationBox(collation, added.departures))
        try added.departures.hold {
            let code = sqlite3_create_collation_v2(
                pointer, collation.name, SQLITE_UTF8, box.toOpaque(),
                { context, aLength, a, bLength, b in
                    let box = Unmanaged<CollationBox>.fromOpaque(context.unsafelyUnwrapped)
                        .takeUnretainedValue()
                    return box.compare(
                        UnsafeRawBufferPointer(start: a, count: Int(aLength)),
                        UnsafeRawBufferPointer(start: b, count: Int(bLength)))
                }, { CollationBox.destroy($0) })
            // Unlike sqlite3_create_function_v2(), this function does not destroy its context when
            // it fails.
            if code != SQLITE_OK { CollationBox.destroy(box.toOpaque()) }
            try check(code)
        }
        withExtendedLifetime(added.replace(collation.isSame, by: [collation])) {}
    }

    /// Removes a collation. Does nothing if there is none of this name.
    ///
    /// - Parameter collation: Any collation with the name. It need not be the same object that was
    ///   added.
    /// - Throws: a ``DatabaseError`` of code `SQLITE_BUSY` while statements are running.
    public func remove(collation: DatabaseCollation) throws {
        checkAccess()
        if isClosed { throw closedError() }
        try added.departures.hold {
            try check(sqlite3_create_collation_v2(pointer, collation.name, SQLITE_UTF8, nil, nil, nil))
        }
        withExtendedLifetime(added.replace(collation.isSame, by: [])) {}
    }
}

extension DatabaseCollation {
    /// Whether the collation treats two texts as equal.
    @Sendable func areEqual(_ a: String, _ b: String) -> Bool { compare(a, b) == .orderedSame }

    /// Whether one of the two replaces the other.
    fileprivate func isSame(_ other: DatabaseCollation) -> Bool {
        CaseInsensitiveName.matches(name, other.name)
    }
}
