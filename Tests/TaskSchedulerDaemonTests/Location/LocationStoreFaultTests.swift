import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The location store on a failing disk")
struct LocationStoreFaultTests {
  private let folder = TemporaryDirectory()
  private var path: String { folder.file("location.db") }
  private let maps = LocationStoreFixture.maps
  private let places = LocationStoreFixture.places

  private func write(_ bytes: [UInt8]) {
    let number = open(path, O_WRONLY | O_TRUNC)
    #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
    close(number)
  }

  /// Writes a store of several pages, and returns its bytes.
  private func filled() throws -> [UInt8] {
    let store = try LocationStore(path: path)
    try store.apply((1...400).map { .init(.monitor(LocationStoreFixture.region($0)), of: maps) })
    try store.apply(.authorize(.authorized, wasAsked: true), of: maps)
    try store.apply(.authorize(.denied, wasAsked: true), of: places)
    try store.checkpoint()
    return try BoundedFileBytes.of(path)
  }

  @Test("A file that is not a database is renamed and reported, and does not prevent the start")
  func garbage() throws {
    folder.write("location.db", "garbage")
    let store = try LocationStore(path: path)
    let aside = try #require(store.setAside)
    #expect(aside.path == path + ".damaged")
    #expect(aside.salvagedCount == 0)
    #expect(try BoundedFileBytes.of(aside.path) == Array("garbage".utf8))
    try store.apply(.monitor(LocationStoreFixture.region(1)), of: maps)
    #expect(try store.regionCount() == 1)
  }

  @Test("With any damaged page, the readable regions and decisions are recovered")
  func damagedPages() throws {
    let whole = try filled()
    #expect(whole.count >= 8 * 4096)
    var best = 0
    for page in 0..<whole.count / 4096 {
      var damaged = whole
      for index in page * 4096..<(page + 1) * 4096 {
        damaged[index] = UInt8(truncatingIfNeeded: index * 7)
      }
      write(damaged)
      let store = try LocationStore(path: path)
      let contents = try store.contents()
      let aside = try #require(store.setAside, "page \(page)")
      let decisionCount = contents.count { $0.authorization != .notDetermined }
      let regionCount = contents.reduce(0) { $0 + $1.regions.count }
      #expect(aside.salvagedCount == regionCount + decisionCount, "page \(page)")
      #expect(contents.allSatisfy { [maps, places].contains($0.application) })
      for stored in contents.flatMap(\.regions) {
        #expect(stored.region == LocationStoreFixture.region(stored.region.id))
      }
      best = max(best, regionCount)
    }
    // Damage to one page loses only the regions of that page.
    #expect(best > 300)
  }

  @Test(
    "A file that is truncated or has a changed byte in its first page does not prevent the start")
  func cut() throws {
    let whole = try filled()
    for count in stride(from: 0, to: whole.count, by: 2500) {
      write(Array(whole[..<count]))
      _ = try LocationStore(path: path).contents()
    }
    for index in stride(from: 0, to: 4096, by: 13) {
      var changed = whole
      changed[index] ^= 0xff
      write(changed)
      do throws(StoreError) {
        _ = try LocationStore(path: path).contents()
      } catch {
        Issue.record("byte \(index): \(error)")
      }
    }
  }

  @Test("Rows with invalid values are skipped, and the other rows are read")
  func edited() throws {
    do {
      let store = try LocationStore(path: path)
      try store.apply((1...6).map { .init(.monitor(LocationStoreFixture.region($0)), of: maps) })
      try store.apply(.authorize(.denied, wasAsked: true), of: places)
      try store.apply(.authorize(.denied, wasAsked: true), of: maps)
      try store.database.execute(
        """
        UPDATE region SET latitude = 90.5 WHERE id = 'region 1';
        UPDATE region SET radius = 99.5 WHERE id = 'region 2';
        UPDATE region SET id = '' WHERE id = 'region 3';
        UPDATE region SET application = 'no id' WHERE id = 'region 4';
        UPDATE region SET owner = -1 WHERE id = 'region 5';
        UPDATE application SET authorization = 'perhaps' WHERE id = '\(places.id.name)';
        """)
    }
    let contents = try LocationStore(path: path).contents()
    #expect(contents.map(\.application) == [maps])
    #expect(contents.map(\.authorization) == [.denied])
    #expect(contents[0].regions.map(\.region) == [LocationStoreFixture.region(6)])
  }

  @Test("If a directory is at the path of the store, the error says so and names the contents")
  func wrongKind() throws {
    mkdir(path, 0o700)
    let error = #expect(throws: StoreError.self) { _ = try LocationStore(path: path) }
    #expect(error?.kind == .unwritable)
    #expect(
      error?.message == "location data cannot be kept in \(path): \(path) is a directory, and must "
        + "be a regular file or absent; remove it")
  }

  @Test(
    """
    On a full disk, new regions are refused; regions can be removed and applications denied, one \
    after the other
    """,
    .enabled(if: geteuid() == 0, "only root can mount a small disk"), arguments: [1000, 8000])
  func full(kilobytes: Int) async {
    await #expect(processExitsWith: .success) { [path = folder.path as String, kilobytes] in
      SmallDisk.mount(path, bytes: kilobytes << 10)
      let maps = LocationStoreFixture.maps
      let store = try LocationStore(path: path + "/location.db")
      try store.apply(.authorize(.authorized, wasAsked: true), of: maps)
      SmallDisk.fill(path + "/ballast", leaving: 40 << 10, in: path)
      var failure: StoreError?
      var last: UInt64 = 0
      while failure == nil {
        do throws(StoreError) {
          try store.apply(.monitor(LocationStoreFixture.region(last + 1)), of: maps)
          last += 1
        } catch {
          failure = error
        }
      }
      #expect(failure?.kind == .full)
      #expect(failure?.message.hasPrefix("location data cannot be written to") == true)
      #expect(try store.regionCount() == Int(last))
      SmallDisk.fill(path + "/rest", leaving: 0, in: path)
      try store.apply(.authorize(.denied, wasAsked: true), of: maps)
      for number in 1...last {
        // Another program uses the space that becomes free.
        unlink(path + "/rest")
        SmallDisk.fill(path + "/rest", leaving: 0, in: path)
        try store.apply(.stopMonitoring(LocationStoreFixture.region(number).id), of: maps)
      }
      let contents = try store.contents()
      #expect(contents.map(\.authorization) == [.denied])
      #expect(contents.flatMap(\.regions).isEmpty)
    }
  }
}
