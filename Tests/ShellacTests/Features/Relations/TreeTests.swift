import TestSupport
import Testing

@testable import Shellac

@Suite("A relation of a table with itself") struct TreeTests {
    final class Page: Record {
        static let pages = hasMany(Page.self, using: "parentID").order { $0.id }
        static let parent = belongsTo(Page.self, using: "parentID")
        static let notes = hasMany(Note.self)
        var id: Int64?
        var parentID: Int64?
        override class var databaseTableName: String { "page" }
        override func columns(_ column: borrowing RecordColumns) throws {
            try column("id", id) { id = $0 }
            try column("parentID", parentID) { parentID = $0 }
        }
        var pages: [Page] { get throws { try self[Page.pages] } }
        var parent: Page? { get throws { try self[Page.parent] } }
        var notes: [Note] { get throws { try self[Page.notes] } }

        /// The numbers of the pages below this one, level by level, as far as they are loaded.
        func levels() throws -> [[Int64]] {
            var (found, level): ([[Int64]], [Page]) = ([], [self])
            while true {
                do {
                    level = try level.flatMap { try $0.pages }
                } catch RelationError.notLoaded {
                    return found
                }
                if level.isEmpty { return found }
                found.append(level.compactMap(\.id))
            }
        }
    }

    final class Note: Record {
        override class var databaseTableName: String { "note" }
    }

    /// A binary tree of 31 pages, and a page that refers to itself.
    private func database(_ spy: SQLSpy) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: spy.configuration())
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE page (id INTEGER PRIMARY KEY, parentID INTEGER REFERENCES page(id));
                    CREATE TABLE note (id INTEGER PRIMARY KEY, pageID INTEGER REFERENCES page(id));
                    WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 31)
                        INSERT INTO page SELECT i, nullif(i / 2, 0) FROM n;
                    INSERT INTO page VALUES (100, 100);
                    INSERT INTO note (pageID) SELECT id FROM page;
                    """)
        }
        spy.removeAll()
        return queue
    }

    @Test("is loaded to a depth, by a statement for each level that there is", .behaviour(63, 67))
    func depth() throws {
        let spy = SQLSpy()
        try database(spy).read { db in
            for (depth, levels) in [(-1, 1), (0, 1), (1, 1), (3, 3), (5, 4), (.max, 4)] {
                spy.removeAll()
                let root = try #require(
                    try Page.including(Page.pages.recursively(depth: depth)).filter(key: 1).fetchOne(db))
                try #expect(root.levels() == (1...levels).map { Array(Int64(1) << $0..<Int64(2) << $0) })
                #expect(spy.selections.count == 1 + min(max(depth, 1), 5))
                // A page below knows the one above.
                try #expect(root.pages[1].parent === root)
            }
            let root = try #require(
                try Page.including(Page.pages.recursively(depth: 2)).filter(key: 1).fetchOne(db))
            let leaf = try root.pages[0].pages[0]
            #expect(throws: RelationError.notLoaded(relation: "Page.pages", recordType: "Page")) {
                try leaf.pages
            }
        }
    }

    @Test("takes along what is loaded with each level", .behaviour(63, 67))
    func along() throws {
        let spy = SQLSpy()
        try database(spy).read { db in
            let root = try Page.find(db, key: 1)
            try root.load(Page.pages.including(Page.notes).limitPerParent(1).recursively(depth: 3), db)
            try #expect(root.levels() == [[2], [4], [8]])
            try #expect(root.pages[0].pages[0].pages[0].notes.count == 1)
            // Upwards.
            let leaf = try Page.find(db, key: 31)
            try leaf.load(Page.parent.recursively(depth: 4), db)
            try #expect(leaf.parent?.parent?.parent?.parent === leaf.parent?.parent?.parent?.parent)
            try #expect(leaf.parent?.parent?.parent?.parent?.id == 1)
        }
    }

    @Test("ends where rows refer to themselves", .behaviour(67))
    func cycle() throws {
        let spy = SQLSpy()
        try database(spy).read { db in
            let page = try Page.find(db, key: 100)
            try page.load(Page.pages.recursively(depth: .max), db)
            try #expect(page.levels() == Array(repeating: [100], count: 100))
            try page.load(Page.parent.recursively(depth: .max), db)
            var (last, depth) = (page, 0)
            while let parent = try? last.parent { (last, depth) = (parent, depth + 1) }
            #expect(depth == 100)
        }
    }

    @Test("is saved to a depth", .behaviour(66))
    func saved() throws {
        try database(SQLSpy()).write { db in
            var pages = (0..<4).map { _ in Page() }
            for (parent, page) in zip(pages, pages.dropFirst()) { parent.set(Page.pages, to: [page]) }
            try pages[0].save(db, with: Page.pages.recursively(depth: 3))
            #expect(pages.map(\.parentID) == [nil] + pages.dropLast().map(\.id))
            pages = []
            try #expect(Page.fetchCount(db) == 36)
        }
    }

    @Test("is asked of a relation that leads elsewhere, and refused", .behaviour(61))
    func refused() throws {
        try database(SQLSpy()).read { db in
            let page = try Page.find(db, key: 1)
            #expect(throws: RelationError.wrongOwner(relation: "Page.notes", recordType: "Note")) {
                try page.load(Page.notes.recursively(depth: 2), db)
            }
        }
    }
}
