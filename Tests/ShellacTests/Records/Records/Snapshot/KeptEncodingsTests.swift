import Foundation
import Shellac
import TestSupport
import Testing

/// Encoders and containers that point into the library's stack, and that a program has for the
/// duration of a call.
@Suite("What is good for the duration of an encoding", .serialized)
struct KeptEncodingsTests {
    struct Keeping: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: String
        let message: String
    }

    @Test(
        "a container, a sink and a value that SQLite holds cannot be kept: the compiler says so",
        arguments: [
            Keeping(
                testDescription: "a container in a property",
                source: """
                    final class Player: Record {
                        var kept: PersistenceContainer?
                        override func encode(to container: inout PersistenceContainer) throws { kept = container }
                    }
                    """,
                message: "implicit conversion to 'PersistenceContainer?' is consuming"),
            Keeping(
                testDescription: "a container that is given away",
                source: """
                    final class Player: Record {
                        var kept: PersistenceContainer?
                        override func encode(to container: inout PersistenceContainer) throws {
                            kept = consume container
                        }
                    }
                    """,
                message: "missing reinitialization of inout parameter 'container' after consume"),
            Keeping(
                testDescription: "a container in a closure",
                source: """
                    final class Player: Record {
                        var kept: (() -> Void)?
                        override func encode(to container: inout PersistenceContainer) throws {
                            kept = { container["id"] = 1 }
                        }
                    }
                    """,
                message: "escaping closure captures 'inout' parameter 'container'"),
            Keeping(
                testDescription: "a value",
                source: """
                    struct Kept: ~Copyable { var value: SQLiteValue }
                    struct Score: DatabaseValueConvertible {
                        var databaseValue: DatabaseValue { .null }
                        static func fromDatabaseValue(_ value: DatabaseValue) -> Score? { nil }
                        static func fromSQLiteValue(_ value: borrowing SQLiteValue) -> Score? {
                            _ = Kept(value: value)
                            return nil
                        }
                    }
                    """,
                message: "'value' is borrowed and cannot be consumed"),
            Keeping(
                testDescription: "a sink",
                source: """
                    struct Score: DatabaseValueConvertible {
                        var databaseValue: DatabaseValue { .null }
                        static func fromDatabaseValue(_ value: DatabaseValue) -> Score? { nil }
                        func store(in sink: borrowing DatabaseValueSink) {
                            let kept = sink
                            kept.storeNull()
                        }
                    }
                    """,
                message: "'sink' is borrowed and cannot be consumed"),
        ])
    func cannotBeKept(_ program: Keeping) async throws {
        let result = try await SwiftScript.compile(source: "import Shellac\n\(program.source)\n")
        #expect(!result.succeeded)
        #expect(result.output.contains(program.message), "\(result.output)")
    }

    /// A keeper of an encoder and its containers. A Codable record can keep them, since Swift's
    /// protocols let them be copied.
    final class Keeper: @unchecked Sendable {  // used by one thread after the other
        var encoder: (any Encoder)?
        var container: KeyedEncodingContainer<Careless.Keys>?
        var single: (any SingleValueEncodingContainer)?
    }

    struct Careless: Encodable, EncodableRecord {
        enum Keys: String, CodingKey { case name, wrapped }
        struct Wrapped: Encodable {
            let keeper: Keeper
            func encode(to encoder: any Encoder) throws {
                keeper.single = encoder.singleValueContainer()
                try keeper.single?.encode("wrapped")
            }
        }
        let keeper = Keeper()
        var during: @Sendable (Keeper) -> Void = { _ in }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode("Arthur", forKey: .name)
            try container.encode(Wrapped(keeper: keeper), forKey: .wrapped)
            (keeper.encoder, keeper.container) = (encoder, container)
            during(keeper)
        }
    }

    @Test("a container of an encoder that was kept traps with a sentence")
    func keptContainer() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let record = Careless()
            _ = try record.databaseDictionary
            try record.keeper.container?.encode("Lancelot", forKey: .name)
        }
        try expectSentence(in: result)
    }

    @Test("an encoder that was kept traps with a sentence, also while another record is encoded")
    func keptEncoder() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let record = Careless()
            _ = try record.databaseDictionary
            let other = Careless(during: { _ in
                var container = record.keeper.encoder?.container(keyedBy: Careless.Keys.self)
                try? container?.encode("Lancelot", forKey: .name)
            })
            _ = try other.databaseDictionary
        }
        try expectSentence(in: result)
    }

    @Test("a container of a single value that was kept traps with a sentence")
    func keptSingle() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let record = Careless(during: { try? $0.single?.encode("again") })
            _ = try record.databaseDictionary
        }
        try expectSentence(in: result)
    }

    @Test("a container that is used on another thread traps with a sentence")
    func otherThread() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            crashWithoutBacktrace()
            let record = Careless(during: { keeper in
                let done = DispatchSemaphore(value: 0)
                Thread {
                    try? keeper.container?.encode("Lancelot", forKey: .name)
                    done.signal()
                }.start()
                done.wait()
            })
            _ = try record.databaseDictionary
        }
        try expectSentence(in: result)
    }

    @Test("a record that encodes another one goes on where it was, and the other one may reach its container")
    func nested() throws {
        let record = Careless(during: { outer in
            let inner = Careless(during: { inner in
                try? outer.container?.encode("Galahad", forKey: .name)
                try? inner.container?.encode("Percival", forKey: .name)
            })
            #expect((try? inner.databaseDictionary["name"]) == "Percival".databaseValue)
            try? outer.container?.encode("again", forKey: .wrapped)
        })
        let stored = try record.databaseDictionary
        #expect(stored == ["name": "Galahad".databaseValue, "wrapped": "again".databaseValue])
    }

    private func expectSentence(in result: ExitTest.Result?) throws {
        let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            output.contains(
                "the encoder of a record, or one of its containers, was used after the record was encoded, or on "
                    + "another thread. Encode all values in encode(to:)."))
    }
}
