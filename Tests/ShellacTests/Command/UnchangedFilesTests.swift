import Foundation
import TestSupport
import Testing

@testable import Shellac

/// The command leaves the files of the database as they are, byte by byte, and adds no others.
@Suite("shellac changes nothing that it looks at")
struct UnchangedFilesTests {
    /// The state in which a program has left the database, or is about to leave it.
    enum State: String, CaseIterable, Sendable {
        case rollback, closedLog, runningProgram, runningProgramWithoutLog, killedProgram, logWithoutIndex,
            hotJournal
    }

    private static let commands = [
        "inspect game.sqlite", "show game.sqlite player", "show game.sqlite player --as csv",
        "class game.sqlite player",
        "diagram game.sqlite --svg", "diff game.sqlite game.sqlite",
        "explain game.sqlite 'SELECT * FROM player'",
        "doctor game.sqlite", "recover game.sqlite", "watch game.sqlite player --changes 0",
    ]

    /// A folder with a database in a state, which lasts as long as the object that is returned with
    /// it.
    private func folder(_ state: State) async throws -> (TemporaryFolder, AnyObject?) {
        switch state {
        case .rollback: return (try gameFolder(), nil)
        case .closedLog: return (try gameFolder(journalMode: .wal), nil)
        case .runningProgram, .runningProgramWithoutLog:
            let folder = try gameFolder(journalMode: .wal)
            let queue = try DatabaseQueue(path: folder.path("game.sqlite"))
            try await queue.write { db in
                try db.execute(sql: "INSERT INTO player (name) VALUES ('of the log')")
            }
            if state == .runningProgramWithoutLog {
                try await queue.writeWithoutTransaction { db in
                    try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                }
            }
            return (folder, queue)
        case .killedProgram, .logWithoutIndex:
            // The files have the same contents while a program runs as after it was killed.
            let (running, program) = try await folder(.runningProgram)
            let folder = try TemporaryFolder()
            for name in try running.fileNames() where state == .killedProgram || !name.hasSuffix("-shm") {
                try FileManager.default.copyItem(atPath: running.path(name), toPath: folder.path(name))
            }
            withExtendedLifetime(program) {}
            return (folder, nil)
        case .hotJournal:
            let running = try gameFolder()
            let folder = try TemporaryFolder()
            try await DatabaseQueue(path: running.path("game.sqlite")).write { [folder] db in
                // A small cache has pages written before the commit, once their journal is safe.
                try db.execute(sql: "PRAGMA cache_size = 2; UPDATE player SET name = 'half done'")
                try db.execute(
                    sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
                        + "INSERT INTO player (name) SELECT 'half done' FROM n")
                for name in ["game.sqlite", "game.sqlite-journal"] {
                    try FileManager.default.copyItem(atPath: running.path(name), toPath: folder.path(name))
                }
            }
            return (folder, nil)
        }
    }

