import Shellac

/// Rows: read through a cursor by position and by name, and kept.
enum RowWorkloads {
    static let all = [
        Workload("rows.positional", gate: 1.10, goal: 1.03, sides: positional),
        Workload("rows.named", gate: 1.15, goal: 1.05, sides: named),
        Workload("rows.named.player", gate: 1.15, goal: 1.06, sides: namedPlayer),
        Workload("rows.owned", gate: 2.0, goal: 1.5, sides: owned),
    ]

    private static func positional(_ fixture: Fixture) throws -> Sides {
        let queue = try fixture.queue()
        return Sides(
            operations: fixture.scale.rows, c: try items(fixture),
            shellac: Side {
                try queue.read { db in
                    var sum: UInt64 = 0
                    let cursor = try Row.fetchCursor(db, sql: Item.selection)
                    while let row = try cursor.next() {
                        let a: Int = try row[0]
                        let b: Int = try row[1]
                        let c: Int = try row[2]
                        let d: Int = try row[3]
                        let e: Int = try row[4]
                        let f: Int = try row[5]
                        let g: Int = try row[6]
                        let h: Int = try row[7]
                        let i: Int = try row[8]
                        let j: Int = try row[9]
                        sum &+= weighed(a, b, c, d, e, f, g, h, i, j)
                    }
                    return sum
                }
            })
    }

    private static func named(_ fixture: Fixture) throws -> Sides {
        let queue = try fixture.queue()
        return Sides(
            operations: fixture.scale.rows, c: try items(fixture),
            shellac: Side {
                try queue.read { db in
                    var sum: UInt64 = 0
                    let cursor = try Row.fetchCursor(db, sql: Item.selection)
                    while let row = try cursor.next() {
                        let a: Int = try row["i0"]
                        let b: Int = try row["i1"]
                        let c: Int = try row["i2"]
                        let d: Int = try row["i3"]
                        let e: Int = try row["i4"]
                        let f: Int = try row["i5"]
                        let g: Int = try row["i6"]
                        let h: Int = try row["i7"]
                        let i: Int = try row["i8"]
                        let j: Int = try row["i9"]
                        sum &+= weighed(a, b, c, d, e, f, g, h, i, j)
                    }
                    return sum
                }
            })
    }

    /// Ten columns of all items, by hand.
    private static func items(_ fixture: Fixture) throws -> Side {
        let item = try fixture.connection().prepare(Item.selection)
        return Side {
            var sum: UInt64 = 0
            while try item.step() {
                sum &+= weighed(
                    item.int(0), item.int(1), item.int(2), item.int(3), item.int(4), item.int(5),
                    item.int(6), item.int(7), item.int(8), item.int(9))
            }
            return sum
        }
    }

    /// Returns a checksum of ten numbers, which depends on their order.
    @inline(__always)
    private static func weighed(
        _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int, _ g: Int, _ h: Int, _ i: Int, _ j: Int
    ) -> UInt64 {
        let low = a &+ 2 &* b &+ 3 &* c &+ 4 &* d &+ 5 &* e
        let high = 6 &* f &+ 7 &* g &+ 8 &* h &+ 9 &* i &+ 10 &* j
        return UInt64(truncatingIfNeeded: low &+ high)
    }

    // MARK: - Players

    private static func namedPlayer(_ fixture: Fixture) throws -> Sides {
        let player = try fixture.connection().prepare(Player.selectionWithoutDate)
        let c = Side {
            var sum: UInt64 = 0
            while try player.step() {
                sum &+= weighed(
                    player.int(0), player.text(1), player.text(2), player.int(3), player.double(4),
                    player.optionalText(5))
            }
            return sum
        }
        let queue = try fixture.queue()
        let shellac = Side {
            try queue.read { db in
                var sum: UInt64 = 0
                let cursor = try Row.fetchCursor(db, sql: Player.selectionWithoutDate)
                while let row = try cursor.next() {
                    let id: Int = try row["id"]
                    let name: String = try row["name"]
                    let email: String = try row["email"]
                    let score: Int = try row["score"]
                    let rating: Double = try row["rating"]
                    let bio: String? = try row["bio"]
                    sum &+= weighed(id, name, email, score, rating, bio)
                }
                return sum
            }
        }
        return Sides(operations: fixture.scale.rows, c: c, shellac: shellac)
    }

    /// Returns a checksum of the values of a player that can be read at once.
    @inline(__always)
    private static func weighed(
        _ id: Int, _ name: String, _ email: String, _ score: Int, _ rating: Double, _ bio: String?
    ) -> UInt64 {
        let numbers = id &+ 3 &* score &+ 5 &* Int(rating)
        let texts = 7 &* name.utf8.count &+ 11 &* email.utf8.count &+ 13 &* (bio?.utf8.count ?? 1)
        return UInt64(truncatingIfNeeded: numbers &+ texts)
    }

    /// A player with the values that SQLite holds: the date is its text, as in a row.
    private struct StoredPlayer {
        let id: Int
        let name: String
        let email: String
        let score: Int
        let rating: Double
        let createdAt: String
        let bio: String?

        func add(to checksum: inout Checksum) {
            checksum.add(id)
            checksum.add(name)
            checksum.add(email)
            checksum.add(score)
            checksum.add(rating)
            checksum.add(createdAt)
            checksum.add(bio)
        }
    }

    private static func owned(_ fixture: Fixture) throws -> Sides {
        let player = try fixture.connection().prepare(Player.selection)
        let c = Side(
            keeping: {
                var players: [StoredPlayer] = []
                while try player.step() {
                    players.append(
                        StoredPlayer(
                            id: player.int(0), name: player.text(1), email: player.text(2),
                            score: player.int(3),
                            rating: player.double(4), createdAt: player.text(5), bio: player.optionalText(6)))
                }
                return players
            },
            checksum: { players in
                players.checksum { $0.add(to: &$1) }
            })
        let queue = try fixture.queue()
        let shellac = Side(
            keeping: {
                try queue.read { try Row.fetchAll($0, sql: Player.selection) }
            },
            checksum: { rows in
                try rows.checksum { row, checksum in
                    try StoredPlayer(
                        id: row[0], name: row[1], email: row[2], score: row[3], rating: row[4],
                        createdAt: row[5], bio: row[6]
                    ).add(to: &checksum)
                }
            })
        return Sides(operations: fixture.scale.rows, c: c, shellac: shellac)
    }
}
