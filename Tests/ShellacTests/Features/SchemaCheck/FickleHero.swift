import Shellac
import TestSupport

/// A hero that cannot be encoded now and then.
protocol FickleHero: HeroRecord {
    var fails: Bool { get set }
}

extension RecordStyle {
    var fickleHero: any FickleHero.Type { choose(PairFickle.self, ListedFickle.self, CodedFickle.self) }
}

private final class PairFickle: PairHero, FickleHero {
    var fails = false

    override func encode(to container: inout PersistenceContainer) throws {
        if fails { throw TestError(1) }
        try super.encode(to: &container)
    }
}

private final class ListedFickle: ListedHero, FickleHero {
    var fails = false

    override func columns(_ column: borrowing RecordColumns) throws {
        if fails { throw TestError(1) }
        try super.columns(column)
    }
}

private final class CodedFickle: CodedHero, FickleHero {
    var fails = false

    override func columns(_ column: borrowing RecordColumns) throws {
        if fails { throw TestError(1) }
        try super.columns(column)
    }
}
