import Shellac

/// Records that know each other, loaded and saved.
enum RelationWorkloads {
    static let all = [
        Workload("relations.including", gate: 1.35, goal: 1.15) { fixture in
            try loaded(fixture) { db in try Club.including(Club.members).fetchAll(db) }
        },
        Workload("relations.peers", gate: 1.5, goal: 1.2) { fixture in
            try loaded(fixture) { db in
                let clubs = try Club.fetchAll(db)
                for club in clubs { try club.load(Club.members, db) }
                return clubs
            }
        },
        Workload("relations.joined", gate: 1.35, goal: 1.15, sides: joined),
        Workload("relations.save", gate: 1.3, goal: 1.15, sides: saved),
    ]

    // MARK: - Loading

    private static func loaded(
        _ fixture: Fixture, _ load: @escaping (Database) throws -> [Club]
    ) throws -> Sides {
        let rows = fixture.scale.rows
        let connection = try CConnection()
        try fill(connection, rows)
        let queue = try filledQueue(rows)
        return Sides(
            operations: rows,
            c: Side(keeping: { try linked(connection) }, checksum: \.checksumOfLinks),
            shellac: Side(keeping: { try queue.read(load) }, checksum: { try $0.linksChecksum() }))
    }

    /// Members, each with its club, by one statement.
    private static func joined(_ fixture: Fixture) throws -> Sides {
        let rows = fixture.scale.rows
        let connection = try CConnection()
        try fill(connection, rows)
        let queue = try filledQueue(rows)
        return Sides(
            operations: rows,
            c: Side(
                keeping: { try joined(connection) },
                checksum: { joined in
                    joined.members.checksum { member, sum in
                        sum.add(member.id)
                        sum.add(member.name)
                        sum.add(member.club?.name ?? "")
                    }
                }),
            shellac: Side(
                keeping: { try queue.read { try Member.including(required: Member.club).fetchAll($0) } },
                checksum: { members in
                    try members.checksum { member, sum in
                        sum.add(member.id ?? 0)
                        sum.add(member.name)
                        sum.add(try member.club?.name ?? "")
                    }
                }))
    }

    /// The same statement, and links by hand.
    private static func joined(
        _ connection: CConnection
    ) throws -> (members: [PlainMember], clubs: [Int: PlainClub]) {
        var clubs: [Int: PlainClub] = [:]
        let statement = try connection.prepare(League.joined)
        let members = try statement.array { statement in
            let member = PlainMember(statement)
            let id = statement.int(6)
            if let known = clubs[id] {
                member.club = known
            } else {
                let club = PlainClub(statement, at: 7)
                clubs[id] = club
                member.club = club
            }
            return member
        }
        return (members, clubs)
    }

    private static func filledQueue(_ rows: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: League.tables)
            let club = try db.makeStatement(sql: League.clubInsertion)
            for row in 0..<rows / 10 {
                try club.execute(arguments: [row + 1, "Club \(row)", "City \(row % 77)"])
            }
            let member = try db.makeStatement(sql: League.memberInsertion)
            for row in 0..<rows / 10 * 10 {
                let values = League.member(row)
                try member.execute(arguments: [
                    row + 1, row % (rows / 10) + 1, values.name, values.email, values.score, values.rating,
                ])
            }
        }
        return queue
    }

    private static func fill(_ connection: CConnection, _ rows: Int) throws {
        try connection.execute("BEGIN")
        try connection.execute(League.tables)
        let club = try connection.prepare(League.clubInsertion)
        for row in 0..<rows / 10 {
            club.bind(row + 1, 1)
            club.bind("Club \(row)", 2)
            club.bind("City \(row % 77)", 3)
            try club.run()
        }
        let member = try connection.prepare(League.memberInsertion)
        for row in 0..<rows / 10 * 10 {
            let values = League.member(row)
            member.bind(row + 1, 1)
            member.bind(row % (rows / 10) + 1, 2)
            member.bind(values.name, 3)
            member.bind(values.email, 4)
            member.bind(values.score, 5)
            member.bind(values.rating, 6)
            try member.run()
        }
        try connection.execute("COMMIT")
    }

    /// The same two statements, and links by hand.
    private static func linked(_ connection: CConnection) throws -> [PlainClub] {
        try connection.execute("BEGIN")
        let clubs = try connection.prepare(League.clubs).array { PlainClub($0) }
        var byID: [Int: PlainClub] = Dictionary(minimumCapacity: clubs.count)
        var json = "["
        for club in clubs {
            byID[club.id] = club
            json += json.utf8.count == 1 ? "\(club.id)" : ",\(club.id)"
        }
        json += "]"
        let members = try connection.prepare(League.members)
        members.bind(json, 1)
        while try members.step() {
            guard let club = byID[members.int(6)] else { continue }
            let member = PlainMember(members)
            member.club = club
            club.members.append(member)
        }
        try connection.execute("COMMIT")
        return clubs
    }

    // MARK: - Saving

    /// A graph that is saved at once, beside its records, which are saved one by one. All of them
    /// are new.
    private static func saved(_ fixture: Fixture) throws -> Sides {
        let count = fixture.scale.insertions / 10
        func side(_ save: @escaping (Club, [Member], Database) throws -> Void) throws -> Side {
            let queue = try DatabaseQueue()
            try queue.write { try $0.execute(sql: League.tables) }
            return Side(
                setUp: { try queue.write { try $0.execute(sql: "DELETE FROM member; DELETE FROM club") } },
                keeping: {
                    try queue.write { db in
                        for row in 0..<count {
                            let club = Club()
                            (club.name, club.city) = ("Club \(row)", "City")
                            try save(club, (0..<10).map { Member.make(row * 10 + $0) }, db)
                        }
                    }
                },
                checksum: {
                    UInt64(truncatingIfNeeded: try queue.read { try Int.fetchOne($0, sql: League.sum) } ?? 0)
                })
        }
        let one = try side { club, members, db in
            try club.save(db)
            for member in members {
                member.clubID = club.id
                try member.save(db)
            }
        }
        let graph = try side { club, members, db in
            club.set(Club.members, to: members)
            try club.save(db, with: Club.members)
        }
        return Sides(operations: count * 11, c: one, shellac: graph)
    }
}

extension [Club] {
    fileprivate func linksChecksum() throws -> UInt64 {
        try checksum { club, sum in
            sum.add(club.id ?? 0)
            sum.add(club.name)
            for member in try club.members {
                sum.add(member.id ?? 0)
                sum.add(member.name)
                sum.add(try member.club === club ? 1 : 0)
            }
        }
    }
}

extension [PlainClub] {
    fileprivate var checksumOfLinks: UInt64 {
        checksum { club, sum in
            sum.add(club.id)
            sum.add(club.name)
            for member in club.members {
                sum.add(member.id)
                sum.add(member.name)
                sum.add(member.club === club ? 1 : 0)
            }
        }
    }
}
