import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport
import Testing

@Suite(
  "§20: The windows of a real X server with openbox", .serialized,
  .enabled(if: XScreen.missing == nil, Comment(rawValue: XScreen.missing ?? "possible")))
struct OpenboxTests {
  private let screen: XScreen
  private let manager: GuardedProcess
  private let focus: FocusFixture

  init() throws {
    screen = try XScreen(display: XScreen.reservedDisplay)
    manager = try screen.startOpenbox()
    focus = try FocusFixture(screen.environment)
    try focus.wait()
  }

  @Test("The process of the active window is reported with its start time and class")
  func active() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    let second = try screen.startMessage("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
    #expect(focus.windows?.focused?.applicationID == "Xmessage")
    let control = try XControl(screen.display)
    try control.activate("first")
    try focus.wait(focused: [first.pid], visible: [second.pid])
    second.end()
    try focus.wait(focused: [first.pid])
  }

  @Test("Minimized windows and the windows of another desktop are hidden")
  func hidden() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    let second = try screen.startMessage("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
    let control = try XControl(screen.display)
    try control.minimize("second")
    try focus.wait(focused: [first.pid], hidden: [second.pid])
    try control.activate("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
    try control.showDesktop(2)
    try focus.wait(hidden: [first.pid, second.pid])
    let third = try screen.startMessage("third")
    try focus.wait(focused: [third.pid], hidden: [first.pid, second.pid])
    try control.showDesktop(0)
    try focus.wait("the first desktop is shown") { focus in
      focus.windows?.windows.filter { $0.visibility == .hidden }.map(\.process?.pid) == [third.pid]
    }
  }

  @Test("A window that claims the pid of another process has the process that the X server names")
  func claim() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    let control = try XControl(screen.display)
    try control.claim("first", pid: 1)
    let second = try screen.startMessage("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
    // This monitor starts after the window has claimed the pid.
    let later = try FocusFixture(screen.environment)
    try later.wait(focused: [second.pid], visible: [first.pid])
  }

  @Test("Windows that come and go faster than they are read leave nothing behind")
  func fleeting() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    var fleeting: [GuardedProcess] = []
    for number in 0..<10 { fleeting.append(try screen.startMessage("\(number)")) }
    for process in fleeting { process.end() }
    try focus.wait(focused: [first.pid])
  }

  @Test("Without a window manager, no windows are known; the next window manager is found")
  func managerEnds() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    manager.send(signal: SIGKILL)
    try focus.waitForUnknown()
    #expect(focus.reports.last == .unknown(reason: nil))
    let next = try screen.startOpenbox()
    try focus.wait("the next manager lists the window") {
      $0.windows?.windows.map(\.process?.pid) == [first.pid]
    }
    next.end()
    try focus.waitForUnknown()
  }

  @Test(
    "When the X server is killed, no windows are known; the next X server of the display is found")
  func serverEnds() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    screen.send(signal: SIGKILL)
    try focus.waitForUnknown()
    #expect(focus.reports.last == .unknown(reason: .closed))
    screen.end()
    let next = try XScreen(display: screen.display)
    let manager = try next.startOpenbox()
    try focus.wait()
    let second = try next.startMessage("second")
    try focus.wait(focused: [second.pid])
    manager.end()
  }

  @Test("A stopped X server does not block the monitors; they report windows when it continues")
  func stopped() throws {
    screen.send(signal: SIGSTOP)
    let other = try FocusFixture(screen.environment)
    for fixture in [focus, other] {
      var hasTurned = false
      let timer = try fixture.loop.timer { hasTurned = true }
      timer.set(BootClock.now())
      try fixture.wait("the loop turns") { _ in hasTurned }
    }
    screen.send(signal: SIGCONT)
    let first = try screen.startMessage("first")
    try other.wait(focused: [first.pid])
    try focus.wait(focused: [first.pid])
  }
}

@Suite(
  "§20: The windows of a real X server with i3", .serialized,
  .enabled(if: XScreen.missing == nil, Comment(rawValue: XScreen.missing ?? "possible")))
struct I3Tests {
  private let screen: XScreen
  private let i3: GuardedProcess
  private let focus: FocusFixture
  private let control: IPCControl

  init() throws {
    screen = try XScreen()
    i3 = try screen.startI3()
    focus = try FocusFixture(screen.environment)
    // Waits until i3 manages windows. i3 listens for commands before that.
    try focus.wait()
    control = try IPCControl(path: screen.i3Socket(of: i3))
  }

  @Test("Tabs, a full-screen window, the scratchpad and workspaces hide windows")
  func covered() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    let second = try screen.startMessage("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
    try control.run("floating disable; [title=first] floating disable")
    try control.run("[title=first] focus; layout tabbed")
    try focus.wait(focused: [first.pid], hidden: [second.pid])
    try control.run("layout splith")
    try focus.wait(focused: [first.pid], visible: [second.pid])
    try control.run("fullscreen enable")
    try focus.wait(focused: [first.pid], hidden: [second.pid])
    try control.run("fullscreen disable; move scratchpad")
    try focus.wait(focused: [second.pid], hidden: [first.pid])
    try control.run("scratchpad show")
    try focus.wait(focused: [first.pid], visible: [second.pid])
    try control.run("workspace 7")
    try focus.wait(hidden: [first.pid, second.pid])
  }

  @Test("After i3 has restarted in place, windows are still reported")
  func restart() throws {
    let first = try screen.startMessage("first")
    try focus.wait(focused: [first.pid])
    try control.run("restart")
    let second = try screen.startMessage("second")
    try focus.wait(focused: [second.pid], visible: [first.pid])
  }
}
