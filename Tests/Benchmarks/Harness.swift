/// Measures the sides of a workload in turns, so that whatever slows the machine down slows down both.
///
/// The side that goes first in one round goes second in the next, and the first of all rounds does not count.
/// The times of the result are the medians of each side. Its ratio is the median of the ratios of the rounds:
/// each compares two runs of about the same moment, and a disturbed round is one of many. Where rounds are short, there
/// are more of them.
struct Harness {
    /// How many rounds there are at least.
    let rounds: Int
    /// How long rounds are added.
    let seconds: Int

    func run(_ workload: Workload, fixture: Fixture) throws -> Outcome {
        let sides = try workload.sides(fixture)
        switch sides.reference {
        case .c(let c): return try compare(c, sides, of: workload)
        case .checksum(let checksum): return try measure(sides, of: workload, checksum: checksum)
        }
    }

    private func compare(_ c: Side, _ sides: Sides, of workload: Workload) throws -> Outcome {
        var cTimes: [Double] = []
        var shellacTimes: [Double] = []
        var isEqual = true
        try repeatRounds { round in
            let (cSample, shellacSample): (Side.Sample, Side.Sample)
            if round.isMultiple(of: 2) {
                cSample = try c.sample()
                shellacSample = try sides.shellac.sample()
            } else {
                shellacSample = try sides.shellac.sample()
                cSample = try c.sample()
            }
            isEqual = isEqual && cSample.checksum == shellacSample.checksum
            if round == 0 { return }
            cTimes.append(cSample.nanoseconds / Double(sides.operations))
            shellacTimes.append(shellacSample.nanoseconds / Double(sides.operations))
        }
        return Outcome(
            workload: workload, operations: sides.operations, c: cTimes.median, shellac: shellacTimes.median,
            ratio: zip(shellacTimes, cTimes).map { $0 / $1 }.median, isEqual: isEqual)
    }

    private func measure(_ sides: Sides, of workload: Workload, checksum: UInt64) throws -> Outcome {
        var samples: [Side.Sample] = []
        try repeatRounds { _ in samples.append(try sides.shellac.sample()) }
        return Outcome(
            workload: workload, operations: sides.operations, c: nil,
            shellac: samples.dropFirst().map { $0.nanoseconds / Double(sides.operations) }.median,
            ratio: nil, isEqual: samples.allSatisfy { $0.checksum == checksum })
    }
}

extension Harness {
    /// No workload is so short that it needs more.
    private static var mostRounds: Int { 200 }

    /// Runs a function for each round, of which number 0 does not count.
    private func repeatRounds(_ body: (_ round: Int) throws -> Void) rethrows {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        var round = 0
        while round <= rounds || round <= Self.mostRounds && clock.now < end {
            try body(round)
            round += 1
        }
    }
}

extension [Double] {
    /// The value in the middle. There must be one.
    var median: Double {
        let sorted = sorted()
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
    }
}
