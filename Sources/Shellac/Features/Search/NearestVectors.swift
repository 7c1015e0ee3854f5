// Requests for the rows with the nearest vectors, and the value that stores a vector.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A vector of 32-bit floats, stored as a BLOB.
///
/// ```swift
/// class Note: Record {
///     var embedding = DatabaseVector([])
/// }
/// let nearest = try Note.nearest(to: [0.1, 0.2, 0.3], by: "embedding", limit: 10).fetchAll(db)
/// ```
public struct DatabaseVector: Hashable, Sendable, DatabaseValueConvertible {
    /// The numbers.
    public var values: [Float]

    /// Creates a vector.
    ///
    /// - Parameter values: The numbers.
    public init(_ values: [Float]) { self.values = values }

    public var databaseValue: DatabaseValue {
        // Little-endian, as all platforms of Swift are.
        values.withUnsafeBytes { Data($0) }.databaseValue
    }

    public static func fromDatabaseValue(_ value: DatabaseValue) -> DatabaseVector? {
        guard case .blob(let data) = value.storage, data.count % 4 == 0 else { return nil }
        return DatabaseVector(
            data.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4).map { place in
                    bytes.loadUnaligned(fromByteOffset: place, as: Float.self)
                }
            })
    }
}

extension QueryInterfaceRequest {
    /// Keeps the rows with the vectors that are nearest to a vector, the nearest first.
    ///
    /// ```swift
    /// let request = Note.filter(Column("isArchived") == false)
    ///     .nearest(to: [0.1, 0.2, 0.3], by: "embedding", limit: 10)
    /// ```
    ///
    /// This replaces the order of the request. All its rows are compared, exactly. For 50,000
    /// vectors of 384 numbers, this takes some tens of milliseconds. Rows without a vector are left
    /// out.
    ///
    /// - Parameters:
    ///   - vector: The vector.
    ///   - column: The column of vectors, each a BLOB of 32-bit floats: see ``DatabaseVector``.
    ///   - limit: The most rows to keep.
    ///   - metric: The measure of the distance.
    public func nearest(
        to vector: [Float], by column: String, limit: Int, metric: VectorMetric = .cosine
    ) -> Self {
        let column = Column(column).sqlExpression
        let distance = FunctionCall(
            name: metric.function, arguments: [column, DatabaseVector(vector).databaseValue.sqlExpression])
        return with { query in
            query.filter(SQLExpression(.isNull(column, isNegated: true)))
            query.ordering = [SQLOrdering(SQLExpression(.call(distance)))]
        }.limit(max(limit, 0))
    }
}

extension TableRecord {
    /// Requests the rows with the vectors that are nearest to a vector, the nearest first:
    /// ``QueryInterfaceRequest/nearest(to:by:limit:metric:)``.
    ///
    /// - Parameters:
    ///   - vector: The vector.
    ///   - column: The column of vectors, each a BLOB of 32-bit floats: see ``DatabaseVector``.
    ///   - limit: The most rows to keep.
    ///   - metric: The measure of the distance.
    public static func nearest(
        to vector: [Float], by column: String, limit: Int, metric: VectorMetric = .cosine
    ) -> QueryInterfaceRequest<Self> { all().nearest(to: vector, by: column, limit: limit, metric: metric) }
}
