import CSQLite
import TestSupport
import Testing

@testable import Shellac

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Result codes")
struct ResultCodeTests {
    @Test("A primary code matches itself and its extended codes, an extended one itself alone")
    func patterns() {
        func name(_ code: ResultCode) -> String {
            switch code {
            case .SQLITE_CONSTRAINT_UNIQUE: "unique"
            case .SQLITE_CONSTRAINT: "constraint"
            case .SQLITE_BUSY_SNAPSHOT, .SQLITE_BUSY_RECOVERY: "busy, extended"
            case .SQLITE_BUSY: "busy"
            default: "other"
            }
        }
        #expect(name(.SQLITE_CONSTRAINT_UNIQUE) == "unique")
        #expect(name(.SQLITE_CONSTRAINT_CHECK) == "constraint")
        #expect(name(.SQLITE_CONSTRAINT) == "constraint")
        #expect(name(.SQLITE_BUSY_SNAPSHOT) == "busy, extended")
        #expect(name(.SQLITE_BUSY) == "busy")
        #expect(name(.SQLITE_BUSY_TIMEOUT) == "busy")
        #expect(name(.SQLITE_ERROR) == "other")
        #expect(ResultCode.SQLITE_CONSTRAINT != .SQLITE_CONSTRAINT_UNIQUE)
        #expect(!(ResultCode.SQLITE_CONSTRAINT_UNIQUE ~= ResultCode.SQLITE_CONSTRAINT))
    }

    @Test("A code knows its primary one, and reads as SQLite says it")
    func description() {
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.rawValue == 2067)
        #expect(ResultCode.SQLITE_CONSTRAINT_UNIQUE.primaryResultCode == .SQLITE_CONSTRAINT)
        #expect(ResultCode.SQLITE_CONSTRAINT.isPrimary)
        #expect(!ResultCode.SQLITE_CONSTRAINT_UNIQUE.isPrimary)
        #expect("\(ResultCode.SQLITE_CONSTRAINT)" == "19 (constraint failed)")
        #expect("\(ResultCode.SQLITE_BUSY)" == "5 (database is locked)")
        #expect("\(ResultCode(rawValue: 99))" == "99 (unknown error)")
        #expect("\(ResultCode(rawValue: -1))" == "-1 (unknown error)")
    }
}
