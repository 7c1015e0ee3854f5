import Shellac

/// The player of a table whose rows are of four classes.
class KindPlayer: ListedPlayer {
    override class var databaseTableName: String { "kindPlayer" }
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["goalkeeper": Goalkeeper.self, "defender": Defender.self, "striker": Striker.self])
    }
}

final class Goalkeeper: KindPlayer {}
final class Defender: KindPlayer {}
final class Striker: KindPlayer {}

/// The same rows, all of one class.
final class OneKindPlayer: ListedPlayer {
    override class var databaseTableName: String { "kindPlayer" }
}
