import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("A change of the time zone")
struct TimeZoneProviderTests {
  private let etc = MadeUpEtc()
  private let watcher: ChangeWatcher
  private let looks = Looks()
  private let provider: TimeZoneProvider

  /// How often the provider has looked.
  private final class Looks {
    var count = 0
  }

  init() throws {
    watcher = try ChangeWatcher()
    provider = TimeZoneProvider(
      loop: watcher.loop, etc: etc.path, report: watcher.report,
      rulesChanged: { [looks] in looks.count += 1 })
  }

  private func waitForLook(_ count: Int) throws {
    try watcher.wait(for: "the provider's look") { looks.count >= count }
  }

  @Test("is told with the zone's name when another link takes the place of the old")
  func renamed() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.setZone("America/New_York")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "America/New_York"))
    try etc.setZone("Asia/Kathmandu")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Asia/Kathmandu"))
    #expect(looks.count == 2)
  }

  @Test("is told once when the link is removed and made again, as ln -sf does")
  func removed() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    unlink(etc.folder.file("localtime"))
    try etc.setZone("Etc/GMT+5")
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "Etc/GMT+5"))
    #expect(watcher.changes.isEmpty)
  }

  @Test("is none when the zone is the same as before, and the zone's rules are read anew")
  func same() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.setZone("Europe/Berlin")
    try waitForLook(1)
    #expect(watcher.changes.isEmpty)
    try etc.replace("timezone", "Asia/Tokyo\n")
    try waitForLook(2)
    #expect(watcher.changes.isEmpty, "the link says it, not the file")
  }

  @Test("is not looked for when other files change")
  func others() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    try etc.replace("resolv.conf", "nameserver 192.0.2.1\n")
    try etc.makeFolder("localtime.d")
    try watcher.loop.turn(within: .seconds(1))
    try etc.setZone("Asia/Tokyo")
    #expect(try watcher.next().value == "Asia/Tokyo")
    #expect(looks.count == 1)
  }

  @Test("is told by /etc/timezone where localtime is no link, and by its rules where nothing is")
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
    #expect(try watcher.next() == SystemChange(kind: .timeZone), "it has no name any more")
    try copy("Asia/Tokyo")
    try waitForLook(3)
    #expect(watcher.changes.isEmpty)
    try copy("Asia/Kathmandu")
    #expect(try watcher.next() == SystemChange(kind: .timeZone))
  }

  @Test("is told as UTC when nothing is left that says a zone")
  func gone() throws {
    try etc.setZone("Europe/Berlin")
    try provider.start()
    unlink(etc.folder.file("localtime"))
    #expect(try watcher.next() == SystemChange(kind: .timeZone, value: "UTC"))
  }

  @Test("has no name that could be anything but a zone's", arguments: ["../x y", "a\u{1b}[2J", ""])
  func names(_ name: String) throws {
    guard symlink("/usr/share/zoneinfo/\(name)", etc.folder.file("localtime")) == 0 else {
      throw SystemError(call: "symlink", errno: errno)
    }
    #expect(MachineZone(etc: etc.path).name == nil)
  }

  @Test("cannot be told where there is no such folder")
  func noFolder() throws {
    let lost = TimeZoneProvider(
      loop: watcher.loop, etc: etc.path + "/none", report: watcher.report, rulesChanged: {})
    #expect(throws: SystemError.self) { try lost.start() }
  }
}

@Suite("A change of the locale")
struct LocaleProviderTests {
  private let etc = MadeUpEtc()
  private let watcher: ChangeWatcher
  private let provider: LocaleProvider

  init() throws {
    watcher = try ChangeWatcher()
    provider = LocaleProvider(loop: watcher.loop, etc: etc.path, report: watcher.report)
  }

  @Test("is told with LANG when locale.conf says another")
  func changed() throws {
    try etc.replace("locale.conf", "LANG=en_US.UTF-8\n")
    try provider.start()
    try etc.replace("locale.conf", "LANG=\"de_DE.UTF-8\"\nLC_TIME=C\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "de_DE.UTF-8"))
    // Formats alone.
    try etc.replace("locale.conf", "LANG=de_DE.UTF-8\nLC_TIME=de_DE.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "de_DE.UTF-8"))
    unlink(etc.folder.file("locale.conf"))
    #expect(try watcher.next() == SystemChange(kind: .locale))
  }

  @Test("is none when the same is written otherwise")
  func same() throws {
    try etc.replace("locale.conf", "LANG=en_US.UTF-8\n")
    try provider.start()
    try etc.replace("locale.conf", "# spoken here\nLANG='en_US.UTF-8' \nFOO=bar\n")
    try watcher.wait(for: "the provider's look") { provider.looks == 1 }
    try etc.replace("locale.conf", "LANG=fr_FR.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "fr_FR.UTF-8"))
    #expect(watcher.changes.isEmpty)
  }

  @Test("is told of Debian's file also where its folder is made later")
  func debian() throws {
    try provider.start()
    try etc.makeFolder("default")
    try watcher.wait(for: "the provider's look") { provider.looks == 1 }
    etc.folder.write("default/locale", "LANG=es_ES.UTF-8\n")
    #expect(try watcher.next() == SystemChange(kind: .locale, value: "es_ES.UTF-8"))
    try etc.replace("locale.conf", "LANG=pt_BR.UTF-8\n")
    #expect(try watcher.next().value == "pt_BR.UTF-8", "locale.conf comes first")
  }

  @Test(
    "is read from lines with quotes or without, and not from what can be no locale",
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
