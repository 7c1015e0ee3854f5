public import Shellac

/// The error that a body throws, or nil. For bodies with expectations of errors in them, which do not nest.
public func thrownError(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

/// The database's error that a body throws, or nil.
public func databaseError(_ body: () throws -> Void) -> DatabaseError? { thrownError(body) as? DatabaseError }
