import Foundation

/// Random numbers that a seed makes come again: SplitMix64.
///
/// A test that uses it says the seed in the comments of its expectations.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

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
