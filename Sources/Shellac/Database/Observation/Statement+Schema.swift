// Refreshes a cached statement's effects when the schema has changed since it was prepared.

import CSQLite

// The effects of a statement depend on the schema. A cached statement may have been prepared with
// an older one.

extension Statement {
    /// The cached plan of the statement between two runs.
    var observationPlan: Unretained<ObservationPlan>? {
        changePlanReference.map { Unretained(context: $0.context) }  // this slot has one use
    }

    /// Updates the known effects of the statement to the schema that it is about to run against.
    /// Returns whether they are certain to fit before the run: see `effectsDidChange(of:from:)`.
    func followSchema(isInside: Bool) -> Bool {
        // A check would take a read lock. A transaction that has one does not wait for another
        // one's write lock.
        if isInside, sqlite3_txn_state(database.pointer, nil) == SQLITE_TXN_NONE {
            if effectsGeneration == 0 || effectsGeneration != database.knownSchema.prepared {
                try? refreshEffects()
            }
            return false
        }
        // If the file is locked, the statement itself waits, and reports it.
        do { try followSchema() } catch { return false }
        return true
    }

    /// Updates the effects of the statement to the current schema of its databases.
    ///
    /// SQLite detects a changed schema when the statement takes its first step, and does not report
    /// the new effects then. Triggers and cascades may be new, and views may differ. So the version
    /// of the schema is checked. That is an integer comparison inside of a transaction that has
    /// checked before.
    func followSchema() throws {
        var followed: Set<String> = []
        var generation: UInt64 = 0
        // The new effects of the statement may be in other databases.
        while !effects.databases.isSubset(of: followed) || followed.isEmpty {
            let schema = database.schema
            var isNew = false
            for name in effects.databases where try schema.follow(name) { isNew = true }
            // (Following a database has just compared its version.)
            generation = effects.databases.isEmpty ? try database.schemaGeneration : schema.generation
            followed = effects.databases
            if isNew || effectsGeneration != generation {
                // (If it can no longer be prepared, its step reports that.)
                try? refreshEffects()
                effectsGeneration = generation
            }
            if followed.isEmpty { break }
        }
        database.knownSchema.prepared = generation
    }
}
