// Requests by closures over the columns that a type declares.
//
// ``RefinableRequest/filter(_:)-(_)`` and ``RefinableRequest/order(_:)-(_)`` are of this kind, too.

/// Collects the selection of a closure: one item, or an array.
@resultBuilder
public enum SQLSelectionBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ selection: any SQLSelectable) -> [any SQLSelectable] { [selection] }
    @_documentation(visibility: internal)
    public static func buildExpression(_ selection: [any SQLSelectable]) -> [any SQLSelectable] { selection }
    @_documentation(visibility: internal)
    public static func buildBlock(_ selections: [any SQLSelectable]...) -> [any SQLSelectable] {
        selections.flatMap { $0 }
    }
    @_documentation(visibility: internal)
    public static func buildOptional(_ selection: [any SQLSelectable]?) -> [any SQLSelectable] {
        selection ?? []
    }
    @_documentation(visibility: internal)
    public static func buildEither(first: [any SQLSelectable]) -> [any SQLSelectable] { first }
    @_documentation(visibility: internal)
    public static func buildEither(second: [any SQLSelectable]) -> [any SQLSelectable] { second }
}

/// Collects the expressions of a closure: one, or an array.
@resultBuilder
public enum SQLExpressionsBuilder {
    @_documentation(visibility: internal)
    public static func buildExpression(_ expression: any SQLExpressible) -> [any SQLExpressible] {
        [expression]
    }
    @_documentation(visibility: internal)
    public static func buildExpression(_ expressions: [any SQLExpressible]) -> [any SQLExpressible] {
        expressions
    }
    @_documentation(visibility: internal)
    public static func buildBlock(_ expressions: [any SQLExpressible]...) -> [any SQLExpressible] {
        expressions.flatMap { $0 }
    }
}

extension RefinableRequest where RowDecoder: TableRecord {
    /// Selects columns that the type declares, or expressions, replacing any earlier selection.
    ///
    /// ```swift
    /// let request = Player.all().select { [$0.id, $0.name] }
    /// ```
    ///
    /// - Parameter selection: A function that returns the selection from the type's columns: one
    ///   item or several. It is called immediately.
    public func select(
        @SQLSelectionBuilder _ selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) rethrows -> Refined { try select(selection(RowDecoder.Columns.self)) }

