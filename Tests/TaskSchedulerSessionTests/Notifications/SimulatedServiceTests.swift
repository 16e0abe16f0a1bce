import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A bus without a service, in a new directory.
private final class BareBus {
  let folder = TemporaryDirectory()
  let bus: SessionBus

  init(services: String? = nil) throws {
    bus = try SessionBus(path: folder.file("bus"), services: services)
  }
}

@Suite(
  "Notifications on a bus with a simulated service", .serialized,
  .enabled(if: SessionBus.missing == nil, "\(SessionBus.missing ?? "")"))
struct SimulatedServiceTests {
  @Test("A request to a simulated service that ends during the call goes to the next service")
  func dies() throws {
    let bare = try BareBus()
    let dying = try SimulatedService(on: bare.bus, .dies)
    let driver = try DesktopDriver(bare.bus)
    driver.show(1, "deadly")
    driver.show(2, "harmless")
    try driver.wait { _ in !driver.failures(1).isEmpty }
    try dying.waitForExit()
    let next = try SimulatedService(on: bare.bus, .answers)
    try driver.wait(for: .shown(2))
    #expect(driver.count(.shown(1)) == 1 && driver.count(.shown(2)) == 1)
    #expect(try next.readLine() == "Notify 0 deadly")
    #expect(try next.readLine() == "Notify 0 harmless")
  }

