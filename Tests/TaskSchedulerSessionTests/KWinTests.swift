import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport
import Testing

/// A simulated KWin on a real bus. It loads scripts, but does not run them. Instead, it sends each
/// line of its standard input to the agent, as the script would send a message.
private final class SimulatedKWin {
  private static let program = """
    import os, re
    import dbus, dbus.mainloop.glib, dbus.service
    from gi.repository import GLib

    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    INTERFACE = "org.kde.kwin.Scripting"

    class Scripting(dbus.service.Object):
        scripts = {}

        @dbus.service.method(INTERFACE, in_signature="s", out_signature="b")
        def unloadScript(self, name):
            return self.scripts.pop(name, None) is not None

        @dbus.service.method(INTERFACE, in_signature="ss", out_signature="i")
        def loadScript(self, path, name):
            self.scripts[name] = open(path).read()
            return 0

        @dbus.service.method(INTERFACE)
        def start(self):
            for text in self.scripts.values():
                call = re.search(r'callDBus\\("(.*?)", "(.*?)", "(.*?)", "(.*?)"', text)
                print("started", flush=True)
                GLib.io_add_watch(0, GLib.IO_IN, self.send, *call.groups())

        def send(self, source, condition, service, path, interface, member):
            # The test writes each short line with one call, so a read returns whole lines.
            for text in os.read(0, 65536).decode().splitlines():
                bus.call_blocking(service, path, interface, member, "s", [text])
            return True

    scripting = Scripting(bus, "/Scripting")
    name = dbus.service.BusName("org.kde.KWin", bus)
    print("ready", flush=True)
    GLib.MainLoop().run()
    """

  private let process: TestProcess

  init(_ bus: SessionBus) throws {
    process = try TestProcess.python(Self.program) { $0.environment = bus.environment }
    #expect(try process.readLine() == "ready")
  }

  func readLine() throws -> String? { try process.readLine() }

  var hasWritten: Bool { get throws { try process.hasWritten } }

  func send(_ text: String) throws { try process.writeLine(text) }

  func end() { kill(process.pid, SIGKILL) }
}

@Suite(
  "§20: A simulated KWin on a real bus, which runs no script", .serialized,
  .enabled(if: SessionBus.missing == nil, Comment(rawValue: SessionBus.missing ?? "possible")))
struct KWinTests {
  private let directory = TemporaryDirectory()
  private let bus: SessionBus
  private let focus: FocusFixture

  init() throws {
    let bus = try SessionBus(path: directory.file("bus"))
    self.bus = bus
    focus = try FocusFixture(
      SessionEnvironment(uid: geteuid()) {
        switch $0 {
        case "DBUS_SESSION_BUS_ADDRESS": bus.address
        case "WAYLAND_DISPLAY": "wayland-0"
        default: nil
        }
      })
  }

  private func message(active: Bool) -> String {
    #"{"windows":[{"pid":\#(getpid()),"active":\#(active),"shown":true,"id":"org.test"}]}"#
  }

  private func expectStart(_ kwin: SimulatedKWin) throws {
    try focus.wait("the script is started") { _ in try kwin.hasWritten }
    #expect(try kwin.readLine() == "started")
  }

  /// Returns the unique names of all clients of the bus. One of the clients is the agent.
  private func clients() throws -> [String] {
    let list = try bus.run(
      "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
      "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.ListNames")
    return list.matches(of: /:1\.[0-9]+/).map { String($0.output) }
  }

  @Test("The agent loads its script into KWin, and reports the windows that the script sends")
  func windows() throws {
    let kwin = try SimulatedKWin(bus)
    try expectStart(kwin)
    try kwin.send(message(active: true))
    try focus.wait(focused: [getpid()])
    #expect(focus.windows?.focused?.applicationID == "org.test")
    try kwin.send("{}")
    try kwin.send(message(active: false))
    try focus.wait(visible: [getpid()])
  }

  @Test("A KWin that restarts gets the script again, and no windows are known meanwhile")
  func restart() throws {
    let kwin = try SimulatedKWin(bus)
    try expectStart(kwin)
    try kwin.send(message(active: true))
    try focus.wait(focused: [getpid()])
    kwin.end()
    try focus.waitForUnknown()
    let next = try SimulatedKWin(bus)
    try expectStart(next)
    try next.send(message(active: false))
    try focus.wait(visible: [getpid()])
  }

  @Test("Windows that another program sends are ignored")
  func foreign() throws {
    let kwin = try SimulatedKWin(bus)
    try expectStart(kwin)
    for client in try clients() {
      _ = try? bus.run(
        "dbus-send", "--session", "--dest=\(client)", KWinScript.path,
        "\(KWinScript.interface).\(KWinScript.member)", "string:\(message(active: true))")
    }
    try kwin.send(message(active: false))
    try focus.wait("the first report is KWin's") { !$0.reports.isEmpty }
    #expect(focus.reports.count == 1)
    #expect(focus.windows?.focused == nil)
  }

  @Test("A new owner of KWin's name that another program announces is ignored")
  func foreignOwner() throws {
    let kwin = try SimulatedKWin(bus)
    try expectStart(kwin)
    for client in try clients() {
      _ = try? bus.run(
        "dbus-send", "--session", "--type=signal", "--dest=\(client)", "/org/freedesktop/DBus",
        "org.freedesktop.DBus.NameOwnerChanged", "string:org.kde.KWin", "string:",
        "string:\(client)")
    }
    try kwin.send(message(active: true))
    try focus.wait(focused: [getpid()])
  }
}
