// A hash table from record classes to machine words, with lock-free lookup.

import Synchronization

/// A word for each record class, found without a lock.
///
/// A table changes only by filling empty places. The word is written first and then the class, so a
/// reader that finds the class finds its word. A full table is replaced by a larger one. Old tables
/// are kept, because another thread may be reading them.
enum ClassTable {
    /// The result for a class that was not added.
    static var unknown: UInt { .max }

    /// The number of places minus one, then the places. Each place has two words: the class, and
    /// its word.
    private typealias Table = UnsafeMutablePointer<Atomic<UInt>>

    private static let current = Atomic<UInt>(0)
    private static let count = Lock(0)

    @inline(__always)
    static func find(_ type: ObjectIdentifier) -> UInt {
        guard let table = Table(bitPattern: current.load(ordering: .acquiring)) else { return unknown }
        return find(UInt(bitPattern: type), in: table)
    }

    @inline(__always)
    private static func find(_ type: UInt, in table: Table) -> UInt {
        let mask = table.pointee.load(ordering: .relaxed)
        var place = hash(type) & mask
        while true {
            let known = (table + Int(bitPattern: 1 &+ 2 &* place)).pointee.load(ordering: .acquiring)
            if known == type {
                return (table + Int(bitPattern: 2 &+ 2 &* place)).pointee.load(ordering: .relaxed)
            }
            if known == 0 { return unknown }
            place = (place &+ 1) & mask
        }
    }

    /// Hashes a type. Metadata lies at multiples of eight or sixteen.
    private static func hash(_ type: UInt) -> UInt { (type >> 4) ^ (type >> 11) }

    /// Adds the word of a class, unless it has one. Returns the word that the class has.
    static func add(_ type: ObjectIdentifier, _ word: UInt) -> UInt {
        count.withLock { count in
            let known = find(type)
            if known != unknown { return known }
            count += 1
            insert(UInt(bitPattern: type), word, into: table(for: count))
            return word
        }
    }

    private static func insert(_ type: UInt, _ word: UInt, into table: Table) {
        let mask = table.pointee.load(ordering: .relaxed)
        var place = hash(type) & mask
        while (table + Int(1 + 2 * place)).pointee.load(ordering: .relaxed) != 0 {
            place = (place + 1) & mask
        }
        (table + Int(2 + 2 * place)).pointee.store(word, ordering: .relaxed)
        (table + Int(1 + 2 * place)).pointee.store(type, ordering: .releasing)
    }

    /// Returns a table that is half empty with the given number of classes.
    private static func table(for count: Int) -> Table {
        let old = Table(bitPattern: current.load(ordering: .relaxed))
        let oldSize = old.map { Int($0.pointee.load(ordering: .relaxed)) + 1 } ?? 0
        if let old, count * 2 <= oldSize { return old }
        let size = max(32, oldSize * 2)
        let new = Table.allocate(capacity: 1 + 2 * size)
        for index in 0...2 * size { (new + index).initialize(to: Atomic(index == 0 ? UInt(size - 1) : 0)) }
        if let old {
            for place in 0..<oldSize {
                let type = (old + (1 + 2 * place)).pointee.load(ordering: .relaxed)
                if type != 0 {
                    insert(type, (old + (2 + 2 * place)).pointee.load(ordering: .relaxed), into: new)
                }
            }
        }
        current.store(UInt(bitPattern: new), ordering: .releasing)
        return new
    }
}
