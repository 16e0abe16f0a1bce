import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§17: The daemon reports a change about the location as stored when it is durable")
struct LocationTransactionsTests {
  private let folder = TemporaryDirectory()
  private let watcher: LocationWatcher
  private let maps = LocationStoreFixture.maps
  private var path: String { folder.file("location.db") }

  init() throws { watcher = try LocationWatcher() }

  private func transactions(path: String?) throws -> LocationTransactions {
    try LocationTransactions(
      path: path, loop: watcher.loop, log: Log(target: .stderr, level: .error), post: watcher.post)
  }

  private func monitor(_ number: UInt64) -> LocationStore.Change {
    .init(.monitor(LocationStoreFixture.region(number)), of: maps)
  }

  /// Returns the number of regions in the file, after the writer's thread has closed the file.
  private func storedRegionCount() throws -> Int? {
    var count: Int?
    try watcher.wait(for: "the file to be closed") {
      count = try? LocationStore(path: path).regionCount()
      return count != nil
    }
    return count
  }

  private func waitForEvents(to count: Int) throws {
    try watcher.wait(for: "\(count) events") { watcher.events.count >= count }
  }

  /// Adds a trigger to the database, which must not be open.
  private func obstruct(_ number: UInt64, _ statement: String) throws {
    try LocationStore(path: path).database.execute(
      """
      CREATE TABLE number AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
        SELECT i FROM n;
      CREATE TRIGGER obstacle BEFORE INSERT ON region WHEN new.id = 'region \(number)' BEGIN
        \(statement);
      END;
      """)
  }

  private static let slow = "SELECT count(*) FROM number AS a, number AS b WHERE a.i + b.i < 0"

  // MARK: Storing

  @Test("Changes are reported as stored in their order")
  func order() throws {
    let transactions = try transactions(path: path)
    transactions.serve()
    for number in 1...40 as ClosedRange<UInt64> {
      transactions.store(TransactionID(number), monitor(number))
    }
    try waitForEvents(to: 40)
    #expect(watcher.events == (1...40).map { .stored(TransactionID($0)) })
  }

  @Test("The event loop serves others while the disk is slow")
  func slowDisk() throws {
    try obstruct(1, Self.slow)
    let transactions = try transactions(path: path)
    transactions.serve()
    var served = 0
    let other = try watcher.loop.soon { served += 1 }
    transactions.store(TransactionID(1), monitor(1))
    for _ in 1...100 {
      other.request()
      try watcher.loop.turn(within: .seconds(60))
    }
    #expect(served == 100 && watcher.events.isEmpty)
    try waitForEvents(to: 1)
  }

  @Test("finish() waits until all changes are on the disk and reported")
  func finished() throws {
    try obstruct(1, Self.slow)
    do {
      let transactions = try transactions(path: path)
      transactions.serve()
      for number in 1...5 as ClosedRange<UInt64> {
        transactions.store(TransactionID(number), monitor(number))
      }
      transactions.finish()
      #expect(watcher.events == (1...5).map { .stored(TransactionID($0)) })
    }
    #expect(try storedRegionCount() == 5)
  }

  @Test("A change that cannot be stored is reported with the reason, and others are stored")
  func failing() throws {
    try obstruct(2, "SELECT RAISE(ABORT, 'the disk refuses it')")
    let transactions = try transactions(path: path)
    transactions.serve()
    for number in 1...3 as ClosedRange<UInt64> {
      transactions.store(TransactionID(number), monitor(number))
    }
    try waitForEvents(to: 3)
    #expect(watcher.events[0] == .stored(TransactionID(1)))
    guard case .storeFailed(TransactionID(2), let reason) = watcher.events[1] else {
      throw SystemError(call: "\(watcher.events)", errno: 0)
    }
    #expect(reason.contains("the disk refuses it"))
    #expect(reason.hasPrefix("location data cannot be kept in \(path)"))
    #expect(watcher.events[2] == .stored(TransactionID(3)))
  }

  // MARK: Starting

  @Test("Before serve(), changes wait; then each is written once, in the order of the ids")
  func held() throws {
    do {
      let transactions = try transactions(path: path)
      // A new daemon finishes an interrupted event before it repeats earlier changes.
      transactions.store(TransactionID(3), monitor(3))
      transactions.store(
        TransactionID(1), .init(.stopMonitoring(LocationStoreFixture.region(3).id), of: maps))
      transactions.store(TransactionID(3), monitor(3))
      try watcher.settle()
      #expect(watcher.events.isEmpty)
      transactions.serve()
      transactions.store(TransactionID(4), monitor(4))
      try waitForEvents(to: 3)
    }
    #expect(watcher.events == [1, 3, 4].map { .stored(TransactionID($0)) })
    #expect(try storedRegionCount() == 2)
  }

  @Test("load() reports the contents of the store")
  func loads() throws {
    do {
      let store = try LocationStore(path: path)
      try store.apply([monitor(1)])
      try store.apply(.monitorSignificantChanges(true), of: maps)
      try store.apply(.authorize(.denied, wasAsked: true), of: LocationStoreFixture.places)
    }
    try transactions(path: path).load()
    #expect(
      watcher.events == [
        .loaded([
          StoredLocationServices(
            application: maps, monitorsSignificantChanges: true,
            regions: [.init(LocationStoreFixture.region(1), isInside: nil)]),
          StoredLocationServices(
            application: LocationStoreFixture.places, authorization: .denied, wasAsked: true),
        ])
      ])
  }

  @Test("Without a state directory, each change is refused, and there is nothing to load")
  func withoutDirectory() throws {
    let transactions = try transactions(path: nil)
    transactions.load()
    transactions.serve()
    transactions.store(TransactionID(1), monitor(1))
    #expect(
      watcher.events == [
        .storeFailed(TransactionID(1), reason: "the daemon has no state directory")
      ])
    transactions.finish()
  }

  @Test("If the store cannot be opened, each change is refused with the reason")
  func unusable() throws {
    let first = try LocationStore(path: path)
    let transactions = try transactions(path: path)
    transactions.load()
    transactions.serve()
    transactions.store(TransactionID(1), monitor(1))
    guard case .storeFailed(TransactionID(1), let reason)? = watcher.events.first else {
      throw SystemError(call: "\(watcher.events)", errno: 0)
    }
    #expect(reason.contains("another process uses \(path)"))
    #expect(try first.contents().isEmpty)
  }
}
