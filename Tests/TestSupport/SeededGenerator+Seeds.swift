// The seeds of random tests.

import Foundation
import ShellacTesting

public typealias SeededGenerator = ShellacTesting.SeededGenerator

extension SeededGenerator {
    /// The seeds that a test of random histories goes through: those from 1 on, or the ones that the environment asks for. Of the name
    /// `KEY`, the variables are `SHELLAC_KEY_SEED`, the first one, and `SHELLAC_KEY_COUNT`.
    ///
    /// - Parameters:
    ///   - name: The name of the histories.
    ///   - count: How many there are, where the environment does not say.
    public static func seeds(_ name: String, count: UInt64) -> Range<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["SHELLAC_\(name)_SEED"].flatMap(UInt64.init) ?? 1
        let count = environment["SHELLAC_\(name)_COUNT"].flatMap(UInt64.init) ?? count
        return first..<first + count
    }
}