    /// Adds columns that the type declares, or expressions, to the selection.
    ///
    /// ```swift
    /// Player.annotated { ($0.score + $0.bonus).forKey("total") }
    /// ```
    ///
    /// - Parameter selection: A function that returns the additions from the type's columns: one
    ///   item or several. It is called immediately.
    public func annotated(
        @SQLSelectionBuilder with selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable]
    ) rethrows -> Refined {
        try annotated(with: selection(RowDecoder.Columns.self))
    }

    /// Adds a condition on the groups, by the columns that the type declares (`HAVING`).
    ///
    /// - Parameter condition: A function that returns the condition from the type's columns. It is
    ///   called immediately.
    public func having(
        _ condition: (RowDecoder.Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> Refined { try having(condition(RowDecoder.Columns.self)) }
}

extension RequestSource where RowDecoder: TableRecord {
    /// Selects columns that the type declares, or expressions, replacing any earlier selection.
    /// Decodes the rows as values of the given type.
    ///
    /// - Parameters:
    ///   - selection: A function that returns the selection from the type's columns: one item or
    ///     several. It is called immediately.
    ///   - type: The type that rows are decoded as.
    public func select<Value>(
        @SQLSelectionBuilder _ selection: (RowDecoder.Columns.Type) throws -> [any SQLSelectable],
        as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> { try select(selection(RowDecoder.Columns.self), as: type) }

    /// Groups the rows that have the same values in columns that the type declares, replacing any
    /// earlier groups.
    ///
    /// ```swift
    /// Player.select { [$0.teamID, max($0.score)] }.group { $0.teamID }
    /// ```
    ///
    /// - Parameter expressions: A function that returns the common expressions of a group from the
    ///   type's columns: one or several. It is called immediately.
    public func group(
        @SQLExpressionsBuilder _ expressions: (RowDecoder.Columns.Type) throws -> [any SQLExpressible]
    ) rethrows -> QueryInterfaceRequest<RowDecoder> { try group(expressions(RowDecoder.Columns.self)) }

    /// Groups the rows that have the same values in a column, replacing any earlier groups:
    /// `.group(\.teamID)`.
    ///
    /// - Parameter expression: The path to a column of the type's `Columns`.
    public func group(
        _ expression: KeyPath<RowDecoder.Columns.Type, some SQLExpressible>
    ) -> QueryInterfaceRequest<RowDecoder> { group(RowDecoder.Columns.self[keyPath: expression]) }
}

extension TableRecord {
    /// Selects columns that the type declares, or expressions, of all rows.
    ///
    /// - Parameter selection: A function that returns the selection from the type's columns: one
    ///   item or several. It is called immediately.
    public static func select(
        @SQLSelectionBuilder _ selection: (Columns.Type) throws -> [any SQLSelectable]
    ) rethrows -> QueryInterfaceRequest<Self> { try all().select(selection(Columns.self)) }

    /// Selects columns that the type declares, or expressions, of all rows. Decodes the rows as
    /// values of the given type.
    ///
    /// ```swift
    /// let names = try Player.select({ $0.name }, as: String.self).fetchAll(db)
    /// ```
    ///
    /// - Parameters:
    ///   - selection: A function that returns the selection.
    ///   - type: The type that rows are decoded as.
    public static func select<Value>(
        @SQLSelectionBuilder _ selection: (Columns.Type) throws -> [any SQLSelectable],
        as type: Value.Type = Value.self
    ) rethrows -> QueryInterfaceRequest<Value> { try all().select(selection(Columns.self), as: type) }

    /// Requests all rows, and adds columns that the type declares, or expressions, to the
    /// selection.
    ///
    /// - Parameter selection: A function that returns the additions from the type's columns: one
    ///   item or several. It is called immediately.
    public static func annotated(
        @SQLSelectionBuilder with selection: (Columns.Type) throws -> [any SQLSelectable]
    ) rethrows -> QueryInterfaceRequest<Self> { try all().annotated(with: selection(Columns.self)) }

    /// Groups the rows that have the same values in columns that the type declares.
    ///
    /// - Parameter expressions: A function that returns the common expressions of a group from the
    ///   type's columns: one or several. It is called immediately.
    public static func group(
        @SQLExpressionsBuilder _ expressions: (Columns.Type) throws -> [any SQLExpressible]
    ) rethrows -> QueryInterfaceRequest<Self> { try all().group(expressions(Columns.self)) }

    /// Requests the groups for which a condition holds, by the columns that the type declares.
    ///
    /// - Parameter condition: A function that returns the condition from the type's columns. It is
    ///   called immediately.
    public static func having(
        _ condition: (Columns.Type) throws -> some SQLSpecificExpressible
    ) rethrows -> QueryInterfaceRequest<Self> { try all().having(condition(Columns.self)) }
}

// MARK: - By key paths

extension TableRecord {
    /// Requests all rows, in the order of a column: `Player.order(\.score.desc)`.
    ///
    /// - Parameter term: The path to a column of the type's `Columns`, or to its descending order.
    public static func order(_ term: KeyPath<Columns.Type, some SQLOrderingTerm>) -> QueryInterfaceRequest<
        Self
    > {
        all().order(Columns.self[keyPath: term])
    }

    /// Groups the rows that have the same values in a column: `Player.group(\.teamID)`.
    ///
    /// - Parameter expression: The path to a column of the type's `Columns`.
    public static func group(_ expression: KeyPath<Columns.Type, some SQLExpressible>)
        -> QueryInterfaceRequest<Self>
    {
        all().group(Columns.self[keyPath: expression])
    }
}

extension RefinableRequest where RowDecoder: TableRecord {
    /// Sorts the rows by a column, replacing any earlier order: `.order(\.score.desc)`.
    ///
    /// - Parameter term: The path to a column of the type's `Columns`, or to its descending order.
    public func order(
        _ term: KeyPath<RowDecoder.Columns.Type, some SQLOrderingTerm>
    ) -> Refined { order(RowDecoder.Columns.self[keyPath: term]) }
}
