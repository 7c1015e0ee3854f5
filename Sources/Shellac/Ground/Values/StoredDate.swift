// A stored date in any readable format, reduced to milliseconds for comparison.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A stored date in any readable format, rounded to the millisecond. Dates are compared in this
/// form.
///
/// A time without a day counts, too. It differs from all dates with a day.
struct StoredDate {
    private let milliseconds: Double
    private let isTimeAlone: Bool

    func isEqual(to other: StoredDate?) -> Bool {
        milliseconds == other?.milliseconds && isTimeAlone == other?.isTimeAlone
    }

    init?(_ text: UnsafeBufferPointer<UInt8>) {
        if let date = Date(databaseText: text) {
            self.init(date)
        } else if let time = DateText(text), time.format.isTimeAlone {
            let seconds = ((time.hour * 60) + time.minute - (time.minutesFromUTC ?? 0)) * 60 + time.second
            let milliseconds = Double(seconds) * 1000 + Double(time.nanosecond) / 1_000_000
            self.init(milliseconds: milliseconds.rounded(), isTimeAlone: true)
        } else {
            return nil
        }
    }

    init?(_ value: ValueView) {
        switch value {
        case .text(let utf8): self.init(utf8)
        case .integer(let seconds): self.init(Date(timeIntervalSince1970: Double(seconds)))
        case .real(let seconds) where seconds.isFinite: self.init(Date(timeIntervalSince1970: seconds))
        case .real, .null, .blob: return nil
        }
    }

    init?(_ value: DatabaseValue) {
        guard let date = value.withView(StoredDate.init(_:)) else { return nil }
        self = date
    }

    private init(_ date: Date) {
        self.init(
            milliseconds: (date.timeIntervalSinceReferenceDate * 1000).rounded(), isTimeAlone: false)
    }

    private init(milliseconds: Double, isTimeAlone: Bool) {
        (self.milliseconds, self.isTimeAlone) = (milliseconds, isTimeAlone)
    }
}
