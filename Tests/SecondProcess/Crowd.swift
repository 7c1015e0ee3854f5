import Foundation
import Shellac

#if canImport(Darwin)
import Darwin
#endif

/// A process in which very many tasks access one database at once, and which counts its threads
/// meanwhile.
struct Crowd {
    /// The work of each task.
    enum Work: String, CaseIterable {
        case read, write, both
        /// The forms that call a function back, without a task.
        case later
    }

    private let writer: any DatabaseWriter
    private let work: Work
    private let count: Int

    init(path: String, _ way: Writing.Way, _ work: Work, count: Int) throws {
        (self.work, self.count) = (work, count)
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA synchronous = OFF") }
        writer =
            switch way {
            case .pool: try DatabasePool(path: path, configuration: configuration)
            case .queue: try DatabaseQueue(path: path, configuration: configuration)
            }
        try writer.write { db in try db.execute(sql: "CREATE TABLE visit (number INTEGER NOT NULL)") }
    }

    /// Runs the tasks. Prints the number of threads before them, and the highest one while they
    /// ran.
    func run() async throws {
        let isEnd = Flag()
        let counter = Counter(until: isEnd)
        try await warmUp()
        let before = Counter.present
        counter.reset()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await visit(number) } }
            try await group.waitForAll()
        }
        let most = counter.most
        isEnd.set()
        let rows = try await writer.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM visit") ?? 0
        }
        guard rows == (work == .read ? 0 : count) else { throw Lost(rows: rows) }
        print("\(before) \(most)")
    }

    private struct Lost: Error {
        let rows: Int
    }

    /// Makes Swift start the threads of its own pool.
    private func warmUp() async throws {
        let processorCount = ProcessInfo.processInfo.activeProcessorCount
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<processorCount * 4 { group.addTask { usleep(20_000) } }
        }
    }

    private func visit(_ number: Int) async throws {
        switch work {
        case .read: try await read()
        case .write: try await write(number)
        case .both where number % 2 == 0:
            try await read()
            try await write(number)
        case .both:
            try await write(number)
            try await read()
        case .later:
            let isDone: Void = await withCheckedContinuation { continuation in
                writer.asyncWriteWithoutTransaction { db in
                    try? db.execute(sql: "INSERT INTO visit VALUES (?)", arguments: [number])
                    continuation.resume()
                }
            }
            _ = isDone
        }
    }

    private func read() async throws {
        _ = try await writer.read { db in try Int.fetchOne(db, sql: "SELECT MAX(number) FROM visit") }
    }

    private func write(_ number: Int) async throws {
        try await writer.write { db in
            try db.execute(sql: "INSERT INTO visit VALUES (?)", arguments: [number])
        }
    }

    /// Counts the threads of this process again and again, from a thread of its own.
    private final class Counter: @unchecked Sendable {  // `highest` has a lock
        private let lock = NSLock()
        private var highest = 0

        init(until isEnd: Flag) {
            Thread { [self] in
                while !isEnd.isSet {
                    let present = Self.present
                    lock.withLock { highest = max(highest, present) }
                    usleep(500)
                }
            }.start()
        }

        var most: Int { lock.withLock { highest } }

        func reset() { lock.withLock { highest = 0 } }

        static var present: Int {
            #if canImport(Darwin)
            var (threads, count) = (thread_act_array_t?.none, mach_msg_type_number_t(0))
            guard task_threads(mach_task_self_, &threads, &count) == KERN_SUCCESS, let threads else {
                return 0
            }
            for index in 0..<Int(count) { mach_port_deallocate(mach_task_self_, threads[index]) }
            vm_deallocate(
                mach_task_self_, vm_address_t(UInt(bitPattern: threads)),
                vm_size_t(Int(count) * MemoryLayout<thread_act_t>.stride))
            return Int(count)
            #else
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
            #endif
        }
    }
}

extension Crowd {
    @Sendable
    static func begin(_ arguments: [String]) async throws -> Bool {
        guard arguments.count == 5, let way = Writing.Way(rawValue: arguments[2]),
            let work = Work(rawValue: arguments[3]), let count = Int(arguments[4])
        else { return false }
        try await Crowd(path: arguments[1], way, work, count: count).run()
        return true
    }
}
