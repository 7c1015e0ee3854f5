/// A day of the proleptic Gregorian calendar, which SQLite's date functions use.
///
/// In this calendar, today's rules for leap years hold for all years. (SQLite documentation, "Date
/// And Time Functions", caveats.)
struct CivilDate: Equatable, Sendable {
    /// 0…9999. The year 0 comes before the year 1, and is a leap year.
    var year = 0
    /// 1…12.
    var month = 1
    /// 1…31, or less: see ``length(ofMonth:year:)``.
    var day = 1
}

extension CivilDate {
    /// Returns the number of days of a month.
    static func length(ofMonth month: Int, year: Int) -> Int {
        // The long months are the odd ones, and the even ones from August on.
        month == 2 ? (isLeap(year) ? 29 : 28) : 30 &+ ((month &+ (month >> 3)) & 1)
    }

    /// Whether the day exists in the calendar, in the years 0000 to 9999.
    @inline(__always)
    var isInCalendar: Bool {
        year >= 0 && year <= 9999 && month >= 1 && month <= 12 && day >= 1
            && (day <= 28 || day <= Self.length(ofMonth: month, year: year))
    }

    private static func isLeap(_ year: Int) -> Bool {
        // A multiple of both 4 and 25 is a multiple of 100. If it is also a multiple of 16, it is a
        // multiple of 400.
        year & (year % 25 == 0 ? 15 : 3) == 0
    }
}

// Days are counted from the first of March of a sufficiently early year. So no division gets a
// negative number, and the leap day is the last day of its year. The added 400 years have 146,097
// days. They keep the year 0 positive, and change nothing else.

extension CivilDate {
    /// The number of days from the reference date, 2001-01-01, to this day.
    @inline(__always)
    var daysSinceReferenceDate: Int {
        let isEarly = month < 3
        let years = year &+ 400 &- (isEarly ? 1 : 0)
        let months = month &+ (isEarly ? 12 : 0)
        let centuries = years / 100
        let leapDays = years >> 2 &- centuries &+ centuries >> 2
        return years &* 365 &+ leapDays &+ (153 &* months &- 457) / 5 &+ day &- Self.reference
    }

    /// Creates the day that comes the given number of days after the reference date. It must be in
    /// the years 0…9999.
    @inline(__always)
    init(daysSinceReferenceDate days: Int) {
        let days = UInt32(truncatingIfNeeded: days &+ Self.reference &- 1)
        let inCenturies = 4 &* days &+ 3
        let (centuries, inCentury) = (inCenturies / 146_097, inCenturies % 146_097 / 4)
        let inYears = 4 &* inCentury &+ 3
        let (years, inYear) = (inYears / 1461, inYears % 1461 / 4)
        let months = (5 &* inYear &+ 2) / 153
        let isEarly = months > 9
        day = Int(inYear &- (153 &* months &+ 2) / 5 &+ 1)
        month = Int(months) &+ (isEarly ? -9 : 3)
        year = Int(100 &* centuries &+ years) &- 400 &+ (isEarly ? 1 : 0)
    }

    /// The result of the formula above for 2001-01-01, before this number is subtracted. For the
    /// first day, the formula gives 1.
    private static var reference: Int { 730_792 &+ 146_097 }
}
