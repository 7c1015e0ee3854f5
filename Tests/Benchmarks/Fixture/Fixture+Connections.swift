import Shellac

extension Fixture {
    /// A connection of the baseline.
    func connection() throws -> CConnection { try CConnection(path) }

    /// A queue of Shellac's.
    func queue() throws -> DatabaseQueue { try DatabaseQueue(path: path, configuration: Configuration()) }

    /// The path of another file, which is removed together with the tables.
    func path(of name: String) -> String { path + "-" + name }
}
