// The thread-local list of connections that the running thread has access to.

import CSQLite

extension Database {
    /// Gives the access to the running thread. No other thread may be able to get it.
    @inline(__always)
    func takeAccess() {
        assert(!access.isHeld, "the thread has the access already, and its list would contain it twice")
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

    /// The connections that the running thread has access to, the innermost first. They cannot be
    /// freed meanwhile.
    static var accessed: [Database] {
        var (found, next) = ([Database](), InnermostAccess.database)
        while let reference = next {
            let database = reference.object
            // A closed connection holds nothing.
            if !database.isClosed { found.append(database) }
            next = database.outerAccess
        }
        return found
    }
}

/// The connection that a thread has accessed last. It is the first of a linked list, one list per
/// thread.
///
/// An access begins and ends on one thread, and accesses inside it end before it does. So the list
/// needs no lock, and no thread follows a connection that another thread may free.
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
