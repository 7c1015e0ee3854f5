// A machine that uses a database in a Ceph cluster, for .ci/ceph.
//
//     CephMachine features DATABASE MODE            uses what Shellac can do, and says what went well
//     CephMachine write DATABASE MODE WHO COUNT     inserts numbers from 1, and prints `ack N` for each one that is told as committed
//     CephMachine check DATABASE MODE WHO=N…        looks whether the rows of each writer are there, up to N
//     CephMachine standby DATABASE MODE             opens the database in a task that is cancelled while it waits
//
// DATABASE is /POOL:NAMESPACE/NAME of the cluster, or else a file of the system. MODE is one of
// these:
//
//     log           as Configuration.ceph() says
//     persist       the same, with a rollback journal
//     journal       the same, with a lock for each transaction
//     unconfirmed   as `log`, without confirmations
//
// `write` ends with code 3 when a commit was refused, and with code 4 when SQLite itself has
// failed.
import Foundation
import Shellac

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3, let place = Place(words[1], mode: words[2]) else {
    FileHandle.standardError.write(
        Data(
            "usage: CephMachine features|write|check|standby DATABASE log|persist|journal|unconfirmed …\n"
                .utf8))
    exit(2)
}
do {
    try place.loadExtension()
    switch words[0] {
    case "features": try await Features(place).run()
    case "write" where words.count == 5: exit(try Writer(place, words[3]).run(Int(words[4]) ?? 0))
    case "check": try check(place, words.dropFirst(3))
    case "standby": try await standBy(place)
    default: exit(2)
    }
} catch {
    say("FAILED \(error)")
    exit(1)
}
