import Shellac

extension Fixture {
    /// A connection of the baseline.
    func connection() throws -> CConnection { try CConnection(path) }

    /// A queue of Shellac's.
    func queue() throws -> DatabaseQueue { try DatabaseQueue(path: path, configuration: Configuration()) }
}
