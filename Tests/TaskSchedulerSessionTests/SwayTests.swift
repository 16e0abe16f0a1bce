import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport
import Testing

@Suite(
  "§20: The windows of a real sway", .serialized,
  .enabled(if: Sway.missing == nil, Comment(rawValue: Sway.missing ?? "possible")))
struct SwayTests {
  private let runtime: Sway.Runtime
  private let sway: Sway

  init() throws {
    runtime = try Sway.Runtime()
    sway = try Sway(runtime)
  }

  @Test("The focused window's process is reported with its start time; the other window is visible")
  func focus() throws {
    let focus = try FocusFixture(runtime.environment())
    try focus.wait()
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
    let second = try sway.startTerminal("org.test.second")
    try focus.wait(focused: [second], visible: [first])
    #expect(focus.windows?.focused?.applicationID == "org.test.second")
    try sway.run("[app_id=org.test.first] focus")
    try focus.wait(focused: [first], visible: [second])
    kill(second, SIGTERM)
    try focus.wait(focused: [first])
  }

  @Test(
    "On an empty workspace, no window is focused, and the windows of other workspaces are hidden")
  func emptyWorkspace() throws {
    let focus = try FocusFixture(runtime.environment())
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
    try sway.run("workspace 5")
    try focus.wait(hidden: [first])
    try sway.run("workspace 1")
    try focus.wait(focused: [first])
    try sway.run("move window to workspace 5")
    try focus.wait(hidden: [first])
  }

  @Test("A full-screen window, a tab and the scratchpad hide windows")
  func covered() throws {
    let focus = try FocusFixture(runtime.environment())
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
    let second = try sway.startTerminal("org.test.second")
    try focus.wait(focused: [second], visible: [first])
    try sway.run("fullscreen enable")
    try focus.wait(focused: [second], hidden: [first])
    try sway.run("fullscreen disable")
    try focus.wait(focused: [second], visible: [first])
    try sway.run("layout tabbed, focus prev")
    try focus.wait(focused: [first], hidden: [second])
    try sway.run("layout splith, floating enable")
    try focus.wait(focused: [first], visible: [second])
    try sway.run("move scratchpad")
    try focus.wait(focused: [second], hidden: [first])
    try sway.run("scratchpad show")
    try focus.wait(focused: [first], visible: [second])
  }

  @Test("If an empty output has the focus, the window on the other output is visible, not focused")
  func outputs() throws {
    let focus = try FocusFixture(runtime.environment())
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
    try sway.run("focus output HEADLESS-2")
    try focus.wait(visible: [first])
    let second = try sway.startTerminal("org.test.second")
    try focus.wait(focused: [second], visible: [first])
  }

  @Test("Each of several windows of one process is reported with that process")
  func server() throws {
    let focus = try FocusFixture(runtime.environment())
    let server = try sway.start("foot --server=$XDG_RUNTIME_DIR/foot.sock")
    let client = "footclient --server-socket=$XDG_RUNTIME_DIR/foot.sock cat"
    // The server opens no window that the test could wait for. It listens as soon as its socket
    // exists.
    let watch = try DirectoryWatch()
    _ = try watch.add(runtime.directory.path)
    while access(runtime.directory.file("foot.sock"), F_OK) != 0 {
      try waitFor(POLLIN, on: watch.descriptor.rawValue)
      _ = try watch.takeChanges()
    }
    _ = try sway.start(client)
    try focus.wait(focused: [server])
    _ = try sway.start(client)
    try focus.wait(focused: [server], visible: [server])
  }

  @Test(
    "A window in Xwayland has the process that the X server names, not the process that it claims")
  func xwayland() throws {
    try sway.startXwayland()
    let focus = try FocusFixture(runtime.environment(display: sway.display))
    let terminal = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [terminal])
    let message = try sway.start("xmessage -title claims text")
    try focus.wait(focused: [message], visible: [terminal])
    #expect(focus.windows?.focused?.applicationID == "Xmessage")
    _ = try sway.start("xprop -name claims -f _NET_WM_PID 32c -set _NET_WM_PID \(terminal)")
    try sway.run("[app_id=org.test.first] focus")
    try focus.wait(focused: [terminal], visible: [message])
    // This monitor starts after the window has claimed the pid.
    let later = try FocusFixture(runtime.environment(display: sway.display))
    try later.wait(focused: [terminal], visible: [message])
  }

  @Test(
    "If the agent does not know Xwayland's display, the windows in Xwayland have no known process")
  func unknownProcess() throws {
    let focus = try FocusFixture(runtime.environment())
    _ = try sway.start("xmessage -title unknown text")
    try focus.wait(focused: [0])
  }
}

@Suite(
  "§20: A sway that ends, hangs or starts later", .serialized,
  .enabled(if: Sway.missing == nil, Comment(rawValue: Sway.missing ?? "possible")))
struct SwayEndTests {
  @Test("A sway that starts after the monitor is found without polling")
  func later() throws {
    let runtime = try Sway.Runtime()
    let focus = try FocusFixture(runtime.environment())
    try focus.wait("the monitor reports that it found nothing") { $0.reports == [.absent] }
    let sway = try Sway(runtime)
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
  }

  @Test("When sway is killed, no windows are known any more, and the next sway is found")
  func killed() throws {
    let runtime = try Sway.Runtime()
    let sway = try Sway(runtime)
    let focus = try FocusFixture(runtime.environment())
    let first = try sway.startTerminal("org.test.first")
    try focus.wait(focused: [first])
    sway.send(signal: SIGKILL)
    try focus.waitForUnknown()
    #expect(focus.reports.last == .unknown(reason: .closed))
    let next = try Sway(runtime)
    let second = try next.startTerminal("org.test.second")
    try focus.wait(focused: [second])
  }

  @Test("A stopped sway does not block the monitors; they report windows when sway continues")
  func stopped() throws {
    let runtime = try Sway.Runtime()
    let sway = try Sway(runtime)
    sway.send(signal: SIGSTOP)
    // More monitors connect than fit into sway's backlog, which holds three connections.
    var monitors: [FocusFixture] = []
    for _ in 0..<6 {
      let focus = try FocusFixture(runtime.environment())
      var hasTurned = false
      let timer = try focus.loop.timer { hasTurned = true }
      timer.set(BootClock.now())
      try focus.wait("the loop turns") { _ in hasTurned }
      monitors.append(focus)
    }
    sway.send(signal: SIGCONT)
    let first = try sway.startTerminal("org.test.first")
    try monitors[0].wait(focused: [first])
  }
}
