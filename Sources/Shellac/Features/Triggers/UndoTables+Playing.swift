/// The SQL that makes groups from recorded rows, and plays them back.
extension UndoTables {
    /// The target states of rows: `k0…` is the key, `e` whether the row exists, `c0…` are its
    /// columns.
    struct Images {
        /// A subquery.
        let sql: String
    }

    /// Returns the rows of a group, before or after the change.
    func images(_ group: Int64, _ direction: UndoDirection) -> Images {
        let (letter, isThere) = direction == .undo ? ("o", "e") : ("n", "l")
        let columns = zip(numbered(letter), numbered("c")).map { "\($0) AS \($1)" }
        return Images(
            sql: "(SELECT \(([keys(), "\(isThere) AS e"] + columns).joined(separator: ", ")) "
                + "FROM temp.\(rows) WHERE grp = \(group))")
    }

    /// Returns the earlier states of the rows that a transaction has touched, except those of a
    /// group.
    ///
    /// - Parameter tables: The layout of the group.
    func strays(_ epoch: Int64, notIn group: Int64, of tables: UndoTables?) -> Images {
        let columns = ([keys("b."), "b.e AS e"] + numbered("b.c")).joined(separator: ", ")
        let isInGroup = tables.map {
            " AND NOT EXISTS (SELECT 1 FROM temp.\($0.rows) AS r WHERE r.grp = \(group) AND \(sameKeys("r", "b")))"
        }
        return Images(
            sql: "(SELECT \(columns) FROM temp.\(before) AS b WHERE b.epoch = \(epoch)\(isInGroup ?? ""))")
    }

    // MARK: - Making groups

    /// Puts touched rows that have changed into groups.
    ///
    /// - Parameters:
    ///   - group: The group. Nil for one of each transaction that has touched rows.
    ///   - isLast: Whether there is a single such transaction. Otherwise the state of a row before
    ///     the next one is its state after this one.
    ///   - isReversed: Whether the group has been undone, so that the earlier states are its later
    ///     ones.
    func makeGroups(_ group: Int64?, isLast: Bool, isReversed: Bool) -> String {
        func now(_ index: Int) -> String {
            let column = columns("t.")[index]
            return isLast ? column : "CASE WHEN q.e IS NULL THEN \(column) ELSE q.c\(index) END"
        }
        let isThereNow = isLast ? "(\(isThere("t")))" : "coalesce(q.e, \(isThere("t")))"
        let (then, now) = (numbered("p.c"), layout.columns.indices.map(now))
        let differs = zip(now, then).map { Self.differ("(\($0))", $1) }
        let hasChanged =
            "(\(isThereNow) <> p.e OR p.e AND (\((["0"] + differs).joined(separator: " OR "))))"
        let states = isReversed ? [isThereNow, "p.e"] + now + then : ["p.e", isThereNow] + then + now
        let later =
            isLast
            ? ""
            : "LEFT JOIN temp.\(before) AS q ON \(sameKeys("q", "p")) AND q.epoch = (SELECT min(r.epoch) "
                + "FROM temp.\(before) AS r WHERE \(sameKeys("r", "p")) AND r.epoch > p.epoch) "
        let kept = (["l"] + numbered("n")).map { "\($0) = excluded.\($0)" }
        return
            "INSERT INTO temp.\(rows) SELECT \(group.map(String.init) ?? "p.epoch"), \(keys("p.")), \(states.joined(separator: ", ")) "
            + "FROM temp.\(before) AS p \(later)LEFT JOIN \(table) AS t ON \(matches("t", "p")) "
            + "WHERE \(hasChanged) "
            + "ON CONFLICT DO UPDATE SET \(kept.joined(separator: ", "))"
    }

    /// Drops the rows of a group that are unchanged after it.
    func dropUnchanged(_ group: Int64) -> String {
        let same = zip(numbered("o"), numbered("n")).map { "NOT " + Self.differ($0, $1) }
        let isSame = (["e = l"] + [(["1"] + same).joined(separator: " AND ")]).joined(separator: " AND ")
        return "DELETE FROM temp.\(rows) WHERE grp = \(group) AND \(isSame)"
    }

    // MARK: - Comparing

    /// Returns the keys of rows that do not have their target states.
    func keys(ofRowsOtherThan images: Images, limit: Int = 1) -> String {
        "SELECT \(keys("s.")) FROM \(images.sql) AS s LEFT JOIN \(table) AS t ON \(matches("t", "s")) "
            + "WHERE CASE WHEN s.e THEN NOT (\(isThere("t"))) OR \(differs("t", "s")) "
            + "ELSE \(isThere("t")) END LIMIT \(limit)"
    }

    /// Returns SQL that determines for each column whether it must change in any row. It returns
    /// one row, without values if there is nothing to update.
    func columnsToUpdate(_ images: Images) -> String? {
        guard !layout.columns.isEmpty else { return nil }
        let all = zip(columns("t."), numbered("s.c")).map { "max(\(Self.differ($0, $1)))" }
        return "SELECT \(all.joined(separator: ", ")) FROM \(images.sql) AS s CROSS JOIN \(table) AS t "
            + "WHERE s.e AND \(matches("t", "s"))"
    }

    // MARK: - Playing

    /// Deletes the rows that must not exist.
    func delete(_ images: Images) -> String {
        delete(where: "SELECT \(keys()) FROM \(images.sql) WHERE NOT e")
    }

    /// Deletes the rows that exist with wrong values, for rows that block each other.
    func deleteChanged(_ images: Images) -> String {
        delete(
            where: "SELECT \(keys("s.")) FROM \(images.sql) AS s CROSS JOIN \(table) AS t "
                + "WHERE s.e AND \(matches("t", "s")) AND \(differs("t", "s"))")
    }

    private func delete(where keys: String) -> String {
        let key = layout.key.map(\.collated)
        let list = key.count == 1 ? key[0] : "(\(key.joined(separator: ", ")))"
        return "DELETE FROM \(table) WHERE \(list) IN (\(keys))"
    }

    /// Gives some columns their target values.
    func update(_ images: Images, columns places: [Int]) -> String {
        let names = columns("")
        let values = places.map { "\(names[$0]) = s.c\($0)" }.joined(separator: ", ")
        let differs = places.map { Self.differ(columns("t.")[$0], "s.c\($0)") }.joined(separator: " OR ")
        return "UPDATE \(table) AS t SET \(values) FROM \(images.sql) AS s "
            + "WHERE s.e AND \(matches("t", "s")) AND (\(differs))"
    }

    /// Inserts the missing rows.
    func insert(_ images: Images) -> String {
        let key = layout.hasRowID ? [layout.key[0].sql] : []
        let values = (layout.hasRowID ? ["s.k0"] : []) + numbered("s.c")
        return "INSERT INTO \(table) (\((key + columns("")).joined(separator: ", "))) "
            + "SELECT \(values.joined(separator: ", ")) FROM \(images.sql) AS s "
            + "WHERE s.e AND NOT EXISTS (SELECT 1 FROM \(table) AS t WHERE \(matches("t", "s")))"
    }
}

/// The direction in which groups are played.
enum UndoDirection {
    case undo, redo

    var word: String { self == .undo ? "undo" : "redo" }
}
