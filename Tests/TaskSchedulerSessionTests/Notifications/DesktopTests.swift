import EventLoop
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerSession

@Suite(
  "Notifications on a desktop with dunst", .serialized,
  .enabled(if: Desktop.missing == nil, "\(Desktop.missing ?? "")"))
struct DesktopTests {
  @Test("The desktop's notification service shows the notification to the user")
  func shown() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch", body: "with <Ann> & Bob")
    try driver.wait(for: .shown(1))
    #expect(try desktop.counts() == .init(displayed: 1))
    try desktop.control("close")
    try driver.wait(for: .closed(1))
    let history = try desktop.control("history")
    #expect(history.contains("\"Lunch\""))
    #expect(history.contains("with &lt;Ann&gt; &amp; Bob"))
    #expect(history.contains("\"Mail\""))
    #expect(driver.occurrences == [.shown(1), .closed(1)])
  }

  @Test("The user's choice of a notification is reported once, before the notification is closed")
  func chosen() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch")
    try driver.wait(for: .shown(1))
    #expect(try desktop.counts() == .init(displayed: 1))
    // Unlike a click of the user, this command leaves the notification on the screen.
    for _ in 1...2 { try desktop.control("action", "0") }
    try desktop.control("close")
    try driver.wait(for: .closed(1))
    #expect(driver.occurrences == [.shown(1), .chosen(1), .closed(1)])
  }

  @Test("A notification expires after the timeout of the service")
  func expired() throws {
    let desktop = try Desktop(timeout: 1)
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch")
    try driver.wait(for: .closed(1))
  }

  @Test("A notification that is shown again replaces the one that is still on the screen")
  func replaced() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    for turn in 1...3 {
      driver.show(1, "Turn \(turn)")
      try driver.wait { _ in driver.count(.shown(1)) == turn }
    }
    #expect(try desktop.counts() == .init(displayed: 1))
    try desktop.control("close")
    try driver.wait(for: .closed(1))
    let history = try desktop.control("history")
    #expect(history.contains("Turn 3") && !history.contains("Turn 1"))
  }

  @Test("A notification that its application cancels is closed")
  func cancelled() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch")
    try driver.wait(for: .shown(1))
    driver.show(2, "Dinner")
    // Closes notification 2 before the service is asked to show it, 3 before the service answers,
    // and 1 after the service has shown it.
    driver.close(2)
    driver.show(3, "Supper")
    try driver.loop.turn(within: deadline)
    driver.close(3)
    driver.close(1)
    try driver.wait(for: .closed(1))
    try driver.wait(for: .closed(3))
    #expect(!driver.occurrences.contains(.shown(2)) && !driver.occurrences.contains(.shown(3)))
    #expect(try desktop.counts() == .init(displayed: 0))
  }

  @Test("Without a service, a notification is kept, and shown when a service appears")
  func noService() throws {
    let desktop = try Desktop(isServing: false)
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch")
    driver.show(2, "Dinner")
    try driver.wait { _ in !driver.failures(2).isEmpty }
    for number in 1...2 {
      let failures = driver.failures(number)
      #expect(failures.count == 1 && failures.allSatisfy { $0.isKept })
      #expect(failures.first?.isSameKind(as: .noService("")) == true)
    }
    try desktop.startService()
    try driver.wait(for: .shown(2))
    #expect(driver.occurrences.suffix(3) == [.problem(nil), .shown(1), .shown(2)])
    #expect(try desktop.counts() == .init(displayed: 2))
  }

  @Test(
    "When the service restarts, its notifications are reported as closed, and are not shown again")
  func restarted() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Lunch")
    try driver.wait(for: .shown(1))
    desktop.endService()
    try driver.wait { $0.contains { if case .closed = $0 { true } else { false } } }
    try desktop.startService()
    driver.show(2, "Dinner")
    try driver.wait(for: .shown(2))
    #expect(driver.count(.shown(1)) == 1)
    #expect(try desktop.counts() == .init(displayed: 1))
    // The new service's first id is 1 again. It now belongs to the second notification.
    try desktop.control("action", "0")
    try driver.wait(for: .chosen(2))
    #expect(!driver.occurrences.contains(.chosen(1)))
  }

  @Test(
    "The end of a bus closes its notifications; new notifications are shown when the bus returns")
  func busGoesAndComes() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("bus")
    let driver = try DesktopDriver("unix:path=\(path)")
    driver.show(1, "Before there is a bus")
    try driver.wait { _ in driver.failures(1).first?.isSameKind(as: .noBus("")) == true }
    for number in [1, 3, 5] {
      let desktop = try Desktop(busPath: path)
      try driver.wait(for: .shown(number))
      // The signal simulates a crash, after which the file of the socket remains.
      desktop.bus.process.send(signal: SIGKILL)
      try driver.wait(for: .closed(number))
      driver.show(number + 2, "While there is no bus")
      try driver.wait { _ in driver.failures(number + 2).first?.isSameKind(as: .noBus("")) == true }
    }
  }

  @Test(
    "A stopped service does not block the loop; when it continues, it shows each notification once")
  func stopped() throws {
    let desktop = try Desktop(shownMax: 1)
    let driver = try DesktopDriver(desktop.bus, answerTime: .milliseconds(200))
    driver.show(1, "Lunch")
    try driver.wait(for: .shown(1))
    desktop.sendService(signal: SIGSTOP)
    let ticking = try LoopLatencyProbe(driver.loop)
    let count = 300
    for number in 2...count { driver.show(number, "Number \(number)") }
    try driver.wait { _ in driver.failures(count) == [.noAnswer] && ticking.count >= 200 }
    #expect(ticking.latest < .seconds(2), "the stopped service does not block the loop")
    print("the longest delay of the loop by a stopped service: \(ticking.latest)")
    #expect(driver.failures(2) == [.noAnswer])
    desktop.sendService(signal: SIGCONT)
    try driver.wait { _ in driver.shown.count == count }
    #expect(Set(driver.shown).count == count)
    #expect(try desktop.counts() == .init(displayed: 1, waiting: count - 1))
  }

  @Test("A thousand notifications are shown, each once")
  func thousand() throws {
    let desktop = try Desktop(shownMax: 1)
    let driver = try DesktopDriver(desktop.bus)
    let ticking = try LoopLatencyProbe(driver.loop)
    let start = BootClock.now()
    for number in 1...1000 { driver.show(number, "Number \(number)") }
    try driver.wait { _ in driver.shown.count == 1000 }
    let milliseconds = (BootClock.now() - start) / 1_000_000
    print(
      "1000 notifications shown in \(milliseconds) ms; longest delay of the loop:", ticking.latest)
    #expect(Set(driver.shown).count == 1000)
    #expect(try desktop.counts() == .init(displayed: 1, waiting: 999))
    for number in 1...1000 { driver.close(number) }
    try driver.wait(for: .closed(1000))
    #expect(try desktop.counts() == .init(displayed: 0))
  }

  @Test(
    "Unusual texts are shown, too",
    arguments: [
      "", "\0", "a\0b", noCharacters, "\u{202E}abc", "<b>", "</markup>", "&#0;", "&amp;",
      "\u{1B}]0;x\u{7}", "%s%n%d", "\n\n\n", "👩‍👩‍👧‍👦", String(repeating: "x", count: 1_000_000),
      "e" + String(repeating: "\u{301}", count: 100_000), "$(reboot)", "'; --",
    ])
  func odd(_ text: String) throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    var notification = driver.notification(1, text, body: text)
    notification.content.applicationName = text
    notification.content.category = text
    notification.content.sound = text
    notification.content.icon = text
    notification.content.actions = [.init(id: text, title: text)]
    driver.session?.show(notification)
    try driver.wait(for: .shown(1))
    #expect(try desktop.counts() == .init(displayed: 1))
    try desktop.control("close")
    try driver.wait(for: .closed(1))
  }

  @Test(
    "D-Bus signals of other programs, and about the notifications of other programs, are ignored")
  func strangers() throws {
    let desktop = try Desktop()
    let driver = try DesktopDriver(desktop.bus)
    driver.show(1, "Ours")
    try driver.wait(for: .shown(1))
    for member in ["ActionInvoked", "NotificationClosed"] {
      try desktop.bus.run(
        "dbus-send", "--type=signal", "/org/freedesktop/Notifications",
        "org.freedesktop.Notifications.\(member)", "uint32:1",
        member == "ActionInvoked" ? "string:default" : "uint32:2")
    }
    try desktop.bus.run(
      "gdbus", "call", "--session", "--dest", "org.freedesktop.Notifications", "--object-path",
      "/org/freedesktop/Notifications", "--method", "org.freedesktop.Notifications.Notify", "other",
      "0", "", "Theirs", "", "['default', 'Open']", "{'urgency': <byte 2>}",
      "--", "-1")
    #expect(try desktop.counts() == .init(displayed: 2))
    // The service applies the action to the topmost notification, which is the other program's.
    try desktop.control("action", "0")
    driver.show(2, "A later one")
    try driver.wait(for: .shown(2))
    #expect(driver.occurrences == [.shown(1), .shown(2)])
  }
}

/// A measurement of how late the loop handles a timer that is due every 5 ms.
final class LoopLatencyProbe {
  private(set) var count = 0
  private(set) var latest: Duration = .zero
  private var due: UInt64 = 0
  private var timer: TimerSource?

  init(_ loop: EventLoop) throws {
    timer = try loop.timer { [weak self] in self?.tick() }
    setTimer()
  }

  private func tick() {
    count += 1
    latest = max(latest, .nanoseconds(Int64(BootClock.now() - due)))
    setTimer()
  }

  private func setTimer() {
    due = BootClock.now() + 5_000_000
    timer?.set(due)
  }
}
