import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests of contract §17: regions, the request for significant changes and the decisions survive
/// the end of the application, the daemon's restart and a reboot. `NotificationStoreTests` tests
/// the behavior that both stores share.
@Suite("§17: The location store (contract.md#location-durable)")
struct LocationStoreTests {
  private typealias Fixture = LocationStoreFixture

  private let folder = TemporaryDirectory()
  private var path: String { folder.file("location.db") }
  private let maps = LocationStoreFixture.maps
  private let places = LocationStoreFixture.places
  private let home = LocationStoreFixture.home
  private let work = LocationStoreFixture.work

  private func store() throws -> LocationStore { try LocationStore(path: path) }

  // MARK: Contents

  @Test("The next daemon reads regions, significant changes and decisions with all their fields")
  func kept() throws {
    let odd = try #require(RegionID("Tee\u{0} \u{1F375}\"'%;\n"))
    let first = Fixture.region(odd, latitude: -90, radius: 100, notifiesOnEntry: false)
    let second = Fixture.region(work, radius: 100_000, notifiesOnExit: false)
    try store().apply([
      .init(.monitor(second), of: maps), .init(.monitor(first), of: maps),
      .init(.report(RegionCrossing(work, isInside: true)), of: maps),
      .init(.monitorSignificantChanges(true), of: maps),
      .init(.authorize(.authorized, wasAsked: true), of: maps),
      .init(.authorize(.notDetermined, wasAsked: true), of: places),
    ])
    let expected = [
      StoredLocationServices(
        application: maps, authorization: .authorized, wasAsked: true,
        monitorsSignificantChanges: true,
        regions: [.init(first, isInside: nil), .init(second, isInside: true)]),
      StoredLocationServices(application: places, wasAsked: true),
    ]
    #expect(try store().contents() == expected)
  }

  @Test("A replaced region has the new values, and its side of the boundary is not known")
  func replaced() throws {
    let store = try store()
    try store.apply(.monitor(Fixture.region(home)), of: maps)
    try store.apply(.report(RegionCrossing(home, isInside: false)), of: maps)
    #expect(try store.contents().first?.regions.map(\.isInside) == [false])
    let next = Fixture.region(home, radius: 300)
    try store.apply(.monitor(next), of: maps)
    #expect(try store.contents().first?.regions == [.init(next, isInside: nil)])
  }

  @Test("The same id in several applications and of several users means different regions")
  func separate() throws {
    let store = try store()
    let other = ApplicationKey(maps.id, owner: UserID(1001))
    for key in [maps, other, places] { try store.apply(.monitor(Fixture.region(home)), of: key) }
    try store.apply(.stopMonitoring(home), of: maps)
    try store.apply(.report(RegionCrossing(home, isInside: true)), of: other)
    try store.apply(.authorize(.denied, wasAsked: true), of: other)
    let contents = try store.contents()
    #expect(contents.map(\.application) == [other, places].sorted())
    #expect(contents.first { $0.application == places }?.regions.map(\.isInside) == [nil])
    #expect(contents.first { $0.application == other }?.regions.map(\.isInside) == [true])
    #expect(contents.first { $0.application == places }?.authorization == .notDetermined)
  }

  @Test("The report of a region that was removed has no effect")
  func lateReport() throws {
    let store = try store()
    try store.apply(.report(RegionCrossing(home, isInside: true)), of: maps)
    #expect(try store.contents().isEmpty)
  }

  @Test("An application about which nothing is known any more takes no space")
  func pruned() throws {
    let store = try store()
    try store.apply(.monitorSignificantChanges(true), of: maps)
    try store.apply(.authorize(.denied, wasAsked: true), of: maps)
    try store.apply(.monitorSignificantChanges(false), of: maps)
    #expect(try store.contents().map(\.authorization) == [.denied])
    try store.apply(.authorize(.notDetermined, wasAsked: false), of: maps)
    #expect(try store.database.integer("SELECT count(*) FROM application") == 0)
  }

