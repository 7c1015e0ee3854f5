import Foundation
import Fuzzing
import TestSupport
import Testing

/// The inputs of `Tests/Fuzzing/Corpus`, and random changes of them.
private struct Corpus {
    let inputs: [[UInt8]]

    init(_ fuzzed: FuzzedInput) throws {
        let folder = Repository.root.appending(path: "Tests/Fuzzing/Corpus/\(fuzzed.rawValue)")
        inputs = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            try [UInt8](Data(contentsOf: folder.appending(path: name)))
        }
    }

    /// An input with up to four changes: bytes that are set, inserted, removed or copied from
    /// another input.
    func changed(by random: inout SeededGenerator) -> [UInt8] {
        var bytes = inputs.randomElement(using: &random) ?? []
        for _ in 0...Int.random(in: 0..<4, using: &random) {
            let place = Int.random(in: 0...bytes.count, using: &random)
            let end = min(place + Int.random(in: 0...8, using: &random), bytes.count)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.replaceSubrange(place..<end, with: [])
            case 1: bytes.insert(.random(in: .min ... .max, using: &random), at: place)
            case 2 where place < bytes.count: bytes[place] = .random(in: .min ... .max, using: &random)
            default:
                let other = inputs.randomElement(using: &random) ?? []
                let start = Int.random(in: 0...other.count, using: &random)
                bytes.replaceSubrange(place..<end, with: other.dropFirst(start).prefix(end - place + 4))
            }
        }
        return bytes
    }
}

@Suite("Arbitrary bytes")
struct FuzzingTests {
    private static let count = environmentNumber("SHELLAC_FUZZ_COUNT") ?? 300
    private static let seed = UInt64(environmentNumber("SHELLAC_FUZZ_SEED") ?? 1)

    @Test("that once were a fault, or reach far, are errors at worst", arguments: FuzzedInput.allCases)
    func corpus(_ fuzzed: FuzzedInput) throws {
        let inputs = try Corpus(fuzzed).inputs
        #expect(inputs.count >= 4)
        for bytes in inputs { try fuzzed.check(bytes) }
    }

    @Test("that are changed at random are errors at worst", arguments: FuzzedInput.allCases)
    func changes(_ fuzzed: FuzzedInput) throws {
        let corpus = try Corpus(fuzzed)
        var random = SeededGenerator(seed: Self.seed)
        for number in 1...Self.count {
            let bytes = corpus.changed(by: &random)
            do {
                try fuzzed.check(bytes)
            } catch {
                Issue.record("number \(number) of the seed \(Self.seed), \(bytes): \(error)")
                return
            }
        }
    }

    @Test("are no crash of a verb of the command, if they are its file")
    func verbs() async throws {
        let (corpus, folder) = (try Corpus(.files), try TemporaryFolder())
        var random = SeededGenerator(seed: Self.seed)
        for number in 1...20 {
            let bytes =
                number <= corpus.inputs.count ? corpus.inputs[number - 1] : corpus.changed(by: &random)
            try Data(bytes).write(to: folder.url.appending(path: "\(number).sqlite"))
        }
        let script = """
            for file in *.sqlite; do
                for words in "inspect $file" "show $file player" "class $file player" "diagram $file" \\
                    "diff $file 1.sqlite" "explain $file 'SELECT * FROM player'" "doctor $file"; do
                    eval "shellac $words" > output 2>&1
                    code=$?
                    if ((code >= 128)); then echo "shellac $words: $code"; fi
                done
            done
            """
        let run = try await ShellacCommand.shell(script, in: folder)
        #expect(run.output == "", "the seed \(Self.seed)")
    }
}
