// Measures the waiting time and the running time of an access, for its report.

import CSQLite
import Dispatch
import Synchronization

/// Measures an access, for who hears of it: see ``Configuration/report``.
///
/// Its life: it is *asked* for, it *begins* with its turn, it *ends*, and is *told* of once the connection is free for others. One
/// that was cancelled before its turn is told of, too.
final class AccessMeasure: @unchecked Sendable {  // used by one thread after the other, as the access itself
    private let reporter: Reporter
    private let site: CallSite
    private let asked = shellac_time()
    private var begun: UInt64?
    private var ended: UInt64 = 0
    private var name: String
    private var occupancy = ConnectionOccupancy(used: 0, maximum: 0, waiting: 0)
    private var errorType: String?
    /// Tells the thread sanitizer, which does not see through continuations, who comes after whom.
    private let hasEnded = Atomic<Bool>(false)

    init(_ reporter: Reporter, _ site: CallSite, _ description: String) {
        (self.reporter, self.site, name) = (reporter, site, description)
    }

    /// The turn has come.
    func begin(_ name: String, _ occupancy: ConnectionOccupancy) {
        (self.name, self.occupancy) = (name, occupancy)
        begun = shellac_time()
    }

    /// The connection is about to be given to others.
    func end() {
        ended = shellac_time()
        hasEnded.store(true, ordering: .releasing)
    }

    /// Notes the error that the access throws.
    func note(_ error: any Error) { errorType = "\(type(of: error))" }

    /// Tells of the access on a thread of its own: where the others would wait for who listens.
    func tellElsewhere() { DispatchQueue(label: "Shellac.report").async { self.tell() } }

    /// Tells of the access.
    func tell() {
        _ = hasEnded.load(ordering: .acquiring)
        let waited = (begun ?? shellac_time()) &- asked
        // One that has not ended has got no connection.
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
    /// Prepares for an access. Returns what measures it, if somebody hears of it.
    ///
    /// - Throws: a sentence where no access begins any more.
    @inline(__always)
    func attention(_ description: String, at site: CallSite) throws -> AccessMeasure? {
        needsAttention ? try attend(description, at: site) : nil
    }

    /// Prepares for an access that is more than that: see `needsAttention`. Returns what measures it, if somebody hears of it.
    ///
    /// - Throws: a sentence where no access begins any more.
    @inline(never)
    func attend(_ description: String, at site: CallSite) throws -> AccessMeasure? {
        reporter?.checkOutside()
        try checkRefusal()
        try checkService(description)
        return reporter.map { AccessMeasure($0, site, description) }
    }
}

extension AccessMeasure? {
    /// Runs a function that asks for an access, has it, and gives it back; and tells of it.
    func telling<T>(_ access: () throws -> T) rethrows -> T {
        guard let self else { return try access() }
        defer { self.tell() }
        do { return try access() } catch {
            self.note(error)
            throw error
        }
    }
}
