// The queue of jobs of the article *Servers*: a test compares the two.

import Foundation
import Shellac

struct Job: Decodable, FetchableRecord, Sendable {
    var id: Int64
    var payload: String
    var attempts: Int
}

struct Jobs: Sendable {
    struct LeaseLost: Error {}
    let dbPool: DatabasePool
    var lease: TimeInterval = 60
    var pause: TimeInterval = 1
    var maximumAttempts = 8

    /// Takes the job that is due the longest. Others leave it alone until its lease has ended.
    func next() async throws -> Job? {
        try await dbPool.write { db in
            try Job.fetchOne(
                db,
                sql: """
                    UPDATE job SET attempts = attempts + 1, runAt = ?
                    WHERE id = (SELECT id FROM job WHERE runAt <= ? AND attempts < ? ORDER BY runAt LIMIT 1)
                    RETURNING id, payload, attempts
                    """, arguments: [Date(timeIntervalSinceNow: lease), Date(), maximumAttempts])
        }
    }

    /// Removes a job, and makes its changes in the same transaction.
    func finish(_ job: Job, _ changes: @escaping @Sendable (Database) throws -> Void) async throws {
        try await dbPool.write { db in
            try db.execute(
                sql: "DELETE FROM job WHERE id = ? AND attempts = ?", arguments: [job.id, job.attempts])
            if db.changesCount == 0 { throw LeaseLost() }
            try changes(db)
        }
    }

    /// Lets a job come back after a pause, which doubles with each attempt up to an hour.
    func postpone(_ job: Job, _ error: any Error) async throws {
        let backoff = min(3600, pause * pow(2, Double(job.attempts - 1))) * .random(in: 0.75...1.25)
        let (wait, count) = Task.isCancelled ? (0, job.attempts - 1) : (backoff, job.attempts)
        try await Task {  // this one may be cancelled
            try await dbPool.write { db in
                try db.execute(
                    sql: "UPDATE job SET runAt = ?, error = ?, attempts = ? WHERE id = ? AND attempts = ?",
                    arguments: [Date(timeIntervalSinceNow: wait), "\(error)", count, job.id, job.attempts])
            }
        }.value
    }

    /// Works until the task is cancelled.
    func run(_ work: @Sendable (Job) async throws -> @Sendable (Database) throws -> Void) async throws {
        while true {
            guard let job = try await next() else {
                try await Task.sleep(for: .seconds(pause))
                continue
            }
            do { try await finish(job, work(job)) } catch { try await postpone(job, error) }
        }
    }
}
