// The distance of vectors, as SQL functions that each connection has.

import CSQLite

/// A measure of the distance between two vectors.
public enum VectorMetric: String, Hashable, Sendable, CaseIterable {
    /// The cosine distance, 1 minus the cosine of the angle. Lengths do not matter.
    case cosine
    /// The inner product, negated. For vectors of length 1, the order is that of ``cosine``,
    /// in less time.
    case dot
    /// The Euclidean distance.
    case euclidean

    /// The name of the SQL function.
    var function: String { "shellac_\(rawValue)_distance" }

    /// Adds the functions of all measures to a connection.
    static func addFunctions(to connection: OpaquePointer) {
        for metric in allCases {
            let call: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
            switch metric {
            case .cosine: call = { VectorPair.compute($0, $2, .cosine) }
            case .dot: call = { VectorPair.compute($0, $2, .dot) }
            case .euclidean: call = { VectorPair.compute($0, $2, .euclidean) }
            }
            sqlite3_create_function_v2(
                connection, metric.function, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
                call,
                nil, nil, nil)
        }
    }
}

/// Two vectors of the same length in SQLite's memory: 32-bit floats in the order of this machine,
/// which is little-endian on all platforms of Swift.
private struct VectorPair {
    let a: UnsafeRawPointer
    let b: UnsafeRawPointer
    let count: Int

    static func compute(
        _ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ metric: VectorMetric
    ) {
        guard let first = values?[0], let second = values?[1] else { return }
        let types = (sqlite3_value_type(first), sqlite3_value_type(second))
        // No vector has no distance.
        if types.0 == SQLITE_NULL || types.1 == SQLITE_NULL { return sqlite3_result_null(context) }
        guard types.0 == SQLITE_BLOB, types.1 == SQLITE_BLOB else {
            return sqlite3_result_error(context, "a vector is a BLOB of 32-bit floats", -1)
        }
        let sizes = (Int(sqlite3_value_bytes(first)), Int(sqlite3_value_bytes(second)))
        guard sizes.0 == sizes.1, sizes.0 % 4 == 0 else {
            let message =
                "a vector of \(sizes.0) bytes cannot be compared with one of \(sizes.1) bytes: both must have "
                + "as many 32-bit floats"
            return sqlite3_result_error(context, message, -1)
        }
        guard let a = sqlite3_value_blob(first), let b = sqlite3_value_blob(second) else {
            return sqlite3_result_null(context)
        }
        let pair = VectorPair(a: a, b: b, count: sizes.0 / 4)
        switch metric {
        case .cosine: sqlite3_result_double(context, pair.cosineDistance)
        case .dot:
            sqlite3_result_double(
                context,
                -Double(
                    pair.sum {
                        $0 * $1
                    } single: {
                        $0 * $1
                    }))
        case .euclidean:
            let squares = pair.sum {
                ($0 - $1) * ($0 - $1)
            } single: {
                ($0 - $1) * ($0 - $1)
            }
            sqlite3_result_double(context, Double(squares).squareRoot())
        }
    }

    @inline(__always)
    private static func eight(_ pointer: UnsafeRawPointer, _ place: Int) -> SIMD8<Float> {
        pointer.loadUnaligned(fromByteOffset: place * 4, as: SIMD8<Float>.self)
    }

    @inline(__always)
    private static func one(_ pointer: UnsafeRawPointer, _ place: Int) -> Float {
        pointer.loadUnaligned(fromByteOffset: place * 4, as: Float.self)
    }

    /// Returns the sum of a function of all pairs of numbers.
    @inline(__always)
    private func sum(
        _ term: (SIMD8<Float>, SIMD8<Float>) -> SIMD8<Float>, single: (Float, Float) -> Float
    ) -> Float {
        var (first, second) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        var place = 0
        while place + 16 <= count {
            first += term(Self.eight(a, place), Self.eight(b, place))
            second += term(Self.eight(a, place + 8), Self.eight(b, place + 8))
            place += 16
        }
        var sum = (first + second).sum()
        while place < count {
            sum += single(Self.one(a, place), Self.one(b, place))
            place += 1
        }
        return sum
    }

    private var cosineDistance: Double {
        var (product, own, other) = (SIMD8<Float>.zero, SIMD8<Float>.zero, SIMD8<Float>.zero)
        var place = 0
        while place + 8 <= count {
            let (x, y) = (Self.eight(a, place), Self.eight(b, place))
            product += x * y
            own += x * x
            other += y * y
            place += 8
        }
        var (sum, first, second) = (product.sum(), own.sum(), other.sum())
        while place < count {
            let (x, y) = (Self.one(a, place), Self.one(b, place))
            sum += x * y
            first += x * x
            second += y * y
            place += 1
        }
        let lengths = Double(first).squareRoot() * Double(second).squareRoot()
        // A vector of zeros has no direction, and is as far away as a perpendicular one.
        return lengths > 0 ? 1 - Double(sum) / lengths : 1
    }
}
