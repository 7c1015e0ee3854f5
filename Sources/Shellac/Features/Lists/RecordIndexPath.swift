// The position of a record in a sectioned list, convertible from and to IndexPath.

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The place of a record in a list: a section, and a row of it. Both are counted from 0.
///
/// It corresponds to `IndexPath` of Apple's table views, whose properties Linux lacks. Each
/// converts to the other:
///
/// ```swift
/// let place = RecordIndexPath(row: 2, section: 0)
/// let indexPath = IndexPath(place)               // what a table view is told
/// print(RecordIndexPath(indexPath) == place)     // true
/// ```
public struct RecordIndexPath: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of the section, in the list.
    public var section: Int
    /// The number of the record, in its section.
    public var row: Int
    /// The same as `row`, in the terms of collection views.
    public var item: Int {
        get { row }
        set { row = newValue }
    }

    /// Creates a place in the terms of table views.
    ///
    /// - Parameters:
    ///   - row: The number of the record in its section, from 0.
    ///   - section: The number of the section, from 0.
    public init(row: Int, section: Int) { (self.section, self.row) = (section, row) }

    /// Creates a place in the terms of collection views.
    ///
    /// - Parameters:
    ///   - item: The number of the record in its section, from 0.
    ///   - section: The number of the section, from 0.
    public init(item: Int, section: Int) { self.init(row: item, section: section) }

    /// Converts an index path of two numbers.
    ///
    /// - Parameter indexPath: The section, and the record's number in it. A path of fewer or more
    ///   numbers traps.
    public init(_ indexPath: IndexPath) {
        guard indexPath.count == 2 else {
            Misuse.trap(
                "an index path of \(indexPath.count) numbers is not a place in a list: a place has a "
                    + "section and a row."
            )
        }
        self.init(row: indexPath[1], section: indexPath[0])
    }

    public static func < (a: Self, b: Self) -> Bool { (a.section, a.row) < (b.section, b.row) }

    public var description: String { "[\(section), \(row)]" }
}

extension IndexPath {
    /// Converts the place of a record to an index path for table views and collection views.
    ///
    /// - Parameter place: The place. It becomes a path of two numbers, with the section in front.
    public init(_ place: RecordIndexPath) { self.init(indexes: [place.section, place.row]) }
}
