import Foundation
import TestSupport
import Testing

@Suite("The type-checker")
struct RequestCompilationTests {
    @Test("needs less than half a second for an expression of ten terms")
    func tenTerms() async throws {
        let source = """
            import Shellac

            func expressions(limit: Int, id: Int64?, name: String) -> [SQLExpression] {
                [
                    Column("a") == 1 && Column("b") == name && Column("c") != nil && Column("d") > 1.5
                        && Column("e") <= limit && Column("f") == id || Column("g") < 3 && !(Column("h") == 1)
                        || Column("i") >= -2 && Column("j") == true,
                    Column("a") + Column("b") * 2 - Column("c") / 3 + 4 * Column("d") + 5 - Column("e") + 6 - 7
                        + Column("f") > limit,
                    (Column("a") ?? 0) + (Column("b") ?? limit) > (Column("c") ?? Column("d") ?? 2.5)
                        && (Column("e") ?? name) == "x" || (Column("f") ?? false) && (Column("g") ?? id ?? 3) < 4,
                ]
            }
            """
        // The solver counts what it tries: so many attempts take a fifth of a second, and their
        // number is the same on all machines.
        let command = try await SwiftScript.compile(
            source: source, options: ["-Xfrontend", "-solver-scope-threshold=10000"])
        #expect(command.succeeded, "\(command.output)")
    }
}