    private func contents(_ folder: TemporaryFolder) throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: folder.fileNames().map { name in
                (name, try Data(contentsOf: URL(filePath: folder.path(name))))
            })
    }

    @Test(
        "the file, its log and its index are the same before and after each verb", arguments: State.allCases)
    func unchanged(_ state: State) async throws {
        let (folder, program) = try await folder(state)
        let before = try contents(folder)
        switch state {
        case .rollback, .closedLog: #expect(before.keys.sorted() == ["game.sqlite"])
        case .runningProgram, .killedProgram, .runningProgramWithoutLog:
            #expect(before.keys.sorted() == ["game.sqlite", "game.sqlite-shm", "game.sqlite-wal"])
            #expect(before["game.sqlite-wal"]?.isEmpty == (state == .runningProgramWithoutLog))
        case .logWithoutIndex: #expect(before.keys.sorted() == ["game.sqlite", "game.sqlite-wal"])
        case .hotJournal: #expect(before.keys.sorted() == ["game.sqlite", "game.sqlite-journal"])
        }
        for command in Self.commands {
            let done = try await ShellacCommand.shell("shellac \(command)", in: folder)
            #expect([0, 1].contains(done.status), "\(command): \(done.output)")
            let after = try contents(folder)
            #expect(
                after == before, "\(command) has changed \(after.keys.filter { after[$0] != before[$0] })")
        }
        // The user's shell writes files into another folder.
        let elsewhere = try TemporaryFolder()
        let user = try await BrowserUser(folder.path("game.sqlite"), in: elsewhere)
        user.press(TerminalKey.down, TerminalKey.enter, TerminalKey.end, "s", "r")
        try await user.wait(for: "record of player")
        try #expect(contents(folder) == before)
        user.press("q")
        #expect(try await user.end() == 0)
        try #expect(contents(folder) == before)
        withExtendedLifetime(program) {}
    }

    @Test(
        "what is seen is what the last commit has left, in the log or without it", arguments: State.allCases)
    func seen(_ state: State) async throws {
        let (folder, program) = try await folder(state)
        let shown = try await ShellacCommand.run("show", "game.sqlite", "player", "--as", "csv", in: folder)
        let hasLog = [.runningProgram, .runningProgramWithoutLog, .killedProgram, .logWithoutIndex].contains(
            state)
        #expect(shown.status == 0 && shown.output.contains("of the log") == hasLog, "\(shown.output)")
        #expect(shown.output.contains("Arthur") && !shown.output.contains("half done"))
        withExtendedLifetime(program) {}
    }

    @Test("doctor tells of a journal that a crash has left, and of a log without its index")
    func remains() async throws {
        let (hot, _) = try await folder(.hotJournal)
        let crashed = try await ShellacCommand.run("doctor", "game.sqlite", in: hot)
        #expect(
            crashed.status == 1
                && crashed.output.contains("FAULT  A program was stopped in the middle of a transaction"))
        let (lost, _) = try await folder(.logWithoutIndex)
        let copied = try await ShellacCommand.run("doctor", "game.sqlite", in: lost)
        #expect(copied.output.contains("has lost its index"), "\(copied.output)")
    }

    @Test("copies are gone afterwards, also when the program is interrupted")
    func copies() async throws {
        let (folder, _) = try await folder(.logWithoutIndex)
        let place = try TemporaryFolder()
        let done = try await ShellacCommand.shell(
            "TMPDIR=\(place.path) shellac show game.sqlite player", in: folder)
        #expect(done.status == 0)
        try #expect(place.fileNames() == [])
        let interrupted = try await ShellacCommand.shell(
            """
            TMPDIR=\(place.path) $SHELLAC watch game.sqlite player --where "(SELECT count(*) FROM player a, player b, player c, \
            player d, player e, player f, player g, player h, player i, player j, player k, player l, player m, player n, player o, player p, player q) > 0" > /dev/null & \
            while [ -z "$(ls \(place.path))" ]; do sleep 0.01; done; sleep 0.05; kill -TERM $!; wait $!; echo $?
            """, in: folder)
        #expect(interrupted.output.hasSuffix("143\n"), "\(interrupted.output)")
        try #expect(place.fileNames() == [])
        let nowhere = try await ShellacCommand.shell(
            "TMPDIR=/nowhere shellac show game.sqlite player", in: folder)
        #expect(
            nowhere.status == 3 && nowhere.output.contains("no folder can be made in /nowhere"),
            "\(nowhere.output)")
    }

    @Test(
        "beside a process that writes all the time, each look is of one commit",
        arguments: [WritingProcess.Way.pool, .queue])
    func besideWriter(_ way: WritingProcess.Way) async throws {
        let database = try TemporaryDatabase(journalMode: way == .pool ? .wal : .delete)
        try await database.queue().write { db in
            try db.execute(
                sql:
                    "CREATE TABLE entry (process INTEGER, number INTEGER, content BLOB, PRIMARY KEY (process, number))"
            )
        }
        let writer = try WritingProcess(path: database.path, way, number: 1)
        try await waitUntil {
            try #require(writer.isRunning)
            return writer.acknowledgedCount >= 5
        }
        for _ in 0..<10 {
            let known = writer.acknowledgedCount
            let looked = try await ShellacCommand.run("inspect", database.path)
            #expect(looked.status == 0 && looked.output.contains("rows"), "\(looked.output)")
            let diagnosed = try await ShellacCommand.run("doctor", database.path)
            #expect(diagnosed.output.contains("good   The file is whole"), "\(diagnosed.output)")
            #expect(writer.acknowledgedCount >= known)
        }
        let finished = try writer.finish()
        #expect(finished)
    }

    /// Commands of a shell that begin and end a change of a log's index. Between them, the two
    /// copies of its header differ. A task of a test is too slow for this: among all tests, its
    /// turn may come minutes later.
    private static let changingIndex = """
        begin() { head -c 96 "$1-shm" > "$1-header"; printf '\\253' | dd of="$1-shm" bs=1 seek=8 conv=notrunc status=none; }
        end() { dd if="$1-header" of="$1-shm" conv=notrunc status=none; }
        """

    /// A folder with the databases `first` and `second`, which both have a log, and their queues.
    private func folderOfLogs() async throws -> (TemporaryFolder, [DatabaseQueue]) {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.journalMode = .wal
        var queues: [DatabaseQueue] = []
        for (file, name) in [("first", "Arthur"), ("second", "Barbara")] {
            let queue = try DatabaseQueue(path: folder.path(file), configuration: configuration)
            try await queue.write { db in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT)")
                try db.insert(name)
            }
            queues.append(queue)
        }
        return (folder, queues)
    }

    @Test("while another process changes the index of the log, a look waits")
    func changingIndex() async throws {
        let (folder, queues) = try await folderOfLogs()
        let result = try await ShellacCommand.shell(
            """
            \(Self.changingIndex)
            begin first; "$SHELLAC" show first player --as csv & sleep 0.5; end first; wait $!
            """, in: folder)
        #expect(result.did(0, "id,name\n1,Arthur\n"), "\(result.output)")
        try await queues[0].write { db in try db.insert("Barbara") }
        try #expect(queues[0].names() == ["Arthur", "Barbara"])
    }

    @Test("the index of a log may also change between opening a file and reading it")
    func indexChangingLater() async throws {
        // `diff` opens two files before it reads the first. It waits for the second one to open.
        let (folder, queues) = try await folderOfLogs()
        let result = try await ShellacCommand.shell(
            """
            \(Self.changingIndex)
            begin second; "$SHELLAC" diff first second &
            for ((i = 0; i < 200; i++)); do ls -l /proc/$!/fd | grep -q /first$ && break; sleep 0.01; done
            sleep 0.1; begin first; end second; sleep 0.3; end first; wait $!
            """, in: folder)
        #expect(result.status == 1 && result.output.contains("Barbara"), "\(result.output)")
        withExtendedLifetime(queues) {}
    }

    @Test(
        "names of files with quotes, blanks and the signs of URIs are names",
        arguments: ["a b?c#d%e.sqlite", "ü'\"x&=.db", "-x"])
    func names(_ name: String) async throws {
        let folder = try gameFolder(journalMode: .wal)
        try FileManager.default.moveItem(atPath: folder.path("game.sqlite"), toPath: folder.path(name))
        let shown = try await ShellacCommand.run("show", "--", name, "team", in: folder)
        #expect(shown.status == 0 && shown.output.contains("Reds"), "\(shown.output)")
        try #expect(folder.fileNames() == [name])
        let same = try await ShellacCommand.run("diff", "--", name, name, in: folder)
        #expect(same.did(0, "no difference\n"), "\(same.output)")
    }

    @Test("behind a symbolic link, the log is found", arguments: [State.runningProgram, .logWithoutIndex])
    func links(_ state: State) async throws {
        let (folder, program) = try await folder(state)
        let other = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(
            atPath: other.path("link"), withDestinationPath: folder.path("game.sqlite"))
        let before = try contents(folder)
        let shown = try await ShellacCommand.run("show", "link", "player", in: other)
        #expect(shown.status == 0 && shown.output.contains("of the log"), "\(shown.output)")
        try #expect(contents(folder) == before)
        withExtendedLifetime(program) {}
        let pipe = try await ShellacCommand.shell("mkfifo pipe; shellac show pipe t", in: other)
        #expect(pipe.did(3, "shellac: pipe is not a regular file\n"))
    }

    @Test("a file and a folder that may be read alone are looked at")
    func readOnly() async throws {
        let folder = try gameFolder(journalMode: .wal)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o444], ofItemAtPath: folder.path("game.sqlite"))
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.path)
        defer {
            try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        }
        let shown = try await ShellacCommand.run("inspect", folder.path("game.sqlite"))
        #expect(shown.status == 0, "\(shown.output)")
    }
}
