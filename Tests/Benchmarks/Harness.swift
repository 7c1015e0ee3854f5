/// Measures the sides of a workload in turns, so that a slow phase of the machine slows down both.
///
/// The side that goes first in one round goes second in the next, and the first of all rounds does
/// not count. The times of the result are the medians of each side. Its ratio is the median of the
/// ratios of the rounds. Each round compares two runs of about the same moment, and a disturbed
/// round is one of many. On a machine that others use, too, there are more rounds, until the median
/// is known well enough.
struct Harness {
    /// The minimum number of rounds.
    let rounds: Int
    /// The time for which rounds are added while the result is uncertain.
    let seconds: Int

    func run(_ workload: Workload, fixture: Fixture) throws -> Outcome {
        let sides = try workload.sides(fixture)
        switch sides.reference {
        case .c(let c): return try compare(c, sides, of: workload)
        case .checksum(let checksum): return try measure(sides, of: workload, checksum: checksum)
        }
    }

    private func compare(_ c: Side, _ sides: Sides, of workload: Workload) throws -> Outcome {
        var samples: [(c: Double, shellac: Double)] = []
        var isEqual = true
        let ratios = try repeatRounds { round in
            let (cSample, shellacSample): (Side.Sample, Side.Sample)
            if round.isMultiple(of: 2) {
                cSample = try c.sample()
                shellacSample = try sides.shellac.sample()
            } else {
                shellacSample = try sides.shellac.sample()
                cSample = try c.sample()
            }
            isEqual = isEqual && cSample.checksum == shellacSample.checksum
            samples.append((cSample.nanoseconds, shellacSample.nanoseconds))
            return shellacSample.nanoseconds / cSample.nanoseconds
        }
        let times = samples.dropFirst()
        return Outcome(
            workload: workload, operations: sides.operations,
            c: times.map(\.c).median / Double(sides.operations),
            shellac: times.map(\.shellac).median / Double(sides.operations),
            ratio: ratios.median, uncertainty: ratios.uncertaintyOfMedian, isEqual: isEqual)
    }

    private func measure(_ sides: Sides, of workload: Workload, checksum: UInt64) throws -> Outcome {
        var isEqual = true
        let times = try repeatRounds { _ in
            let sample = try sides.shellac.sample()
            isEqual = isEqual && sample.checksum == checksum
            return sample.nanoseconds / Double(sides.operations)
        }
        return Outcome(
            workload: workload, operations: sides.operations, c: nil, shellac: times.median, ratio: nil,
            uncertainty: times.uncertaintyOfMedian, isEqual: isEqual)
    }

    /// The uncertainty that is good enough.
    private static var leastUncertainty: Double { 0.02 }

    /// Runs a function for each round, and returns the results of all but the first, until their
    /// median is certain.
    private func repeatRounds(_ body: (_ round: Int) throws -> Double) rethrows -> [Double] {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var results: [Double] = []
        for round in 0... {
            let isEnough =
                round > rounds
                && (clock.now >= end || results.uncertaintyOfMedian <= Self.leastUncertainty)
            if isEnough { break }
            let result = try body(round)
            if round > 0 { results.append(result) }
        }
        return results
    }
}

extension [Double] {
    /// The value in the middle. There must be one.
    var median: Double {
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }

    /// The distance that the median may have from that of endless rounds, as a part of it. With a
    /// probability of 95 %, that one is between two of the values, whose ranks depend on the number
    /// of values alone. A few values say nothing.
    var uncertaintyOfMedian: Double {
        guard count > 5 else { return .infinity }
        let sorted = sorted()
        let reach = Int((0.98 * Double(count).squareRoot()).rounded(.up))
        let (low, high) = (
            sorted[Swift.max(count / 2 - reach, 0)], sorted[Swift.min(count / 2 + reach, count - 1)]
        )
        return (high - low) / 2 / median
    }
}
