import Foundation
import TestSupport
import Testing

@testable import Shellac

@Suite("The drift check of default filters and soft delete", .behaviour(72))
struct FilterDriftTests {
    private static let schema = """
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, deletedAt TEXT);
        CREATE TABLE player (id INTEGER PRIMARY KEY, teamID INTEGER REFERENCES team(id), deletedAt TEXT);
        CREATE INDEX playerTeam ON player (teamID);
        CREATE TABLE alien (id INTEGER PRIMARY KEY, deletedAt TEXT);
        """

    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: Self.schema) }
    }

    private func faults(
        of type: any (FetchableRecord & EncodableRecord & TableRecord).Type, in queue: DatabaseQueue? = nil
    ) throws -> [SchemaFault] {
        try (queue ?? self.queue).read { db in
            do {
                try db.checkSchema(of: type)
                return []
            } catch let error as SchemaDriftError {
                return error.faults
            }
        }
    }

    /// The sentences of the faults of filters.
    private func sentences(of type: any (FetchableRecord & EncodableRecord & TableRecord).Type) throws
        -> [String]
    {
        try faults(of: type).compactMap {
            if case .filterInvalid(let message) = $0.kind { message } else { nil }
        }
    }

    @Test("A filter whose relation cannot be found is a fault, beside all others")
    func relation() throws {
        let faults = try faults(of: Lost.self)
        #expect(
            faults.map(\.description) == [
                "Lost has a default filter that does not work with the table team: Lost.aliens: the table "
                    + "alien has no foreign key that refers to team. Declare one in the schema, or name the "
                    + "columns: using: \"teamID\".",
                "Lost reads and encodes the column colour, which the table team lacks.",
            ], "\(faults)")
    }

    @Test("The faults of other types are told as well")
    func several() throws {
        try queue.read { db in
            let error = #expect(throws: SchemaDriftError.self) {
                try db.checkSchema(of: Lost.self, Nowhere.self)
            }
            #expect(error?.faults.map(\.recordType) == ["Lost", "Lost", "Nowhere"])
        }
    }

    @Test("Cascades that cannot work are faults", arguments: 0..<6)
    func cascades(_ index: Int) throws {
        let all: [(any (FetchableRecord & EncodableRecord & TableRecord).Type, String)] = [
            (PlainTargets.self, "PlainTargets.players: PlainPlayer deletes its rows permanently"),
            (NoKey.self, "NoKey.aliens: the table alien has no foreign key"),
            (Upwards.self, "Upwards.team: a cascade deletes the rows that refer to a deleted row"),
            (OtherDates.self, "OtherDates.players: DatedPlayer stores dates in deletedAt in another form"),
            (LostColumn.self, "LostColumn.players: the table player has no column gone"),
            (WrongOwner.self, "Team.players is not a relation of WrongOwner"),
        ]
        let (type, sentence) = all[index]
        let found = try sentences(of: type)
        #expect(
            found.count == 1
                && found.allSatisfy { $0.contains("its databaseSoftDelete cannot cascade: \(sentence)") },
            "\(found)")
    }

    @Test("Cascades that work are no fault")
    func soundCascades() throws {
        try #expect(faults(of: Team.self) == [])
        try #expect(faults(of: Player.self) == [])
    }

    @Test(
        "A column that is not there is found where SQLite takes its name for a text",
        arguments: [false, true])
    func doubleQuotes(_ accepts: Bool) throws {
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = accepts
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.write { try $0.execute(sql: Self.schema) }
        try #expect(
            faults(of: NoColumn.self, in: queue).map(\.description) == [
                "NoColumn has a default filter that does not work with the table team: it has no column "
                    + "deletedOn (did you mean deletedAt?), which databaseSoftDelete names."
            ])
    }

    @Test("A unique index is told of once, for the base of the kinds, and is told what it is")
    func uniqueIndexes() throws {
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX names ON team (name);
                    CREATE UNIQUE INDEX dated ON team (name, DELETEDAT);
                    CREATE UNIQUE INDEX living ON team (name) WHERE deletedAt IS NULL;
                    """)
        }
        let told = [
            "The unique index names (name) of the table team includes deleted rows of Club, and so the "
                + "name of a deleted row cannot be used again. Make it partial: WHERE deletedAt IS NULL.",
            "The unique index dated (name, deletedAt) of the table team does not keep rows of Club that "
                + "are not deleted from repeating each other: they have NULL in deletedAt, and no NULL equals "
                + "another. Leave that column out, and make it partial: WHERE deletedAt IS NULL.",
        ]
        for type in [Club.self, BigClub.self] as [Club.Type] {
            let found = try faults(of: type).map(\.description)
            #expect(found.sorted() == told.sorted(), "\(found)")
        }
    }
}

extension FilterDriftTests {
    @Test("The check of one record finds the faults of its type's filter and soft delete, too")
    func ofOneRecord() throws {
        try queue.write { try $0.execute(sql: "CREATE UNIQUE INDEX names ON team (name)") }
        func filterFaults(_ record: TeamRow) throws -> [String] {
            try queue.read { db in
                let error = #expect(throws: SchemaDriftError.self) { try record.checkSchema(db) }
                return (error?.faults ?? []).map(\.description).filter {
                    $0.contains("databaseSoftDelete") || $0.contains("unique index")
                }
            }
        }
        try #expect(
            filterFaults(NoColumn()) == [
                "NoColumn has a default filter that does not work with the table team: it has no column "
                    + "deletedOn (did you mean deletedAt?), which databaseSoftDelete names."
            ])
        try #expect(
            filterFaults(Club()) == [
                "The unique index names (name) of the table team includes deleted rows of Club, and so the "
                    + "name of a deleted row cannot be used again. Make it partial: WHERE deletedAt IS NULL."
            ])
    }
}

// MARK: - Classes

private class TeamRow: Record {
    var id: Int64?
    var name: String?

    override class var databaseTableName: String { "team" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}
private class PlainPlayer: Record {
    var id: Int64?
    var teamID: Int64?

    override class var databaseTableName: String { "player" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("teamID", teamID) { teamID = $0 }
    }
}
private class Player: PlainPlayer {
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
private class Team: TeamRow {
    static let players = hasMany(Player.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Team.players) }
}
private class Alien: Record {
    override class var databaseTableName: String { "alien" }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}

private class Lost: TeamRow {
    static let aliens = hasMany(Alien.self)
    var colour = ""

    override class var databaseDefaultFilter: DefaultFilter { ["known": Lost.aliens.isEmpty == false] }
    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("colour", colour) { colour = $0 }
    }
}
private class Nowhere: TeamRow {
    override class var databaseTableName: String { "nowhere" }
}

private class PlainTargets: TeamRow {
    static let players = hasMany(PlainPlayer.self)
    override class var databaseSoftDelete: SoftDelete? {
        .column("deletedAt", cascading: PlainTargets.players)
    }
}
private class NoKey: TeamRow {
    static let aliens = hasMany(Alien.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: NoKey.aliens) }
}
private class Upwards: PlainPlayer {
    static let team = belongsTo(Team.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Upwards.team) }
}
private class OtherDates: TeamRow {
    static let players = hasMany(DatedPlayer.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: OtherDates.players) }
}
private class DatedPlayer: PlainPlayer {
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
    override class func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .secondsSince1970
    }
}
private class LostColumn: TeamRow {
    static let players = hasMany(ColumnlessPlayer.self)
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: LostColumn.players) }
}
private class ColumnlessPlayer: PlainPlayer {
    override class var databaseSoftDelete: SoftDelete? { "gone" }
}
private class WrongOwner: TeamRow {
    override class var databaseSoftDelete: SoftDelete? { .column("deletedAt", cascading: Team.players) }
}
private class NoColumn: TeamRow {
    override class var databaseSoftDelete: SoftDelete? { "deletedOn" }
}

private class Club: TeamRow {
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["big": BigClub.self, "small": SmallClub.self])
    }
    override class var databaseSoftDelete: SoftDelete? { "deletedAt" }
}
private class BigClub: Club {}
private class SmallClub: Club {}
