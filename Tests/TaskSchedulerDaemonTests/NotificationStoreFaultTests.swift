import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("The notification store on a failing disk")
struct NotificationStoreFaultTests {
  private let folder = TemporaryDirectory()
  private var path: String { folder.file("notifications.db") }
  private let mail = StoreFixture.mail

  private func fill(_ count: UInt64) throws {
    let body = String(repeating: "x", count: 300)
    let store = try NotificationStore(path: path)
    try store.apply((1...count).map { StoreFixture.schedule($0, mail, body: body) })
    try store.apply([.badge(mail, 5)])
  }

  private func bytes() throws -> [UInt8] { try BoundedFileBytes.of(path) }

  private func write(_ bytes: [UInt8]) {
    let number = open(path, O_WRONLY | O_TRUNC)
    #expect(Glibc.write(number, bytes, bytes.count) == bytes.count)
    close(number)
  }

  // MARK: Damage

  @Test(
    "A file that is not a database is renamed and reported, and does not prevent the start",
    arguments: ["garbage", String(repeating: "SQLite format 3\u{0}", count: 600)])
  func garbage(text: String) throws {
    folder.write("notifications.db", text)
    let store = try NotificationStore(path: path)
    let aside = try #require(store.setAside)
    #expect(aside.path == path + ".damaged")
    #expect(aside.salvagedCount == 0)
    #expect(try BoundedFileBytes.of(aside.path) == Array(text.utf8))
    #expect(try store.list().isEmpty)
    try store.apply([StoreFixture.schedule(2_000_000_000_000, mail)])
    #expect(FileStatus(path: path)?.permissions == 0o600)
  }

  @Test("With any damaged page, the readable notifications are recovered, and no id is reused")
  func damagedPages() throws {
    try fill(200)
    let whole = try bytes()
    #expect(whole.count > 20 * 4096)
    for page in 0..<whole.count / 4096 {
      var damaged = whole
      for index in page * 4096..<(page + 1) * 4096 {
        damaged[index] = UInt8(truncatingIfNeeded: index * 7)
      }
      write(damaged)
      let store = try NotificationStore(path: path)
      let there = try store.list()
      let aside = try #require(store.setAside, "page \(page)")
      #expect(aside.salvagedCount == there.count)
      #expect(there.allSatisfy { $0.application == mail && $0.id.number <= 200 })
      #expect(try store.idLast().number > 1_700_000_000_000)
    }
    // Damage to one page loses only the notifications of that page, about a dozen.
    var damaged = whole
    for index in 12 * 4096..<13 * 4096 { damaged[index] = 0xff }
    write(damaged)
    let store = try NotificationStore(path: path)
    #expect(try store.list().count > 150)
    #expect(try store.contents().badges == [mail: 5])
  }

  @Test(
    "A file that is truncated or has a changed byte in its first page does not prevent the start")
  func cut() throws {
    try fill(60)
    let whole = try bytes()
    for count in stride(from: 0, to: whole.count, by: 2500) {
      write(Array(whole[..<count]))
      _ = try NotificationStore(path: path).list()
    }
    // Changes each byte of the header, and some of the other bytes of the first page.
    for index in Array(0..<100) + stride(from: 104, to: 4096, by: 13) {
      var changed = whole
      changed[index] ^= 0xff
      write(changed)
      do throws(StoreError) {
        _ = try NotificationStore(path: path).list()
      } catch {
        Issue.record("byte \(index): \(error)")
      }
    }
  }

  @Test("Rows with invalid values are skipped, and the other rows are read")
  func edited() throws {
    try fill(3)
    do {
      let store = try NotificationStore(path: path)
      try store.database.execute(
        """
        UPDATE notification SET application = 'no id' WHERE id = 1;
        UPDATE notification SET repeats = 'fortnight' WHERE id = 2;
        """)
    }
    #expect(try NotificationStore(path: path).list().map(\.id.number) == [3])
  }

  // MARK: Unusable paths and full disks

