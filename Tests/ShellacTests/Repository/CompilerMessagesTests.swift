import Foundation
import TestSupport
import Testing

/// The compiler says what the articles quote.
@Suite(.serialized) struct CompilerMessagesTests {
    struct Quotation: Sendable, CustomTestStringConvertible {
        /// The message in the article's table, with `…` for the parts that are left out.
        let message: String
        let source: String
        var article = "ConcurrencyErrors.md"
        var testDescription: String { message }
    }

    @Test("the compiler says what the article quotes", arguments: quotations)
    func messages(_ quotation: Quotation) async throws {
        let article = try String(
            decoding: Data(
                contentsOf: Repository.root.appending(
                    path: "Sources/Shellac/Shellac.docc/\(quotation.article)")),
            as: UTF8.self)
        #expect(article.contains("| \(quotation.message)"))
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.program(quotation.source).utf8, to: "program.swift")
        let result = try await SwiftScript.compile(URL(filePath: file), warningsAreErrors: true)
        withExtendedLifetime(folder) {}
        #expect(!result.succeeded)
        // The article leaves out the names of errors, which lead to a page of the compiler's own.
        let errors = result.output.split(separator: "\n").filter { $0.contains(": error: ") }
        #expect(
            errors.contains { error in
                quotation.message.components(separatedBy: "…").allSatisfy { error.contains($0) }
            }, "\(result.output)")
    }

    /// The nested columns of a class cannot restrict its closures, since `Record` conforms to
    /// `TableRecord`. A request that names them is checked.
    @Test(
        "A misspelled column does not compile: in closures of structs, and where a class's columns are named",
        .behaviour(120),
        arguments: [
            ("Hero.filter { $0.score > 1 }.order { $0.name }", nil),
            // (The compiler's own words for this one do not name the column.)
            ("Hero.filter { $0.scroe > 1 }", "error: "),
            ("Hero.order { $0.nmae }", "type 'Hero.Columns' has no member 'nmae'"),
            ("Rich.filter(Rich.Columns.balance > 1).order(Poor.Columns.balance)", nil),
            ("Rich.filter(Rich.Columns.blance > 1)", "has no member 'blance'"),
            // Detected when it runs, with a suggestion.
            ("Rich.filter { $0.blance > 1 }", nil),
        ] as [(String, String?)])
    func columns(_ request: String, _ message: String?) async throws {
        let folder = try TemporaryFolder()
        let source = """
            \(Self.hero)
            class Poor: Record {
                enum Columns { static let balance = Column("balance") }
            }
            final class Rich: Poor {}
            let request = \(request)
            """
        let file = try folder.write(Self.program(source).utf8, to: "program.swift")
        let result = try await SwiftScript.compile(URL(filePath: file), warningsAreErrors: true)
        withExtendedLifetime(folder) {}
        #expect(result.succeeded == (message == nil), "\(result.output)")
        if let message { #expect(result.output.contains(message), "\(result.output)") }
    }

    private static func program(_ source: String) -> String {
        """
        import Shellac
        final class Account: Record {
            var id: Int64?
            var balance = 0
            override func columns(_ column: borrowing RecordColumns) throws {
                try column("id", id) { id = $0 }
                try column("balance", balance) { balance = $0 }
            }
        }
        \(source)

        """
    }

    static let quotations =
        concurrency
        + [
            ("Hero.filter { $0.score = 1 }", "type '(_) -> ()' cannot conform to 'SQLSpecificExpressible'"),
            ("Hero.filter { $0.scroe > 1 }", "type '(_) -> Bool' cannot conform to 'SQLSpecificExpressible'"),
            (
                "Hero.filter { $0.name.hasPrefix(\"A\") }",
                "type '(_) -> _' cannot conform to 'SQLSpecificExpressible'"
            ),
            (
                "Hero.filter(\\Hero.score > 1)",
                "cannot be used as a type conforming to protocol 'SQLSpecificExpressible'"
            ),
            ("Account.filter(balance: 1)", "no exact matches in call to static method 'filter'"),
        ].map { request, message in
            Quotation(message: message, source: "\(hero)\nlet request = \(request)", article: "Requests.md")
        }

    private static let hero = """
        struct Hero: Codable, FetchableRecord, PersistableRecord {
            enum Columns { static let (score, name) = (Column("score"), Column("name")) }
            var score = 0, name = ""
        }
        """

    private static let concurrency = [
        Quotation(
            message: "sending value of non-Sendable type '@callee_guaranteed …' risks causing data races",
            source: """
                func count(_ dbQueue: DatabaseQueue) async throws -> Int {
                    var count = 0
                    try await dbQueue.read { db in count = try Account.fetchCount(db) }
                    return count
                }
                """),
        Quotation(
            message: "passing closure as a 'sending' parameter risks causing data races",
            source: """
                func count(_ dbQueue: DatabaseQueue, where isGood: @escaping (Account) -> Bool) async throws -> Int {
                    try await dbQueue.read { db in try Account.fetchAll(db).filter(isGood).count }
                }
                """),
        Quotation(
            message: "sending value of non-Sendable type '() async throws -> ()' risks causing data races",
            source: """
                func saveLater(_ dbQueue: DatabaseQueue) async throws {
                    let account = Account()
                    Task { try await account.save(in: dbQueue) }
                    account.balance = 1
                }
                """),
        Quotation(
            message: "conformance of 'Record' to 'Sendable' is unavailable: a record has no lock: ",
            source: """
                func all(_ dbQueue: DatabaseQueue) async throws {
                    try await withThrowingTaskGroup(of: Account.self) { group in
                        group.addTask { try await dbQueue.read { db in try Account.find(db, key: 1) } }
                        for try await account in group { print(account.balance) }
                    }
                }
                """),
        Quotation(
            message:
                "cannot pass function of type '(Database) async throws -> …' to parameter expecting synchronous function type",
            source: """
                func download() async throws -> Int { 1 }
                func save(_ dbQueue: DatabaseQueue) async throws {
                    try await dbQueue.write { db in
                        try Account.deleteOne(db, key: try await download())
                    }
                }
                """),
        Quotation(
            message: "no 'async' operations occur within 'await' expression",
            source: """
                func all(_ dbQueue: DatabaseQueue) async throws -> [Account] {
                    try await dbQueue.read(Account.fetchAll)
                }
                """),
        Quotation(
            message: "no 'async' operations occur within 'await' expression",
            source: """
                func erase(_ dbQueue: DatabaseQueue) async throws { try await dbQueue.erase() }
                """),
        Quotation(
            message: "expression is 'async' but is not marked with 'await'",
            source: """
                func all(_ dbQueue: DatabaseQueue) async throws -> [Account] {
                    try dbQueue.read { db in try Account.fetchAll(db) }
                }
                """),
    ]
}