  @Test("After 2000 changes, the store contains what follows from them, one after the other")
  func model() throws {
    let store = try store()
    var model = LocationStoreModel()
    var generator = StoreFixture.Generator()
    for number in 1...2000 {
      let key = Bool.random(using: &generator) ? maps : places
      let region = Fixture.region(UInt64.random(in: 1...12, using: &generator))
      let flag = Bool.random(using: &generator)
      let change: LocationChange =
        switch Int.random(in: 0..<6, using: &generator) {
        case 0, 1: .monitor(region)
        case 2: .stopMonitoring(region.id)
        case 3: .monitorSignificantChanges(flag)
        case 4: .report(RegionCrossing(region.id, isInside: flag))
        case _:
          .authorize(
            LocationAuthorization.allCases.randomElement(using: &generator) ?? .denied,
            wasAsked: flag)
        }
      // A daemon repeats changes that the previous daemon may have written.
      let changes = Array(
        repeating: LocationStore.Change(change, of: key), count: flag ? 1 : 2)
      try store.apply(changes)
      model.apply(changes[0])
      if number % 50 == 0 { #expect(try store.contents() == model.contents, "\(number)") }
    }
    #expect(try store.regionCount() > 5)
  }

  @Test("A sequence of changes that is written twice has the same result as written once")
  func twice() throws {
    let store = try store()
    let changes: [LocationStore.Change] = [
      .init(.monitor(Fixture.region(home)), of: maps),
      .init(.monitor(Fixture.region(work)), of: maps),
      .init(.report(RegionCrossing(home, isInside: true)), of: maps),
      .init(.monitorSignificantChanges(true), of: maps),
      .init(.authorize(.authorized, wasAsked: true), of: maps),
      .init(.stopMonitoring(work), of: maps), .init(.monitorSignificantChanges(false), of: maps),
      .init(.authorize(.denied, wasAsked: true), of: maps),
    ]
    for count in changes.indices {
      try store.apply(Array(changes[...count]))
      let contents = try store.contents()
      try store.apply([changes[count]])
      #expect(try store.contents() == contents, "the change alone")
      try store.apply(Array(changes[...count]))
      #expect(try store.contents() == contents, "from the beginning, up to \(count)")
    }
  }

  // MARK: Durability

  @Test("A change is synced before its reply, and a stop moves all changes to the database")
  func synced() throws {
    do {
      let store = try store()
      // The value 2 means FULL.
      #expect(try store.database.integer("PRAGMA synchronous") == 2)
      #expect(try store.database.text("PRAGMA journal_mode") == "wal")
      try store.apply(.monitor(Fixture.region(home)), of: maps)
      #expect(FileStatus(path: path)?.permissions == 0o600)
      try store.checkpoint()
      #expect(try FileDescriptor.open(reading: path + "-wal").readToEnd().isEmpty)
    }
    #expect(try store().regionCount() == 1)
  }

  @Test("A stored region survives kill -9 during the next transaction")
  func killed() async throws {
    let (path, acknowledged) = (path, folder.file("acknowledged"))
    for round in 1...8 as ClosedRange<Int32> {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, file = acknowledged as String, round = round as Int32] in
        let store = try LocationStore(path: path)
        var count = try store.regionCount()
        try StoreFixture.repeatUntilKilled(microseconds: 3_000 * round) {
          // Stores two regions in one transaction: both of them or none.
          try store.apply(
            (1...2).map {
              .init(
                .monitor(LocationStoreFixture.region(UInt64(count + $0))),
                of: LocationStoreFixture.maps)
            })
          count += 2
          StoreFixture.setCount(count, in: file)
        }
      }
      let store = try LocationStore(path: path)
      #expect(store.setAside == nil)
      let (last, there) = (StoreFixture.count(in: acknowledged), try store.regionCount())
      #expect(there % 2 == 0)
      #expect(last <= there && there <= last + 2, "\(last), \(there)")
      StoreFixture.setCount(there, in: acknowledged)
    }
    #expect(StoreFixture.count(in: acknowledged) > 20)
  }

  // MARK: Other files

  @Test("A store of notifications at the path is not taken for a location store")
  func otherStore() throws {
    do {
      let other = try NotificationStore(path: path)
      try other.apply([StoreFixture.schedule(1, StoreFixture.mail)])
    }
    let store = try store()
    #expect(store.setAside?.path == path + ".damaged")
    #expect(store.setAside?.salvagedCount == 0)
    #expect(try NotificationStore(path: path + ".damaged").list().count == 1)
  }

  @Test("A second daemon is refused while the first lives")
  func twoDaemons() throws {
    let first = try store()
    let error = #expect(throws: StoreError.self) { _ = try store() }
    #expect(error?.kind == .inUse)
    try first.apply(.monitor(Fixture.region(home)), of: maps)
  }

  @Test("A newer daemon's file is refused and not changed, and the error names the remedy")
  func newer() throws {
    do {
      let store = try store()
      try store.apply(.monitor(Fixture.region(home)), of: maps)
      let id = try #require(try store.database.integer("PRAGMA application_id"))
      try store.database.execute(
        "PRAGMA user_version = 2; PRAGMA application_id = \((id & ~0xff) | 2)")
    }
    let error = #expect(throws: StoreError.self) { _ = try store() }
    #expect(error?.kind == .newer)
    #expect(error?.message.hasSuffix("to begin without its location data") == true)
    #expect(try Database(path: path).integer("SELECT count(*) FROM region") == 1)
  }
}
