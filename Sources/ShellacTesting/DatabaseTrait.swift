// A trait of Swift Testing that copies a template for each test.

import Shellac
import Testing

/// A trait that makes a database for each test, and for each case of a test with arguments.
public struct DatabaseTrait: TestTrait, SuiteTrait, TestScoping {
    let template: DatabaseTemplate

    /// Whether the trait of a suite also belongs to its tests. It does.
    public var isRecursive: Bool { true }

    /// Runs a test while ``testDatabase`` is a copy of the template.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // (A suite has no case, and its tests have their own scopes.)
        guard testCase != nil else { return try await function() }
        try await TestDatabase.$current.withValue(template.makeQueue()) { try await function() }
    }
}

extension Trait where Self == DatabaseTrait {
    /// Copies a database for each test, as ``testDatabase``.
    ///
    /// ```swift
    /// @Suite(.database(template))
    /// struct PlayerTests {
    ///     @Test func insertion() throws {
    ///         try testDatabase.write { db in try Player(name: "Arthur").insert(db) }
    ///     }
    /// }
    /// ```
    public static func database(_ template: DatabaseTemplate) -> DatabaseTrait {
        DatabaseTrait(template: template)
    }
}

/// The database of the running test: see ``Testing/Trait/database(_:)``.
public var testDatabase: DatabaseQueue {
    guard let database = TestDatabase.current else {
        fatalError(
            "testDatabase is the database of a test with the trait .database(…): give the trait to the test "
                + "or to its suite. A detached task does not inherit it: pass the database to the task.")
    }
    return database
}

private enum TestDatabase {
    @TaskLocal static var current: DatabaseQueue?
}
