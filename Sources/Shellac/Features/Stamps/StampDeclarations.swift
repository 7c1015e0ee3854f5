/// The stamps of tables, with the types that have declared them.
///
/// Several types may have one table. Their stamps are merged: one class may declare when a row was
/// created, and another one when it was updated. If they contradict each other, the later one is
/// refused.
struct StampDeclarations {
    private struct Declaration {
        let table: CaseInsensitiveName
        /// The type that has declared them. Nil for stamps that were given for the table itself.
        let type: (any MutablePersistableRecord.Type)?
        let stamps: DatabaseStamps

        var name: String { type.map { "\($0)" } ?? "the table itself" }
    }
    private var declarations: [Declaration] = []

    /// The tables, in the order in which they were registered.
    var tables: [CaseInsensitiveName] {
        var seen: Set<CaseInsensitiveName> = []
        return declarations.map(\.table).filter { seen.insert($0).inserted }
    }

    /// Declares the stamps of a table, in place of earlier ones. If they have no column, the table
    /// is no longer stamped.
    mutating func set(_ stamps: DatabaseStamps, on table: String) {
        let table = CaseInsensitiveName(table)
        declarations.removeAll { $0.table == table }
        if !stamps.isEmpty { declarations.append(Declaration(table: table, type: nil, stamps: stamps)) }
    }

    /// Declares the stamps of a type, in place of those that it had declared before.
    mutating func add(_ type: any MutablePersistableRecord.Type) throws {
        let declared = Declaration(
            table: CaseInsensitiveName(type.databaseTableName), type: type, stamps: type.databaseStamps)
        declarations.removeAll { $0.table == declared.table && $0.type == type }
        for other in declarations where other.table == declared.table {
            let (own, others) = (declared.stamps, other.stamps)
            if let reason = own.contradiction(to: others, between: declared.name, and: other.name) {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message:
                        "the stamps of \(type) for the table \(type.databaseTableName) contradict those of "
                        + "\(other.name): \(reason). Declare the same stamps in both places")
            }
        }
        declarations.append(declared)
    }

    /// Returns all stamps of a table.
    func stamps(of table: CaseInsensitiveName) -> DatabaseStamps {
        declarations.lazy.filter { $0.table == table }.map(\.stamps)
            .reduce(DatabaseStamps()) { $0.merging($1) }
    }
}

extension DatabaseStamps {
    /// Returns the reason why a table cannot have these stamps together with others, or nil. It
    /// names the declarations of both.
    fileprivate func contradiction(
        to others: DatabaseStamps, between own: String, and other: String
    ) -> String? {
        func name(_ name: String) -> CaseInsensitiveName { CaseInsensitiveName(name) }
        func columns(_ group: Group) -> Set<CaseInsensitiveName> { Set(group.columns.map(name)) }
        for (what, a, b) in [
            ("an insertion", created, others.created), ("an update", updated, others.updated),
        ] {
            if let a, let b, name(a) != name(b) {
                return "\(what) stamps \(a) for \(own), and \(b) for \(other)"
            }
        }
        for (a, b, first, second) in [
            (created, others.updated, own, other), (others.created, updated, other, own),
        ] {
            if let a, let b, name(a) == name(b) {
                return "only insertions stamp \(a) for \(first), but updates stamp it for \(second)"
            }
        }
        for group in groups {
            if let twin = others.groups.first(where: { name($0.stamp) == name(group.stamp) }),
                columns(group) != columns(twin)
            {
                return "updates of different columns stamp \(group.stamp) for \(own) and \(other)"
            }
        }
        for (a, b, first, second) in [(self, others, own, other), (others, self, other, own)] {
            let plain = [b.created, b.updated].compactMap(\.self).map(name)
            if let group = a.groups.first(where: { plain.contains(name($0.stamp)) }) {
                return
                    "only updates of some columns stamp \(group.stamp) for \(first), but other writes stamp it for \(second)"
            }
        }
        return nil
    }

    /// Returns these stamps together with others, which do not contradict them.
    fileprivate func merging(_ others: DatabaseStamps) -> DatabaseStamps {
        var stamps = DatabaseStamps(created: created ?? others.created, updated: updated ?? others.updated)
        for group in groups + others.groups
        where !stamps.groups.contains(where: { CaseInsensitiveName.matches($0.stamp, group.stamp) }) {
            stamps = stamps.adding(group)
        }
        return stamps
    }
}
