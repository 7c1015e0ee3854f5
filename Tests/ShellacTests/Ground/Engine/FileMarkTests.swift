#if os(Linux)
import CSQLite
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Shellac

@Suite("The entry of a file")
struct FileMarkTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("file")
        try Data("before".utf8).write(to: URL(filePath: path))
    }

    /// A mark that an expectation can take, which copies what it takes.
    private final class Mark {
        private var mark: FileMark
        var isUnchanged: Bool { mark.isUnchanged() }

        init?(_ path: String) {
            guard let mark = FileMark(path) else { return nil }
            self.mark = mark
        }

        func note() { mark.note() }

        /// Notes the entry until each later change is one that is seen.
        func settle() {
            for _ in 0..<1000 {
                note()
                if isUnchanged { return }
                usleep(1000)
            }
            Issue.record("the clock stands still")
        }
    }

    @Test("it is changed by moving the file, deleting it, writing to it and giving it another name")
    func changes() throws {
        let mark = try #require(Mark(path))
        #expect(!mark.isUnchanged, "nothing was noted")
        mark.settle()
        #expect(mark.isUnchanged)

        let elsewhere = folder.path("elsewhere")
        #expect(rename(path, elsewhere) == 0)
        #expect(!mark.isUnchanged)
        mark.settle()
        #expect(link(elsewhere, path) == 0)
        #expect(!mark.isUnchanged)
        mark.settle()
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.write(contentsOf: Data("after".utf8))
        #expect(!mark.isUnchanged)
        mark.settle()
        #expect(unlink(path) == 0)
        #expect(!mark.isUnchanged)
        mark.settle()
        #expect(unlink(elsewhere) == 0)
        #expect(!mark.isUnchanged)
    }

    @Test("an entry that was changed a moment ago is not trusted, as another change may have the same time")
    func unsettled() throws {
        let mark = try #require(Mark(path))
        for round in 0..<200 {
            // The second move may have the time of the first one.
            let places = [path, folder.path("elsewhere")]
            let (here, there) = round % 2 == 0 ? (places[0], places[1]) : (places[1], places[0])
            #expect(rename(here, there) == 0)
            mark.note()
            #expect(rename(there, here) == 0)
            #expect(!mark.isUnchanged)
            #expect(rename(here, there) == 0)
        }
    }

    @Test("there is none of a file that is not there")
    func missing() {
        #expect(Mark(folder.path("nowhere")) == nil)
    }

    @Test("forgetting it ends no lock that the process has on the file")
    func locks() throws {
        let owner = open(path, O_RDWR)
        let other = open(path, O_RDWR)
        defer {
            close(owner)
            close(other)
        }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        #expect(fcntl(owner, F_SETLK, &lock) == 0)
        do {
            #expect(Mark(path) != nil)
        }
        // The lock of an open file meets those of its own process.
        lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        let getLockOfFile: Int32 = 36
        #expect(fcntl(other, getLockOfFile, &lock) == 0)
        #expect(lock.l_type == Int16(F_WRLCK), "nobody has a lock")
    }
}
#endif
