import Foundation
public import Shellac

extension DatabaseFunction {
    /// The SQL function `pause()`, which sleeps for a millisecond and returns 1.
    ///
    /// SQL that runs until a test interrupts it calls this function. That test may have to wait for
    /// other tests, which must not wait for a statement that keeps a processor busy.
    public static var pause: DatabaseFunction {
        DatabaseFunction("pause", argumentCount: 0) { _ in
            Thread.sleep(forTimeInterval: 0.001)
            return 1
        }
    }
}
