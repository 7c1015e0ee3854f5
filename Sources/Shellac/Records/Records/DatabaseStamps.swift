/// The columns of a table that hold the dates of its rows' creation, updates and changes.
///
/// ```swift
/// class Player: Record {
///     override class var databaseStamps: DatabaseStamps {
///         DatabaseStamps(created: "createdAt", updated: "updatedAt")
///             .stamping("titleChangedAt", onUpdateOf: "title")
///     }
/// }
///
/// try dbQueue.register(Player.self)
/// ```
///
/// A record's own save writes its stamps in the same statement, whether the record has properties
/// for them or not: see ``MutablePersistableRecord/databaseStamps``. Once the type is registered,
/// all other writes to the table are stamped too: bulk updates, raw SQL, cascades. The date is
/// ``Database/transactionDate``, in the format of a `Date`: the columns hold texts.
///
/// An explicit value wins. ``Database/withoutStamps(_:)`` suspends stamps.
public struct DatabaseStamps: Hashable, Sendable {
    /// The prefix of the names of the triggers that write stamps.
    static let triggerPrefix = OwnName.prefix + "stamps "
    /// The prefix of the triggers that call Swift for each row that they fill in.
    static let callingTriggerPrefix = triggerPrefix + "with callbacks "

    /// The column that an insertion stamps.
    public let created: String?

    /// The column that an insertion and all updates stamp.
    public let updated: String?

    /// A column that changes of other columns stamp.
    struct Group: Hashable {
        var stamp: String
        var columns: [String]
    }
    private(set) var groups: [Group] = []

    /// Declares stamps for insertions, for insertions and updates, or for both. Without arguments,
    /// nothing is stamped.
    ///
    /// - Parameters:
    ///   - created: The column that an insertion stamps. Nil for none.
    ///   - updated: The column that an insertion and all updates stamp. Nil for none.
    public init(created: String? = nil, updated: String? = nil) {
        self.created = created
        self.updated = updated
    }

    /// Adds a stamp for the updates that change one of some columns. An insertion does not write
    /// it.
    ///
    /// ```swift
    /// DatabaseStamps(updated: "updatedAt").stamping("nameChangedAt", onUpdateOf: "firstName", "lastName")
    /// ```
    ///
    /// Only a trigger writes it, even when a record is saved, and only on a connection that has
    /// registered the type.
    ///
    /// - Parameters:
    ///   - stamp: The column that is stamped.
    ///   - column: A column whose change is stamped. Writing the value that it already has is not a
    ///     change.
    ///   - others: More such columns.
    public func stamping(_ stamp: String, onUpdateOf column: String, _ others: String...) -> DatabaseStamps {
        adding(Group(stamp: stamp, columns: [column] + others))
    }

    func adding(_ group: Group) -> DatabaseStamps {
        var stamps = self
        stamps.groups.append(group)
        return stamps
    }

    /// The columns that are stamped.
    var columns: [String] { [created, updated].compactMap(\.self) + groups.map(\.stamp) }

    /// Whether nothing is stamped.
    var isEmpty: Bool { created == nil && updated == nil && groups.isEmpty }
}

extension SchemaListing.Object {
    /// Whether the object is a trigger of this library that writes only stamps or maintained
    /// columns, or that calls Swift.
    var isOwnTrigger: Bool { maintainsColumns || name.hasPrefix(DatabaseStamps.triggerPrefix) }

    /// Whether a trigger neither inserts rows nor calls Swift.
    var leavesOtherRowsAlone: Bool {
        isOwnTrigger && !name.hasPrefix(DatabaseStamps.callingTriggerPrefix)
    }
}