  @Test(
    """
    A notification that was shown over an earlier connection is replaced, or closed if it is \
    cancelled before the service is known
    """)
  func remembered() throws {
    let bare = try BareBus()
    let service = try SimulatedService(on: bare.bus, .answers)
    let earlier = try DesktopDriver(bare.bus)
    for number in [1, 2] { earlier.show(number, "number \(number)") }
    try earlier.wait(for: .shown(2))
    let driver = try DesktopDriver(bare.bus)
    for number in [1, 2] {
      driver.adopt(number, "number \(number)", as: try #require(earlier.names[number]))
    }
    driver.close(2)
    try driver.wait(for: .shown(1))
    try driver.wait(for: .closed(2))
    var said: [String?] = []
    for _ in 0..<4 { said.append(try service.readLine()) }
    #expect(said.prefix(2) == ["Notify 0 number 1", "Notify 0 number 2"])
    #expect(Set(said.suffix(2)) == ["Notify 1 number 1", "CloseNotification 2"])
    try service.send("ActionInvoked 1 default")
    try driver.wait(for: .chosen(1))
  }

  @Test("A notification that an earlier service showed counts as closed, and its id is not used")
  func rememberedOfAnother() throws {
    let bare = try BareBus()
    var first: SimulatedService? = try SimulatedService(on: bare.bus, .answers)
    let earlier = try DesktopDriver(bare.bus)
    earlier.show(1, "one")
    try earlier.wait(for: .shown(1))
    let name = try #require(earlier.names[1])
    first = nil
    withExtendedLifetime(first) {}
    try earlier.wait(for: .closed(1))
    let driver = try DesktopDriver(bare.bus)
    driver.adopt(1, "one", as: name)
    try driver.wait(for: .closed(1))
    let second = try SimulatedService(on: bare.bus, .answers)
    driver.adopt(2, "two", as: name)
    try driver.wait(for: .closed(2))
    driver.show(3, "three")
    try driver.wait(for: .shown(3))
    #expect(try second.readLine() == "Notify 0 three")
  }

  @Test("A notification that crashes the simulated service is given up; the others are shown")
  func diesOfOne() throws {
    let bare = try BareBus()
    let driver = try DesktopDriver(bare.bus)
    for number in 1...5 {
      driver.show(number, number == 3 ? "deadly" : "harmless \(number)")
    }
    for _ in 1...PresentationTable.failuresMax {
      let dying = try SimulatedService(on: bare.bus, .dies)
      let before = driver.occurrences.count
      try driver.wait {
        $0.dropFirst(before).contains { if case .failed = $0 { true } else { false } }
      }
      try dying.waitForExit()
    }
    #expect(driver.failures(3).last?.isKept == false)
    let last = try SimulatedService(on: bare.bus, .dies)
    for number in [1, 2, 4, 5] { try driver.wait(for: .shown(number)) }
    #expect(driver.count(.shown(3)) == 0)
    withExtendedLifetime(last) {}
  }

  @Test(
    "A simulated service that hangs is reported, and the loop continues",
    arguments: [SimulatedService.Misbehavior.hangs, .hangsWhenAsked])
  func hangs(_ habit: SimulatedService.Misbehavior) throws {
    let bare = try BareBus()
    var hanging: SimulatedService? = try SimulatedService(on: bare.bus, habit)
    let driver = try DesktopDriver(bare.bus, answerTime: .milliseconds(100))
    let ticking = try LoopLatencyProbe(driver.loop)
    for number in 1...100 { driver.show(number, "Number \(number)") }
    try driver.wait { _ in driver.failures(100) == [.noAnswer] && ticking.count > 100 }
    #expect(ticking.latest < .seconds(2))
    print("the longest delay of the loop by a service that \(habit.rawValue): \(ticking.latest)")
    // The test kills the service, as a user might do.
    hanging = nil
    withExtendedLifetime(hanging) {}
    let next = try SimulatedService(on: bare.bus, .answers)
    try driver.wait { _ in driver.shown.count == 100 }
    #expect(Set(driver.shown).count == 100)
    withExtendedLifetime(next) {}
  }

  @Test("A simulated service that loses a reply still gets other requests")
  func losesAnswers() throws {
    let bare = try BareBus()
    let losing = try SimulatedService(on: bare.bus, .losesAnswers)
    let driver = try DesktopDriver(bare.bus, answerTime: .milliseconds(100))
    driver.show(1, "lost")
    try driver.wait { _ in driver.failures(1) == [.noAnswer] }
    driver.show(2, "found")
    try driver.wait(for: .shown(2))
    #expect(driver.count(.shown(1)) == 0)
    withExtendedLifetime(losing) {}
  }

  @Test("A simulated service without room gets the request again when it has room")
  func isFull() throws {
    let bare = try BareBus()
    let full = try SimulatedService(on: bare.bus, .isFull)
    let driver = try DesktopDriver(bare.bus)
    for number in 1...3 { driver.show(number, "Number \(number)") }
    try driver.wait { _ in !driver.failures(3).isEmpty }
    #expect(driver.failures(3).allSatisfy { $0.isKept })
    try full.send("NotificationClosed 1 1")
    try driver.wait(for: .shown(3))
    #expect(driver.occurrences.contains(.closed(1)))
  }

  @Test("A notification that a simulated service refuses three times is given up")
  func refuses() throws {
    let bare = try BareBus()
    let refusing = try SimulatedService(on: bare.bus, .refuses)
    let driver = try DesktopDriver(bare.bus)
    driver.show(1, "never")
    try driver.wait { _ in driver.failures(1).contains { !$0.isKept } }
    #expect(driver.failures(1) == [.refused("never (org.example.Refused)")])
    withExtendedLifetime(refusing) {}
  }

  @Test("A choice has the activation token of the service; other actions and ids are ignored")
  func token() throws {
    let bare = try BareBus()
    let service = try SimulatedService(on: bare.bus, .answers)
    let driver = try DesktopDriver(bare.bus)
    driver.show(1, "a")
    try driver.wait(for: .shown(1))
    for line in [
      "ActionInvoked 1 other", "ActionInvoked 99 default", "NotificationClosed 99 2",
      "ActivationToken 99 wrong", "ActivationToken 1 right", "ActionInvoked 1 default",
      "ActionInvoked 1 default", "NotificationClosed 1 77",
    ] { try service.send(line) }
    try driver.wait(for: .closed(1))
    #expect(driver.occurrences == [.shown(1), .chosen(1, token: "right"), .closed(1)])
  }

  @Test("The bus starts the service when a notification is to be shown, and not earlier")
  func started() throws {
    let folder = TemporaryDirectory()
    folder.write("program.py", SimulatedService.program)
    folder.write(
      "service.service",
      "[D-BUS Service]\nName=org.freedesktop.Notifications\n"
        + "Exec=/usr/bin/python3 -I -u \(folder.file("program.py")) answers\n")
    let bare = try BareBus(services: folder.path)
    let driver = try DesktopDriver(bare.bus)
    driver.close(1)
    try driver.waitUntilIdle()
    #expect(try bare.hasService() == false)
    driver.show(1, "a")
    try driver.wait(for: .shown(1))
    #expect(driver.failures(1).isEmpty)
    #expect(try bare.hasService())
  }

  @Test("The connection to the bus lasts only while a notification waits or is shown")
  func connected() throws {
    let bare = try BareBus()
    let service = try SimulatedService(on: bare.bus, .answers)
    let before = try bare.clients()
    let driver = try DesktopDriver(bare.bus)
    driver.show(1, "a")
    try driver.wait(for: .shown(1))
    #expect(try bare.clients() == before + 1)
    try service.send("NotificationClosed 1 1")
    try driver.wait(for: .closed(1))
    try driver.waitUntilIdle()
    #expect(try bare.clients() == before)
    driver.show(2, "b")
    try driver.wait(for: .shown(2))
  }

  @Test("A bus is found even if its directory is created later")
  func folderLater() throws {
    let folder = TemporaryDirectory()
    let driver = try DesktopDriver("unix:path=\(folder.file("later/bus"))")
    driver.show(1, "a")
    try driver.wait { _ in !driver.failures(1).isEmpty }
    mkdir(folder.file("later"), 0o755)
    let bus = try SessionBus(path: folder.file("later/bus"))
    let service = try SimulatedService(on: bus, .answers)
    try driver.wait(for: .shown(1))
    withExtendedLifetime(service) {}
  }

  @Test("A silent listener in the place of a bus does not block the loop")
  func noBusAtAll() throws {
    let folder = TemporaryDirectory()
    let listener = try UnixSocket.listen(path: folder.file("bus"), mode: 0o600)
    let driver = try DesktopDriver("unix:path=\(folder.file("bus"))")
    let ticking = try LoopLatencyProbe(driver.loop)
    driver.show(1, "a")
    try driver.wait { _ in ticking.count > 100 }
    #expect(ticking.latest < .seconds(2))
    // When the listener closes the connection, the session learns that no bus listens.
    let connection = try unwrap(try UnixSocket.accept(listener.rawValue))
    connection.close()
    try driver.wait { _ in driver.failures(1).first?.isSameKind(as: .noBus("")) == true }
  }
}

extension BareBus {
  /// Returns the number of clients of the bus, including the client that asks.
  fileprivate func clients() throws -> Int { try names().count { $0.contains("\":") } }

  fileprivate func hasService() throws -> Bool {
    try names().contains { $0.contains("\"org.freedesktop.Notifications\"") }
  }

  private func names() throws -> [Substring] {
    try bus.run(
      "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus",
      "/org/freedesktop/DBus", "org.freedesktop.DBus.ListNames"
    ).split(separator: "\n")
  }
}
