import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The writer of a pool, and readers that stay", .behaviour(136))
struct WaitlessWriterTests {
    private let spy = ReportSpy()

    private func pool(_ file: LoggedFile) throws -> DatabasePool { try file.pool { spy.listen(&$0) } }

    /// The attempts of commits to empty the log, which reports nothing else of this mode while not
    /// all is copied.
    private var tries: [CheckpointReport] { spy.checkpoints.filter { $0.mode == .restart } }

    /// The readers that see an old state.
    enum Reader: CaseIterable {
        case snapshot, snapshotPool
    }

    @Test(
        "No commit tries to empty the log beside a snapshot, however much the log grows",
        arguments: Reader.allCases)
    func snapshot(reader: Reader) throws {
        let file = try LoggedFile()
        let pool = try pool(file)
        try pool.write { db in try db.addFrames(10) }
        let snapshot: any DatabaseReader =
            switch reader {
            case .snapshot: try pool.makeSnapshot()
            case .snapshotPool: try pool.makeSnapshotPool()
            }
        while try pool.walStatus.frameCount < LoggedFile.sizes.hard * 5 {
            try pool.write { db in try db.addFrames(LoggedFile.sizes.hard / 2) }
        }
        #expect(tries.isEmpty)
        try #expect(snapshot.read { db in try db.itemCount() } == 10)
    }

    @Test(
        "No commit tries to empty the log beside a read that has lasted for longer than the commit would wait"
    )
    func longRead() async throws {
        let file = try LoggedFile()
        let pool = try pool(file)
        try await pool.write { db in try db.addFrames(10) }
        let reading = try await LongAccess.reading(pool)
        let patience = LoggedFile.sizes.patience
        try await waitUntil {
            try pool.walStatus.readers.contains { $0.label.contains("reader") && $0.age > patience }
        }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.hard) }
        #expect(tries.isEmpty)
        try await reading.release()
    }

    @Test("What a snapshot has left behind is copied beside the writer, and not by the next commit")
    func catchingUp() async throws {
        let file = try LoggedFile()
        let (gate, isHit, heldUpCount) = (Gate(), Gate(), Shared(0))
        let pool = try file.pool { configuration in
            configuration.reportHandler = { [spy] report in
                spy.recorder.record(report)
                guard case .checkpoint(let checkpoint) = report.event, checkpoint.mode == .passive,
                    checkpoint.checkpointedFrameCount < checkpoint.walFrameCount
                else { return }
                let number = heldUpCount.withLock { count in
                    count += 1
                    return count
                }
                // The background goes no further when it has met the snapshot for the second time.
                guard number == 2 else { return }
                isHit.open()
                try? gate.wait()
            }
        }
        try await pool.write { db in try db.addFrames(10) }
        let snapshot = try pool.makeSnapshot()
        try await waitUntil {
            try pool.write { db in try db.addFrames(LoggedFile.sizes.passive) }
            return isHit.isOpen
        }
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.hard * 3) }
        try await snapshot.close()
        let frames = try pool.walStatus.frameCount
        try await pool.write { db in try db.addFrames(frames) }
        #expect(tries.isEmpty)
        gate.open()
        try await pool.write { db in try db.addFrames(1) }
        try await pool.waitForLog { $0.checkpointedFrameCount == $0.frameCount }
    }

    @Test("At rest, a large log is copied beside the writer before the writer cuts it")
    func rest() async throws {
        let file = try LoggedFile()
        let pool = try pool(file)
        try await pool.write { db in try db.addFrames(10) }
        let snapshot = try pool.makeSnapshot()
        try await pool.write { db in try db.addFrames(LoggedFile.sizes.hard) }
        // The background has done what it could.
        try await waitUntil {
            spy.checkpoints.contains { $0.mode == .passive && $0.walFrameCount >= LoggedFile.sizes.hard }
        }
        try await snapshot.close()
        // (The report comes when the log is cut already.)
        try await waitUntil {
            let last = spy.checkpoints.last
            return file.logSize == 0 && last?.mode == .truncate && last?.resultCode == nil
        }
        let cut = try #require(
            spy.checkpoints.lastIndex { $0.mode == .truncate && $0.resultCode == nil })
        let copied = try #require(
            spy.checkpoints.firstIndex {
                $0.mode == .passive && $0.walFrameCount >= LoggedFile.sizes.hard
                    && $0.checkpointedFrameCount == $0.walFrameCount
            })
        #expect(copied < cut)
    }

    @Test("At rest, the log is not cut while somebody has the writer")
    func busyWriter() async throws {
        let line = AccessLine()
        #expect(line.enterIfFree())
        #expect(!line.enterIfFree())
        line.leave()
        #expect(line.enterIfFree())
        line.leave()
        line.enter()
        #expect(!line.enterIfFree())
        line.leave()

        let file = try LoggedFile()
        let pool = try pool(file)
        try await pool.write { db in try db.addFrames(10) }
        let writerLine = pool.writer.line
        try pool.inDatabase { db in
            // (The pool may have had its rest already.)
            try db.addFrames(10)
            // The pool has checked twice meanwhile whether it can copy the rest, and blocks no
            // writer.
            for _ in 0..<25 {
                Thread.sleep(forTimeInterval: 0.1)
                #expect(writerLine.waitingCount == 0)
            }
            #expect(file.logSize != 0)
        }
        try await waitUntil { file.logSize == 0 }
    }
}
