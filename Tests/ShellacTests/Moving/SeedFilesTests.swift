import Foundation
import TestSupport
import Testing

@Suite("Samples report")
struct SeedFilesTests {
    @Test("r", arguments: ["000", "001", "002", "003", "004"])
    func r(name: String) async throws {
        let file = try SeedFile(name)
        let outcomes: [Int: FixIts.Outcome]
        do { outcomes = try await file.compiled() } catch let e as FixIts.SupportError {
            try e.output.write(toFile: "/tmp/e24s/report-\(name).txt", atomically: true, encoding: .utf8)
            throw e
        }
        var text = ""
        for s in file.samples where s.form != .other {
            let o = outcomes[s.line]!
            let fate = o.compiles ? (o.rounds == 0 ? "printed" : "fixed") : "refused"
            text += "##### \(s.line) \(s.form) \(fate) rounds \(o.rounds)\n"
            if o.rounds > 0 {
                let (a, b) = (s.source.components(separatedBy: "\n"), o.source.components(separatedBy: "\n"))
                for (x, y) in zip(a, b) where x != y { text += "- \(x)\n+ \(y)\n" }
            }
            text += o.output
        }
        try text.write(toFile: "/tmp/e24s/report-\(name).txt", atomically: true, encoding: .utf8)
    }
}
