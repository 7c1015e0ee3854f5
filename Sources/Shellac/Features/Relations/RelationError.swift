/// An error of a relation.
public enum RelationError: Error, Hashable, Sendable {
    /// A relation was read that was not loaded for the record.
    ///
    /// - Parameters:
    ///   - relation: The relation, such as `Team.players`.
    ///   - type: The class of the record.
    case notLoaded(relation: String, recordType: String)

    /// The record that a relation leads back to no longer exists, because the program has not kept
    /// it.
    case released(relation: String, recordType: String)

    /// A relation was used with records of another type than the one that declares it.
    case wrongOwner(relation: String, recordType: String)

    /// The schema does not determine the foreign key of a relation.
    case noForeignKey(relation: String, reason: String)

    /// A relation cannot be used in this way.
    case unsound(relation: String, reason: String)
}

extension RelationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notLoaded(let relation, let type):
            return
                "\(relation) was not loaded for this \(type): fetch it with .including(\(relation)), or "
                + "load it with record.load(\(relation), db). (Declare the relation as `static let`: each "
                + "call of hasMany, hasOne and belongsTo makes another one.)"
        case .released(let relation, let type):
            return
                "\(relation) of this \(type) leads back to the record that it was loaded for, which no "
                + "longer exists: keep that record, or load the relation itself with "
                + ".including(\(relation))"
        case .wrongOwner(let relation, let type):
            let advice =
                type.hasPrefix("Table(")
                ? "name one that begins with this table"
                : "name one that \(type) or a superclass of it declares"
            return "\(relation) is not a relation of \(type): \(advice)"
        case .noForeignKey(let relation, let reason): return "\(relation): \(reason)"
        case .unsound(let relation, let reason): return "\(relation): \(reason)"
        }
    }
}
