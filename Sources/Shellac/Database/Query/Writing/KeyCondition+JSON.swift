// Passes very many keys as one value.

extension KeyCondition.Keys {
    /// The maximum number of keys with a parameter each. With more of them, SQLite's limit is near.
    private static var maximumParameters: Int { 1000 }

    /// A JSON array of the keys, if there are very many of them: see ``JSONArray``.
    var json: DatabaseValue? {
        guard case .values(let values) = self, values.count > Self.maximumParameters else { return nil }
        return JSONArray(values)?.databaseValue
    }
}
