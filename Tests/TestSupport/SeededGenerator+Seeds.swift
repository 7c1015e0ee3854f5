// The seeds of random tests.

import ShellacTesting

public typealias SeededGenerator = ShellacTesting.SeededGenerator

extension SeededGenerator {
    /// The seeds that a test of random histories goes through: those from 1 on, or the ones that
    /// the environment asks for. Of the name `KEY`, the variables are `SHELLAC_KEY_SEED`, the first
    /// one, and `SHELLAC_KEY_COUNT`.
    ///
    /// - Parameters:
    ///   - name: The name of the histories.
    ///   - count: The number of seeds, if the environment does not say.
    public static func seeds(_ name: String, count: UInt64) -> Range<UInt64> {
        let first = environmentNumber("SHELLAC_\(name)_SEED", as: UInt64.self) ?? 1
        let count = environmentNumber("SHELLAC_\(name)_COUNT", as: UInt64.self) ?? count
        return first..<first + count
    }
}
