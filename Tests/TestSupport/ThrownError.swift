public import Shellac
public import Testing

/// The error that a body throws, or nil. For bodies with expectations of errors in them, which do
/// not nest.
public func thrownError(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

/// The description of the error that a body throws, or "nothing".
public func thrownText(_ body: () throws -> Void) -> String { thrownError(body).map { "\($0)" } ?? "nothing" }

/// The database's error that a body throws, or nil.
public func databaseError(_ body: () throws -> Void) -> DatabaseError? { thrownError(body) as? DatabaseError }

/// Expects a body to throw an error of the database whose message is a sentence.
///
/// ```swift
/// expectError("no such table: player") { try db.execute(sql: "DELETE FROM player") }
/// ```
///
/// If the code or the SQL of the error matters too, read it with
/// `#expect(throws: DatabaseError.self)`.
///
/// The body is escaping, although it runs at once. Swift 6.3 gives the closure of
/// `#expect(throws:)` the same symbol as a generic function's closure of the same type beside it.
/// It then runs the one in place of the other.
public func expectError<Value>(
    _ sentence: String, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping () throws -> Value
) {
    expect(thrownError { _ = try body() }, sentence, comment, sourceLocation)
}

/// Expects an asynchronous body to throw an error of the database whose message is a sentence.
public nonisolated(nonsending) func expectError<Value>(
    _ sentence: String, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping () async throws -> Value
) async {
    var thrown: (any Error)?
    do { _ = try await body() } catch { thrown = error }
    expect(thrown, sentence, comment, sourceLocation)
}

/// Expects a body to throw an error of the database whose message holds some words.
///
/// It is for messages that versions of SQLite word differently, or that depend on the machine.
public func expectError<Value>(
    containing words: String, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @escaping () throws -> Value
) {
    expect(thrownError { _ = try body() }, words, comment, sourceLocation, isWhole: false)
}

private func expect(
    _ error: (any Error)?, _ sentence: String, _ comment: Comment?, _ sourceLocation: SourceLocation,
    isWhole: Bool = true
) {
    guard let message = (error as? DatabaseError)?.message else {
        let thrown = error.map { "\(type(of: $0)): \($0)" } ?? "nothing"
        Issue.record("thrown was \(thrown), and not the error: \(sentence)", sourceLocation: sourceLocation)
        return
    }
    if isWhole {
        #expect(message == sentence, comment, sourceLocation: sourceLocation)
    } else {
        #expect(message.contains(sentence), comment, sourceLocation: sourceLocation)
    }
}
