// The thread-local list of connections that the running thread has access to.

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension Database {
    /// Gives the access to the running thread, which must be the only one that could have it.
    @inline(__always)
    func takeAccess() {
        assert(!access.isHeld, "the thread has the access already, and would stand in its list twice")
        access.take()
        outerAccess = InnermostAccess.database
        InnermostAccess.database = Unretained(self)
    }

    /// Takes the access from the running thread.
    @inline(__always)
    func releaseAccess() {
        InnermostAccess.database = outerAccess
        outerAccess = nil
        access.release()
    }

    /// The connections that the running thread has the access to, the innermost first: nobody frees these meanwhile.
    static var accessed: [Database] {
        var (found, next) = ([Database](), InnermostAccess.database)
        while let reference = next {
            let database = reference.object
            // One that has been closed holds nothing any more.
            if !database.isClosed { found.append(database) }
            next = database.outerAccess
        }
        return found
    }
}

/// The connection that a thread has got the access to last: the first one of a list, one for each thread.
///
/// An access begins and ends on one thread, and those inside of it have ended before. So the list needs no lock, and nobody follows a
/// connection that another thread may free.
private enum InnermostAccess {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        if code != 0 {
            fatalError("Shellac needs a thread-specific key, and the process has none left (error \(code)).")
        }
        return key
    }()

    @inline(__always)
    static var database: Unretained<Database>? {
        get { pthread_getspecific(key).map { Unretained(context: $0) } }
        set { pthread_setspecific(key, newValue?.context) }
    }
}
