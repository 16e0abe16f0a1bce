import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The layer over SQLite")
struct DatabaseTests {
  private let folder = TemporaryDirectory()

  private func database() throws -> Database {
    folder.write("test.db", "")
    let database = try Database(path: folder.file("test.db"))
    try database.execute("CREATE TABLE pair (key INTEGER PRIMARY KEY, value TEXT) STRICT")
    return database
  }

  private func pairs(_ database: Database) throws -> [Int64: String?] {
    let rows = try database.rows("SELECT key, value FROM pair") { row in
      row.integer(0).map { ($0, row.text(1)) }
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  @Test("A bound value is read back unchanged, even if it is NULL or contains NUL characters")
  func values() throws {
    let database = try database()
    let texts: [Int64: String?] = [
      .min: nil, -1: "", 0: "a\u{0}b", 1: "\u{1F375} '; DROP TABLE pair; --", .max: "\u{0}",
    ]
    for (key, text) in texts {
      try database.run("INSERT INTO pair VALUES (?, ?)", [.integer(key), .text(text)])
    }
    #expect(try pairs(database) == texts)
    #expect(try database.integer("SELECT count(*) FROM pair WHERE value IS NULL") == 1)
  }

  @Test("A column of another type is read as NULL")
  func types() throws {
    let database = try database()
    #expect(try database.integer("SELECT 'x'") == nil)
    #expect(try database.text("SELECT 7") == nil)
    #expect(try database.text("SELECT x'41'") == nil)
    #expect(try database.text("SELECT CAST(x'ff41' AS TEXT)") == "\u{FFFD}A")
  }

  @Test("A transaction that fails leaves nothing behind, and the next transaction succeeds")
  func rollback() throws {
    let database = try database()
    let insert = "INSERT INTO pair VALUES (?, ?)"
    let error = #expect(throws: DatabaseError.self) {
      try database.transaction { () throws(DatabaseError) in
        try database.run(insert, [.integer(1), .text("one")])
        try database.run(insert, [.integer(1), .text("again")])
      }
    }
    // The code 1555 is SQLITE_CONSTRAINT_PRIMARYKEY.
    #expect(error?.code == 1555)
    #expect(try pairs(database).isEmpty)
    try database.transaction { () throws(DatabaseError) in
      try database.run(insert, [.integer(1), .text("one")])
    }
    #expect(try pairs(database) == [1: "one"])
  }

  @Test("An error names SQLite's extended code, its message and the statement")
  func errors() throws {
    let database = try database()
    let error = #expect(throws: DatabaseError.self) { try database.run("SELECT x FROM pair") }
    #expect(error?.kind == .unfit)
    #expect(error?.description == "no such column: x (SQLite's code 1), at: SELECT x FROM pair")
    let missing = #expect(throws: DatabaseError.self) {
      let other = try Database(path: folder.file("missing.db"))
      try other.run("SELECT 1 FROM pair")
    }
    #expect(missing?.kind == .unwritable)
    #expect(missing?.description.contains("No such file or directory (ENOENT)") == true)
  }

  @Test("A statement that was left before its last row can be run again")
  func left() throws {
    let database = try database()
    for key in 1...3 as ClosedRange<Int64> {
      try database.run("INSERT INTO pair VALUES (?, NULL)", [.integer(key)])
    }
    for _ in 1...2 {
      var seen: [Int64?] = []
      try database.eachRow("SELECT key FROM pair ORDER BY key") { row in
        seen.append(row.integer(0))
        return seen.count < 2
      }
      #expect(seen == [1, 2])
    }
    try database.execute("DROP TABLE pair")
  }

  @Test("A statement is compiled once, however often it runs")
  func prepared() throws {
    let database = try database()
    for key in 1...5 as ClosedRange<Int64> {
      try database.run("INSERT INTO pair VALUES (?, NULL)", [.integer(key)])
    }
    let runs = try database.integer(
      "SELECT run FROM sqlite_stmt WHERE sql LIKE 'INSERT INTO pair%'")
    #expect(runs == 5)
  }
}
