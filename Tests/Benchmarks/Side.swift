/// One way to do the work of a workload, that can be measured again and again.
struct Side {
    /// Runs once, and returns the time.
    let sample: () throws -> Sample

    /// Runs once, and returns the memory that the kept result takes.
    let footprint: () throws -> Footprint

    struct Sample {
        let nanoseconds: Double
        let checksum: UInt64
    }

    struct Footprint {
        let bytes: Int
        let checksum: UInt64
    }

    /// A side that returns something to keep, such as an array of records.
    ///
    /// The work is timed, and so is the release of its result.
    ///
    /// - Parameters:
    ///   - setUp: The preparation of each run. It is not timed.
    ///   - work: The work that is timed.
    ///   - checksum: A number that identifies the result of the work. It is not timed.
    init<Kept>(
        setUp: @escaping () throws -> Void = {}, keeping work: @escaping () throws -> Kept,
        checksum: @escaping (Kept) throws -> UInt64
    ) {
        sample = {
            try setUp()
            let clock = ContinuousClock()
            let start = clock.now
            let kept = try work()
            let worked = clock.now - start
            let sum = try checksum(kept)
            let restart = clock.now
            release(kept)
            let released = clock.now - restart
            return Sample(nanoseconds: (worked + released) / .nanoseconds(1), checksum: sum)
        }
        footprint = {
            try setUp()
            let before = try Machine.residentBytes()
            let kept = try work()
            let after = try Machine.residentBytes()
            return Footprint(bytes: after - before, checksum: try checksum(kept))
        }
    }

    /// A side that measures by itself, such as one of many times. It keeps nothing.
    init(measuring sample: @escaping () throws -> Sample) {
        self.sample = sample
        footprint = { Footprint(bytes: 0, checksum: try sample().checksum) }
    }

    /// A side that sums up what it reads while it reads it.
    init(setUp: @escaping () throws -> Void = {}, _ work: @escaping () throws -> UInt64) {
        self.init(setUp: setUp, keeping: work, checksum: { $0 })
    }
}

/// Ends the life of a value here, and neither sooner nor later.
@inline(never)
private func release<Kept>(_ kept: consuming Kept) {}
