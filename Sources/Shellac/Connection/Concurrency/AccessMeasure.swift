// Measures the waiting time and the running time of an access, for its report.

import CSQLite
import Dispatch
import Synchronization

/// The measurement of one access, for its report: see ``Configuration/reportHandler``.
///
/// Its life: the access is *asked* for, it *begins* with its turn, and it *ends*. It is *reported*
/// once the connection is free for others. An access that was cancelled before its turn is
/// reported, too.
final class AccessMeasure: @unchecked Sendable {  // used by one thread at a time, as the access is
    private let reporter: Reporter
    private let site: CallSite
    private let asked = shellac_time()
    private var begun: UInt64?
    private var ended: UInt64 = 0
    private var name: String
    private var occupancy = ConnectionOccupancy(used: 0, maximum: 0, waiting: 0)
    private var errorType: String?
    /// Orders the uses for the thread sanitizer, which does not see through continuations.
    private let hasEnded = Atomic<Bool>(false)

    init(_ reporter: Reporter, _ site: CallSite, _ description: String) {
        (self.reporter, self.site, name) = (reporter, site, description)
    }

    /// Notes that the turn has come.
    func begin(_ name: String, _ occupancy: ConnectionOccupancy) {
        (self.name, self.occupancy) = (name, occupancy)
        begun = shellac_time()
    }

    /// Notes that the connection is about to be free for others.
    func end() {
        ended = shellac_time()
        hasEnded.store(true, ordering: .releasing)
    }

    /// Notes the error that the access throws.
    func note(_ error: any Error) { errorType = "\(type(of: error))" }

    /// Reports the access on a thread of its own. Otherwise other accesses would wait for the
    /// handler.
    func tellElsewhere() { DispatchQueue(label: "Shellac.report").async { self.tell() } }

    /// Reports the access.
    func tell() {
        _ = hasEnded.load(ordering: .acquiring)
        let waited = (begun ?? shellac_time()) &- asked
        // An access that has not ended never got a connection.
        let ran = begun.map { max(ended, $0) &- $0 } ?? 0
        reporter.tell(
            .access(
                AccessReport(
                    site: site, waited: .nanoseconds(Int64(clamping: waited)),
                    ran: .nanoseconds(Int64(clamping: ran)), errorType: errorType, occupancy: occupancy)),
            of: name)
    }
}

extension ConnectionGroup {
    /// Prepares for an access. Returns its measurement if accesses are reported.
    ///
    /// - Throws: An error if no access may begin any more.
    @inline(__always)
    func attention(_ description: String, at site: CallSite) throws -> AccessMeasure? {
        needsAttention ? try attend(description, at: site) : nil
    }

    /// Prepares for an access with more work than usual: see `needsAttention`. Returns its
    /// measurement if accesses are reported.
    ///
    /// - Throws: An error if no access may begin any more.
    @inline(never)
    func attend(_ description: String, at site: CallSite) throws -> AccessMeasure? {
        reporter?.checkOutside()
        try checkRefusal()
        try checkService(description)
        return reporter.map { AccessMeasure($0, site, description) }
    }
}

extension AccessMeasure? {
    /// Runs a function that waits for an access, has it, and ends it. Then reports the access.
    func telling<T>(_ access: () throws -> T) rethrows -> T {
        guard let self else { return try access() }
        defer { self.tell() }
        do { return try access() } catch {
            self.note(error)
            throw error
        }
    }
}