  @Test(
    """
    If a directory, pipe or device is at the path of the store or of its log, the error names \
    the kind
    """,
    arguments: ["", "-wal", "-journal"])
  func wrongKinds(suffix: String) throws {
    let place = path + suffix
    try NotificationStore(path: path).apply([StoreFixture.schedule(1, mail)])
    let makers: [(String, () -> Int32)] = [
      ("a directory", { mkdir(place, 0o700) }), ("a pipe", { mkfifo(place, 0o600) }),
      ("a device", { symlink("/dev/zero", place) }),
    ]
    for (kind, make) in makers {
      unlink(place)
      rmdir(place)
      #expect(make() == 0)
      let error = #expect(throws: StoreError.self) { _ = try NotificationStore(path: path) }
      #expect(error?.kind == .unwritable)
      #expect(
        error?.message == "notifications cannot be kept in \(path): \(place) is \(kind), and must "
          + "be a regular file or absent; remove it")
    }
  }

  @Test("If a file is in the place of the store's directory, the error names the file")
  func wrongFolder() throws {
    folder.write("file", "")
    let other = #expect(throws: StoreError.self) {
      _ = try NotificationStore(path: folder.file("file/notifications.db"))
    }
    #expect(other?.kind == .unwritable)
    #expect(other?.message.contains(folder.file("file")) == true)
  }

  @Test(
    "On a full disk, new notifications are refused and stored notifications are kept",
    .enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func full() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      SmallDisk.mount(path, bytes: 1 << 20)
      let ballast = path + "/ballast"
      let store = try NotificationStore(path: path + "/notifications.db")
      var written: [UInt64] = []
      var failure: StoreError?
      let body = String(repeating: "x", count: 2_000)
      for id in 1...1_000 as ClosedRange<UInt64> where failure == nil {
        // Two notifications at a time, so that half of a transaction might fit.
        let ids = [2 * id - 1, 2 * id]
        do throws(StoreError) {
          try store.apply(ids.map { StoreFixture.schedule($0, StoreFixture.mail, body: body) })
          written += ids
        } catch {
          failure = error
        }
        if id == 20 { SmallDisk.fill(ballast, leaving: 100 << 10, in: path) }
      }
      #expect(failure?.kind == .full)
      #expect(failure?.message.contains("no space is left") == true)
      #expect(try store.list().map(\.id.number) == written)
      #expect(written.count >= 40)
      unlink(ballast)
      try store.apply([StoreFixture.schedule(9_999, StoreFixture.mail)])
      #expect(try store.list().map(\.id.number) == written + [9_999])
    }
  }

  @Test(
    "On a full disk, notifications and badges can be removed, one after the other",
    .enabled(if: geteuid() == 0, "only root can mount a small disk"), arguments: [2000, 16_000])
  func removalOnFullDisk(kilobytes: Int) async {
    await #expect(processExitsWith: .success) { [path = folder.path as String, kilobytes] in
      SmallDisk.mount(path, bytes: kilobytes << 10)
      let store = try NotificationStore(path: path + "/notifications.db")
      let mail = StoreFixture.mail
      let body = String(repeating: "x", count: 4_000)
      try store.apply((1...20).map { StoreFixture.schedule($0, mail, body: body) })
      try store.apply([.badge(mail, 5)])
      // Most of the write-ahead log has not been copied into the database's file yet.
      SmallDisk.fill(path + "/ballast", leaving: 40 << 10, in: path)
      var failure: StoreError?
      var last: UInt64 = 20
      while failure == nil {
        do throws(StoreError) {
          try store.apply([StoreFixture.schedule(last + 1, mail, body: body)])
          last += 1
        } catch {
          failure = error
        }
      }
      #expect(failure?.kind == .full)
      SmallDisk.fill(path + "/rest", leaving: 0, in: path)
      for id in 1...last {
        try store.apply([.removed(NotificationID(id))])
        // Another program uses the space that becomes free.
        unlink(path + "/rest")
        SmallDisk.fill(path + "/rest", leaving: 0, in: path)
      }
      try store.apply([.badge(mail, 0)])
      #expect(try store.list().isEmpty)
      #expect(try store.contents().badges.isEmpty)
    }
  }

  @Test(
    "On a full disk, the store cannot be created, and the error is of the kind full",
    .enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func fullFromTheStart() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      SmallDisk.mount(path, bytes: 128 << 10)
      SmallDisk.fill(path + "/ballast", leaving: 4 << 10, in: path)
      let database = path + "/notifications.db"
      let error = #expect(throws: StoreError.self) { _ = try NotificationStore(path: database) }
      #expect(error?.kind == .full)
      unlink(path + "/ballast")
      try NotificationStore(path: database).apply([StoreFixture.schedule(1, StoreFixture.mail)])
    }
  }

  @Test(
    "On a read-only disk, the error says that the file system is read-only",
    .enabled(if: geteuid() == 0, "only root can mount a read-only disk"))
  func readOnly() async {
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      SmallDisk.mount(path, bytes: 1 << 20)
      let database = path + "/notifications.db"
      try NotificationStore(path: database).apply([StoreFixture.schedule(1, StoreFixture.mail)])
      SmallDisk.makeReadOnly(path)
      let error = #expect(throws: StoreError.self) { _ = try NotificationStore(path: database) }
      #expect(error?.kind == .unwritable)
      #expect(error?.message.contains("Read-only file system") == true)
      let missing = path + "/other/notifications.db"
      let other = #expect(throws: StoreError.self) { _ = try NotificationStore(path: missing) }
      #expect(other?.kind == .unwritable)
    }
  }
}
