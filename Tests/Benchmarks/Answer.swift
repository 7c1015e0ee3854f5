import Foundation

/// A request to another process of this program, which prints two numbers: those of the answer.
///
/// In one process, the second of two sides could use what the first has left behind: memory in the
/// heap, and libraries that are loaded.
enum Answer<Number: LosslessStringConvertible> {
    static func of(_ arguments: [String]) throws -> (Number, Number) {
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Number(String($0)) }
        guard process.terminationStatus == 0, numbers.count == 2 else {
            throw BenchmarkError("no answer to \(arguments.joined(separator: " "))")
        }
        return (numbers[0], numbers[1])
    }
}
