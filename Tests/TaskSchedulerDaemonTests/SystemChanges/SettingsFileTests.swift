import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("A change of the time zone")
struct TimeZoneProviderTests {
  private let etc = SimulatedEtc()
  private let watcher: ChangeWatcher
  private let readCounter = ReadCounter()
  private let provider: TimeZoneProvider

  /// The number of times that the provider has read the settings.
  private final class ReadCounter {
    var count = 0
  }

  init() throws {
    watcher = try ChangeWatcher()
    provider = TimeZoneProvider(
      loop: watcher.loop, etc: etc.path, report: watcher.report,
      rulesChanged: { [readCounter] in readCounter.count += 1 })
  }

  private func waitForLook(_ count: Int) throws {
    try watcher.wait(for: "a reading by the provider") { readCounter.count >= count }
  }

  @Test("A replaced link of the time zone is reported with the zone's name")
  func renamed() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.setZone("America/New_York")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "America/New_York"))
    try etc.setZone("Asia/Kathmandu")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Asia/Kathmandu"))
    #expect(readCounter.count == 2)
  }

  @Test("A link that is removed and created again, as by ln -sf, is reported once")
  func removed() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    unlink(etc.folder.file("localtime"))
    try etc.setZone("Etc/GMT+5")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Etc/GMT+5"))
    #expect(watcher.changes.isEmpty)
  }

  @Test("An unchanged zone is not reported, and its rules are read again")
  func same() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.setZone("Europe/Berlin")
    try waitForLook(1)
    #expect(watcher.changes.isEmpty)
    try etc.replace("timezone", "Asia/Tokyo\n")
    try waitForLook(2)
    #expect(
      watcher.changes.isEmpty, "the link names the zone, and the file timezone does not matter")
  }

  @Test("Changes of other files are ignored")
  func others() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.replace("resolv.conf", "nameserver 192.0.2.1\n")
    try etc.makeFolder("localtime.d")
    try watcher.loop.turn(within: .seconds(1))
    try etc.setZone("Asia/Tokyo")
    #expect(try watcher.next().value == "Asia/Tokyo")
    #expect(readCounter.count == 1)
  }

  @Test("If localtime is not a link, /etc/timezone names the zone, or else the zone has no name")
  func copied() throws {
    func copy(_ zone: String) throws {
      let bytes = try FileDescriptor.open(reading: "/usr/share/zoneinfo/\(zone)").readToEnd()
      let fresh = etc.folder.file(".new")
      let file = FileDescriptor(taking: creat(fresh, 0o644))
      #expect(try bytes.withUnsafeBytes { try file.write($0) } == bytes.count)
      #expect(rename(fresh, etc.folder.file("localtime")) == 0)
    }
    try copy("Europe/Berlin")
    etc.folder.write("timezone", "Europe/Berlin\n")
    try provider.start()
    try copy("Asia/Tokyo")
    try etc.replace("timezone", "Asia/Tokyo\n")
    #expect(try watcher.next().value == "Asia/Tokyo")
    unlink(etc.folder.file("timezone"))
    #expect(try watcher.next() == SystemChange(kind: .timeZone), "the zone has no name now")
    try copy("Asia/Tokyo")
    try waitForLook(3)
    #expect(watcher.changes.isEmpty)
    try copy("Asia/Kathmandu")
    #expect(try watcher.next() == SystemChange(kind: .timeZone))
  }

  @Test("Without any setting the zone is UTC")
  func gone() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    unlink(etc.folder.file("localtime"))
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "UTC"))
  }

  @Test("A name that could not be a zone's is ignored", arguments: ["../x y", "a\u{1b}[2J", ""])
  func names(_ name: String) throws {
    guard symlink("/usr/share/zoneinfo/\(name)", etc.folder.file("localtime")) == 0 else {
      throw SystemError(call: "symlink", errno: errno)
    }
    #expect(MachineZone(etc: etc.path).name == nil)
  }

  @Test("Without the directory of localtime, the zone cannot be watched")
  func noFolder() throws {
    let lost = TimeZoneProvider(
      loop: watcher.loop, etc: etc.path + "/none", report: watcher.report, rulesChanged: {})
    #expect(throws: SystemError.self) { try lost.start() }
  }
}

@Suite("A change of the locale")
struct LocaleProviderTests {
  private let etc = SimulatedEtc()
  private let watcher: ChangeWatcher
  private let provider: LocaleProvider

  init() throws {
    watcher = try ChangeWatcher()
    provider = LocaleProvider(loop: watcher.loop, etc: etc.path, report: watcher.report)
  }

  @Test("A changed LANG in locale.conf is reported")
  func changed() throws {
    try etc.replace("locale.conf", "LANG=en_US.UTF-8\n")
    try provider.start()
    try etc.replace("locale.conf", "LANG=\"de_DE.UTF-8\"\nLC_TIME=C\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "de_DE.UTF-8"))
    // Only LC_TIME changes.
    try etc.replace("locale.conf", "LANG=de_DE.UTF-8\nLC_TIME=de_DE.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "de_DE.UTF-8"))
    unlink(etc.folder.file("locale.conf"))
    #expect(try watcher.next() == SystemChange(kind: .locale))
  }

  @Test("A changed file with the same locale is not reported")
  func same() throws {
    try etc.replace("locale.conf", "LANG=en_US.UTF-8\n")
    try provider.start()
    try etc.replace("locale.conf", "# spoken here\nLANG='en_US.UTF-8' \nFOO=bar\n")
    try watcher.wait(for: "a reading by the provider") { provider.readCount == 1 }
    try etc.replace("locale.conf", "LANG=fr_FR.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "fr_FR.UTF-8"))
    #expect(watcher.changes.isEmpty)
  }

  @Test("Debian's file default/locale is watched even if its directory is created later")
  func debian() throws {
    try provider.start()
    try etc.makeFolder("default")
    try watcher.wait(for: "a reading by the provider") { provider.readCount == 1 }
    etc.folder.write("default/locale", "LANG=es_ES.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "es_ES.UTF-8"))
    try etc.replace("locale.conf", "LANG=pt_BR.UTF-8\n")
    #expect(try watcher.next().value == "pt_BR.UTF-8", "locale.conf comes first")
  }

  @Test(
    "Lines are read with and without quotes, and values that are not locales are ignored",
    arguments: [
      ("LANG=C.UTF-8", "C.UTF-8"), ("  LANG=\"de_DE@euro\"", "de_DE@euro"),
      ("LANG='en_GB'", "en_GB"), ("LANG=en_GB # British", "en_GB"), ("LANG=", nil),
      ("LANG=\"en_GB", nil), ("LANG=\u{1b}[2J", nil), ("LANGUAGE=de", nil), ("LANG", nil),
      ("#LANG=C", nil), ("LANG=a\nLANG=b", "b"),
      ("LANG=\(String(repeating: "x", count: 256))", nil),
    ] as [(String, String?)])
  func lines(_ text: String, _ lang: String?) {
    #expect(LocaleProvider.settings(in: text)["LANG"] == lang)
  }
}
