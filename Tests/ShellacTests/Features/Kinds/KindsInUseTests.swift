import Foundation
import TestSupport
import Testing

@testable import Shellac

/// Features that depend on the class of a row: relations, live values, lists, records that follow
/// their row, undo, the drift check.
@Suite("Kinds of a table, in use", .behaviour(70))
struct KindsInUseTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try Self.create(in: queue)
    }

    private static func create(in writer: some DatabaseWriter) throws {
        try writer.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE yard (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                    CREATE TABLE vehicle (
                        id INTEGER PRIMARY KEY, kind TEXT, name TEXT NOT NULL, seats INTEGER, load REAL, tags TEXT,
                        yardID INTEGER REFERENCES yard(id), partOf INTEGER REFERENCES vehicle(id) ON DELETE SET NULL);
                    CREATE INDEX vehicleYard ON vehicle(yardID);
                    CREATE INDEX vehiclePart ON vehicle(partOf);
                    INSERT INTO yard VALUES (1, 'north'), (2, 'south');
                    INSERT INTO vehicle (id, kind, name, seats, load, tags, yardID, partOf) VALUES
                        (1, 'car', 'c1', 4, NULL, NULL, 1, NULL), (2, 'truck', 't1', NULL, 7.5, NULL, 1, NULL),
                        (3, 'bus', 'b1', NULL, NULL, '["x"]', 2, NULL), (4, NULL, 'v1', NULL, NULL, NULL, 2, 1),
                        (5, 'car', 'c2', 5, NULL, NULL, 2, 2);
                    """)
        }
    }

    private func words(_ vehicles: [Vehicle]) -> [String] { vehicles.map { "\(type(of: $0)) \($0.name)" } }

    // MARK: - Relations

    @Test("Relations give records of the classes of their rows, and those of a class its own")
    func relations() throws {
        try queue.inDatabase { db in
            let yards = try Yard.order(Column("id")).including(Yard.vehicles, Yard.cars).fetchAll(db)
            #expect(
                try yards.map { try words($0[Yard.vehicles]) } == [
                    ["Car c1", "Truck t1"], ["Bus b1", "Vehicle v1", "Car c2"],
                ])
            #expect(try yards.map { try words($0[Yard.cars]) } == [["Car c1"], ["Car c2"]])
            #expect(try yards[0][Yard.cars][0].seats == 4)
            let south = yards[1]
            try #expect(
                words(south.request(for: Yard.vehicles).fetchAll(db)) == ["Bus b1", "Vehicle v1", "Car c2"])
            try #expect(words(south.request(for: Yard.cars).fetchAll(db)) == ["Car c2"])
            // Requests of several classes at once.
            let vehicles = try Vehicle.order(Column("id")).including(Vehicle.yard, Vehicle.parts).fetchAll(db)
            #expect(
                try vehicles.map { try $0[Vehicle.yard]?.name } == [
                    "north", "north", "south", "south", "south",
                ])
            #expect(
                try vehicles.map { try words($0[Vehicle.parts]) } == [["Vehicle v1"], ["Car c2"], [], [], []])
            let cars = try Car.including(Vehicle.yard).fetchAll(db)
            #expect(try cars.map { try $0[Vehicle.yard]?.name } == ["north", "south"])
        }
    }

    @Test("Relations of many classes are loaded by one statement")
    func statements() throws {
        let statements = Recorder<String>()
        try queue.inDatabase { db in
            let vehicles = try Vehicle.fetchAll(db)
            db.trace { statements.record($0.description) }
            try db.load(vehicles, [Vehicle.yard])
            db.trace(nil)
            #expect(statements.elements.count { $0.hasPrefix("SELECT *") } == 1)
        }
    }

    @Test("A loop over records of many classes loads a relation once for the peers of each class")
    func peers() throws {
        let statements = Recorder<String>()
        try queue.inDatabase { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                    INSERT INTO vehicle (id, kind, name, yardID)
                        SELECT i, CASE i * 7919 % 17 % 4 WHEN 0 THEN 'car' WHEN 1 THEN 'truck' WHEN 2 THEN 'bus' END, 'v', 1 + i % 2
                        FROM n
                    """)
            let request = Vehicle.order(Column("id"))
            // The second time, the statement knows all classes.
            for _ in 1...2 {
                let vehicles = try request.fetchAll(db)
                statements.removeAll()
                db.trace { statements.record($0.description) }
                for vehicle in vehicles {
                    try vehicle.load(Vehicle.yard, db)
                    let yardID = try Int64.fetchOne(
                        db, sql: "SELECT yardID FROM vehicle WHERE id = ?", arguments: [vehicle.id])
                    try #expect(vehicle[Vehicle.yard]?.id == yardID)
                }
                db.trace(nil)
                // The first record of each class is loaded alone.
                #expect(statements.elements.count { $0.contains("FROM \"yard\"") } == 8)
            }
        }
    }

    @Test("Joined rows, and what is counted of a relation, are those of the class")
    func joins() throws {
        try queue.inDatabase { db in
            let counted = Yard.annotated(with: [Yard.vehicles.count, Yard.cars.forKey("cars").count]).order(
                Column("id"))
            try #expect(
                counted.asRequest(of: Row.self).fetchAll(db).map {
                    try [$0["vehicleCount"] as Int, try $0["carCount"]]
                }
                    == [[2, 1], [3, 1]])
            let joined = try Yard.joining(required: Yard.cars.filter(Column("seats") == 5)).fetchAll(db)
            #expect(joined.map(\.name) == ["south"])
            try #expect(Yard.having(Yard.buses.isEmpty).fetchAll(db).map(\.name) == ["north"])
            // The vehicle that a part belongs to, joined with the very same table.
            let parts = try Vehicle.order(Column("id")).including(required: Vehicle.whole).fetchAll(db)
            #expect(words(parts) == ["Vehicle v1", "Car c2"])
            #expect(
                try parts.map { try words([#require(try $0[Vehicle.whole])]) } == [["Car c1"], ["Truck t1"]])
            let ofCars = try Car.including(optional: Vehicle.whole).order(Column("id")).fetchAll(db)
            #expect(words(ofCars) == ["Car c1", "Car c2"])
            try #expect(Car.joining(required: Vehicle.whole).deleteAll(db) == 1)
            try #expect(Car.fetchCount(db) == 1)
        }
    }

    @Test("A graph is saved with the classes of its records")
    func graphs() throws {
        try queue.write { db in
            let yard = Yard()
            yard.name = "east"
            let (car, bus) = (Car(), Bus())
            (car.name, bus.name, bus.tags) = ("c3", "b3", ["y"])
            yard.set(Yard.vehicles, to: [car, bus])
            try yard.save(db, with: Yard.vehicles)
            try #expect(
                words(yard.request(for: Yard.vehicles).order(Column("id")).fetchAll(db)) == [
                    "Car c3", "Bus b3",
                ])
        }
    }

    // MARK: - Copies and rollbacks

    @Test("A copy is of the record's class, and what it remembers follows rollbacks")
    func copies() throws {
        try queue.inDatabase { db in
            for vehicle in try Vehicle.fetchAll(db) {
                let copy = try vehicle.copy()
                #expect(
                    type(of: copy) == type(of: vehicle) && copy.name == vehicle.name
                        && !copy.hasDatabaseChanges)
            }
            let car = Car()
            car.name = "new"
            try db.inSavepoint {
                try car.insert(db)
                return .rollback
            }
            #expect(car.id == nil && car.hasDatabaseChanges)
            try car.insert(db)
            try #expect(Car.find(db, key: car.id).name == "new")
        }
    }

    @Test("Undo brings the kind back")
    func undo() throws {
        let undo = try DatabaseUndo(queue, Vehicle.self)
        try queue.write { db in
            try Car.find(db, key: 1).delete(db)
        }
        try queue.write { db in
            try db.execute(sql: "UPDATE vehicle SET kind = 'bus' WHERE id = 5")
        }
        try undo.undo()
        try undo.undo()
        try queue.inDatabase { db in
            try #expect(Car.order(Column("id")).fetchAll(db).map(\.name) == ["c1", "c2"])
        }
    }

    // MARK: - Live

    @Test(
        "Live values of a class hear of rows that become its own, and of those that leave it",
        arguments: LiveKind.allCases)
    func liveValues(kind: LiveKind) async throws {
        let live = try LiveDatabase(kind)
        try await Task { try Self.create(in: live.writer) }.value
        let queue = live.writer
        defer { withExtendedLifetime(live) {} }
        var cars = queue.values(of: Car.order(Column("id")).select(Column("name"), as: String.self))
            .makeAsyncIterator()
        try #expect(await cars.next() == ["c1", "c2"])
        try await queue.run("UPDATE vehicle SET kind = 'car' WHERE id = 2")
        try #expect(await cars.next() == ["c1", "t1", "c2"])
        try await queue.run(
            "UPDATE vehicle SET name = 'bb' WHERE id = 3; UPDATE vehicle SET kind = NULL WHERE id = 1")
        try #expect(await cars.next() == ["t1", "c2"])
        var all = queue.values(of: Vehicle.order(Column("id"))).makeAsyncIterator()
        var vehicles = try #require(try await all.next())
        #expect(
            vehicles.map { "\(type(of: $0)) \($0.name)" } == [
                "Vehicle c1", "Car t1", "Bus bb", "Vehicle v1", "Car c2",
            ])
        #expect(vehicles.allSatisfy { !$0.hasDatabaseChanges })
        try await queue.run("UPDATE vehicle SET kind = 'truck' WHERE id = 2")
        vehicles = try #require(try await all.next())
        #expect(
            vehicles.map { "\(type(of: $0)) \($0.name)" } == [
                "Vehicle c1", "Truck t1", "Bus bb", "Vehicle v1", "Car c2",
            ])
    }

    @Test("A list has records of the classes of their rows, also those that come later")
    @MainActor
    func lists() async throws {
        let controller = FetchedRecordsController(queue, request: Vehicle.order(Column("id")))
        try controller.performFetch()
        #expect(words(controller.fetchedRecords) == ["Car c1", "Truck t1", "Bus b1", "Vehicle v1", "Car c2"])
        let heard = Recorder<String>()
        controller.trackChanges(onChange: { _, vehicle, _ in
            heard.record("\(type(of: vehicle)) \(vehicle.name)")
        })
        try await queue.write { db in
            try db.execute(
                sql: """
                    UPDATE vehicle SET kind = 'bus', tags = '["z"]' WHERE id = 5;
                    INSERT INTO vehicle (kind, name, load) VALUES ('truck', 't2', 1.5);
                    """)
        }
        try await waitUntil { @Sendable in heard.elements.count == 2 }
        #expect(heard.elements.sorted() == ["Bus c2", "Truck t2"])
        #expect(words(controller.fetchedRecords).suffix(2) == ["Bus c2", "Truck t2"])
        #expect((controller.fetchedRecords[4] as? Bus)?.tags == ["z"])
        #expect((controller.fetchedRecords[5] as? Truck)?.load == 1.5)
        #expect(controller.fetchedRecords.allSatisfy { !$0.hasDatabaseChanges })
    }

    @Test("A record that follows its row does not take a row of another kind")
    func following() async throws {
        let car = try await queue.read { db in try Car.find(db, key: 1) }
        let kinds = Recorder<DatabaseValue>()
        let states = car.follow(in: queue)
        for try await state in states {
            guard case .changed(let row) = state else { continue }
            do {
                try car.merge(row)
            } catch RecordError.kindChanged(_, let kind, _) {
                kinds.record(kind)
                break
            }
            try await queue.run("UPDATE vehicle SET kind = 'bus', name = 'other' WHERE id = 1")
        }
        #expect(kinds.elements == ["bus".databaseValue])
        #expect(car.name == "c1")
    }

    // MARK: - The drift check

    @Test("The drift check looks at all classes, and at the kinds of the rows")
    func drift() throws {
        try queue.inDatabase { db in
            try Vehicle.checkSchema(db)
            try Car.checkSchema(db)
            try db.execute(
                sql: """
                    UPDATE vehicle SET kind = 'tram' WHERE id = 4;
                    INSERT INTO vehicle (kind, name) VALUES ('Car', 'x'), ('Car', 'y');
                    ALTER TABLE vehicle DROP COLUMN seats;
                    """)
            let error = #expect(throws: SchemaDriftError.self) { try Vehicle.checkSchema(db) }
            #expect(
                error?.description.split(separator: "\n").map(String.init) == [
                    "2 rows of the table vehicle are of the kind 'Car' in the column kind, which the databaseKinds of Vehicle do not list.",
                    "1 row of the table vehicle is of the kind 'tram' in the column kind, which the databaseKinds of Vehicle do not list.",
                    "Car reads and encodes the column seats, which the table vehicle lacks.",
                ])
            #expect(error?.faults.first?.kind == .unknownKind(kind: "Car".databaseValue, count: 2))
            // One class is asked for its own columns.
            try Truck.checkSchema(db)
            try #expect(#require(throws: SchemaDriftError.self) { try Car.checkSchema(db) }.faults.count == 1)
        }
    }

    // MARK: - Histories

    @Test("Random histories of many classes are as those of a switch by hand", arguments: 0..<8)
    func histories(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 7919 &+ 1)
        let queue = try DatabaseQueue()
        try Self.create(in: queue)
        let kinds: [(kind: String?, type: Vehicle.Type, make: () -> Vehicle)] = [
            ("car", Car.self, Car.init), ("truck", Truck.self, Truck.init), ("bus", Bus.self, Bus.init),
            (nil, Vehicle.self, Vehicle.init),
        ]
        try queue.inDatabase { db in
            for step in 0..<300 {
                let (kind, type, make) = kinds.randomElement(using: &random)!
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1:
                    let vehicle = make()
                    vehicle.name = "n\(step)"
                    try vehicle.insert(db)
                case 2:
                    guard let one = try Vehicle.order(sql: "random()").fetchOne(db) else { continue }
                    one.name += "x"
                    try one.save(db)
                case 3:
                    try db.execute(
                        sql:
                            "UPDATE vehicle SET kind = ? WHERE id = (SELECT id FROM vehicle ORDER BY random() LIMIT 1)",
                        arguments: [kind])
                case 4: try type.updateAll(db, [Column("name").set(to: "u\(step)")])
                case 5: try type.order(sql: "random()").limit(1).deleteAll(db)
                case 6: _ = try Vehicle.order(sql: "random()").fetchOne(db)?.delete(db)
                default: break
                }
                let rows = try Row.fetchAll(db, sql: "SELECT * FROM vehicle ORDER BY id")
                let vehicles = try Vehicle.order(Column("id")).fetchAll(db)
                try #require(rows.count == vehicles.count)
                for (row, vehicle) in zip(rows, vehicles) {
                    let expected: Vehicle.Type =
                        switch try row["kind"] as String? {
                        case "car": Car.self
                        case "truck": Truck.self
                        case "bus": Bus.self
                        default: Vehicle.self
                        }
                    try #require(Swift.type(of: vehicle) == expected)
                    try #expect(vehicle.id == row["id"] && vehicle.name == row["name"])
                    try #expect((vehicle as? Car)?.seats == (vehicle is Car ? row["seats"] : nil))
                    try #expect((vehicle as? Truck)?.load == (vehicle is Truck ? row["load"] : nil))
                    #expect(!vehicle.hasDatabaseChanges)
                }
                for (kind, type, _) in kinds where kind != nil {
                    let count = try rows.count { try $0["kind"] == kind }
                    try #expect(type.fetchCount(db) == count && type.all().fetchAll(db).count == count)
                }
            }
        }
    }

    @Test("Classes are learnt by many threads at once")
    func threads() async throws {
        let live = try LiveDatabase(.pool)
        let pool = live.writer
        defer { withExtendedLifetime(live) {} }
        try await Task { try Self.create(in: pool) }.value
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await pool.read { db in
                        try Vehicle.order(Column("id")).fetchAll(db).map { "\(type(of: $0))" }
                    }
                }
            }
            for try await types in group { #expect(types == ["Car", "Truck", "Bus", "Vehicle", "Car"]) }
        }
    }
}

