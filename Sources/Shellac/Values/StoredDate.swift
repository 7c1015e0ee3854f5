#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A date where it is stored, in any of the readable formats, rounded to the millisecond: what dates compare by.
///
/// A time without a day is one, too, and differs from all that have a day.
struct StoredDate {
    private let milliseconds: Double
    private let isTimeAlone: Bool

    func isEqual(to other: StoredDate?) -> Bool {
        milliseconds == other?.milliseconds && isTimeAlone == other?.isTimeAlone
    }

    init?(_ utf8: UnsafeRawBufferPointer) {
        let text = utf8.bindMemory(to: UInt8.self)
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

    /// The date of a packed value.
    init?(_ tag: UInt8, _ payload: UnsafeRawPointer) {
        if PackedTag.isText(tag) {
            self.init(PackedTag.bytes(tag, payload))
        } else if PackedTag.isInteger(tag) {
            self.init(Date(timeIntervalSince1970: Double(PackedTag.readInteger(tag, payload))))
        } else if PackedTag.isReal(tag) {
            self.init(Date(timeIntervalSince1970: payload.loadUnaligned(as: Double.self)))
        } else {
            return nil
        }
    }

    init?(_ value: DatabaseValue) {
        if case .string(var text) = value.storage {
            guard let date = text.withUTF8({ StoredDate(UnsafeRawBufferPointer($0)) }) else { return nil }
            self = date
        } else if let date = Date.fromDatabaseValue(value) {
            self.init(date)
        } else {
            return nil
        }
    }

    private init(_ date: Date) {
        self.init(
            milliseconds: (date.timeIntervalSinceReferenceDate * 1000).rounded(), isTimeAlone: false)
    }

    private init(milliseconds: Double, isTimeAlone: Bool) {
        (self.milliseconds, self.isTimeAlone) = (milliseconds, isTimeAlone)
    }
}
