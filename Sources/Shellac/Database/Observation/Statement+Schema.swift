// Refreshes a cached statement's effects when the schema has changed since it was prepared.

import CSQLite

// What a statement does depends on the schema, and a kept statement was prepared in that of another day.

extension Statement {
    /// What is kept of the statement between two of its runs.
    var observationPlan: Unretained<ObservationPlan>? {
        changePlanReference.map { Unretained(context: $0.context) }  // nobody else fills the slot
    }

    /// Has what is known of the statement fit the schema that it is about to run against. Returns whether it does, as far as
    /// can be said before it runs: see `effectsDidChange(of:from:)`.
    func followSchema(isInside: Bool) -> Bool {
        // To look takes the lock of a reader. A transaction that has it does not wait for another one's to write.
        if isInside, sqlite3_txn_state(database.pointer, nil) == SQLITE_TXN_NONE {
            if effectsGeneration == 0 || effectsGeneration != database.knownSchema.prepared {
                try? refreshEffects()
            }
            return false
        }
        // Where the file is locked, the statement itself waits, and says so.
        do { try followSchema() } catch { return false }
        return true
    }

    /// Has the effects of the statement be those of the schema that its databases have now.
    ///
    /// SQLite finds out that the schema has changed when the statement takes its first step, and does not tell what it
    /// does then: triggers and cascades may have come, and views may be others. So the version of the schema is looked
    /// at, which takes a comparison of integers inside of a transaction that has looked before.
    func followSchema() throws {
        var followed: Set<String> = []
        var generation: UInt64 = 0
        // What the statement does anew may be in other databases.
        while !effects.databases.isSubset(of: followed) || followed.isEmpty {
            let schema = database.schema
            var isNew = false
            for name in effects.databases where try schema.follow(name) { isNew = true }
            // (Whoever has followed a database has compared its version just now.)
            generation = effects.databases.isEmpty ? try database.schemaGeneration : schema.generation
            followed = effects.databases
            if isNew || effectsGeneration != generation {
                // (Where it cannot be prepared any more, its step says so.)
                try? refreshEffects()
                effectsGeneration = generation
            }
            if followed.isEmpty { break }
        }
        database.knownSchema.prepared = generation
    }
}