// MARK: - Classes

private class Yard: Record {
    static let vehicles = hasMany(Vehicle.self).order(Column("id"))
    static let cars = hasMany(Car.self)
    static let buses = hasMany(Bus.self)

    var id: Int64?
    var name = ""

    override class var databaseTableName: String { "yard" }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
    }
}

private class Vehicle: Record {
    static let yard = belongsTo(Yard.self)
    static let whole = belongsTo(Vehicle.self, using: "partOf")
    static let parts = hasMany(Vehicle.self, using: "partOf")

    var id: Int64?
    var name = ""
    var yardID: Int64?
    var partOf: Int64?

    override class var databaseTableName: String { "vehicle" }
    override class var databaseKinds: DatabaseKinds {
        .column("kind", ["car": Car.self, "truck": Truck.self, "bus": Bus.self])
    }

    override func columns(_ column: borrowing RecordColumns) throws {
        try column("id", id) { id = $0 }
        try column("name", name) { name = $0 }
        try column("yardID", yardID) { yardID = $0 }
        try column("partOf", partOf) { partOf = $0 }
    }
}

/// A class that lists its columns.
private class Car: Vehicle {
    var seats: Int?

    override func columns(_ column: borrowing RecordColumns) throws {
        try super.columns(column)
        try column("seats", seats) { seats = $0 }
    }
}

/// A class that overrides the initializer, and has the older pair.
private class Truck: Vehicle {
    var load: Double?

    override init() { super.init() }

    required init(row: Row) throws {
        load = try row["load"]
        try super.init(row: row)
    }

    override func updateFromRow(_ row: Row) throws { load = try row["load"] }
    override func encode(to container: inout PersistenceContainer) throws { container["load"] = load }
}

/// A class that leaves its columns to `Codable`.
private class Bus: Vehicle, Codable {
    var tags: [String]?

    override init() { super.init() }
    required init(row: Row) throws { try super.init(row: row) }
}
