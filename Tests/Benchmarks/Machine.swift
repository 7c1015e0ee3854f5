import CSQLite
import Foundation

/// The machine that the benchmarks run on.
enum Machine {
    /// Processor, operating system and SQLite, in one line.
    static var description: String {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        return [
            processor, "\(cores) \(cores == 1 ? "core" : "cores")",
            ProcessInfo.processInfo.operatingSystemVersionString,
            "SQLite \(String(cString: sqlite3_libversion()))",
        ].joined(separator: ", ")
    }

    private static var processor: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n")
        let model = lines?.first { $0.hasPrefix("model name") }?.split(separator: ":").last
        return model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
    }

    /// The memory of this process that is in use, as the operating system sees it.
    static func residentBytes() throws -> Int {
        // proc(5): the second number of statm is the resident set, in pages.
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count > 1 else { throw BenchmarkError("/proc/self/statm cannot be read") }
        return numbers[1] * sysconf(Int32(_SC_PAGESIZE))
    }
}
