import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with dbusmock, which simulates UPower on a separate bus. A real UPower would report the
/// machine's hardware.
@Suite(
  "A change of the power source, with a mock of UPower",
  .enabled(if: MockBus.missing == nil, Comment(rawValue: MockBus.missing ?? "possible")))
struct PowerProviderTests {
  private let bus = MockBus()
  private let watcher: ChangeWatcher
  private let provider: PowerProvider
  private let absent = Absent()

  private final class Absent {
    var reasons: [String] = []
  }

  init() throws {
    watcher = try ChangeWatcher()
    provider = PowerProvider(
      loop: watcher.loop, address: BusAddress(text: bus.address),
      report: watcher.report, absent: { [absent] in absent.reasons.append($0) })
  }

  private func waitUntilKnown(_ isOnBattery: Bool) throws {
    try watcher.wait(for: "UPower's answer") { provider.isOnBattery == isOnBattery }
  }

  @Test("Of UPower's properties, only the power source is reported, as mains or battery (mock)")
  func changes() throws {
    let daemon = try bus.start()
    defer { withExtendedLifetime(daemon) {} }
    let upower = try bus.startUPower(onBattery: false)
    defer { withExtendedLifetime(upower) {} }
    try provider.start()
    try waitUntilKnown(false)
    try bus.set("LidIsClosed", true)
    try bus.set("OnBattery", true)
    #expect(try watcher.next() == SystemChange(kind: .powerSource, value: "battery"))
    try bus.set("OnBattery", false)
    #expect(try watcher.next() == SystemChange(kind: .powerSource, value: "mains"))
    #expect(watcher.changes.isEmpty)
    #expect(absent.reasons.isEmpty)
  }

  @Test("Without UPower, nothing is reported or started; UPower is used as soon as it runs (mock)")
  func appears() throws {
    let daemon = try bus.start()
    defer { withExtendedLifetime(daemon) {} }
    try provider.start()
    try watcher.wait(for: "the report that UPower is missing") { !absent.reasons.isEmpty }
    #expect(!bus.hasStartedUPower)
    do {
      let upower = try bus.startUPower(onBattery: true)
      try waitUntilKnown(true)
      #expect(watcher.changes.isEmpty, "the first known source is not a change")
      withExtendedLifetime(upower) {}
    }
    let upower = try bus.startUPower(onBattery: false)
    defer { withExtendedLifetime(upower) {} }
    #expect(try watcher.next() == SystemChange(kind: .powerSource, value: "mains"))
    #expect(absent.reasons.count == 1, "the missing UPower is reported once")
    #expect(!bus.hasStartedUPower)
  }

  @Test("The provider finds a bus that starts later or restarts (mock)")
  func busAppears() throws {
    try provider.start()
    do {
      let daemon = try bus.start()
      let upower = try bus.startUPower(onBattery: false)
      try waitUntilKnown(false)
      withExtendedLifetime((daemon, upower)) {}
    }
    let daemon = try bus.start()
    let upower = try bus.startUPower(onBattery: true)
    #expect(try watcher.next() == SystemChange(kind: .powerSource, value: "battery"))
    withExtendedLifetime((daemon, upower)) {}
  }
}

/// A separate system bus, on which dbusmock can simulate UPower.
private struct MockBus {
  private let folder = TemporaryDirectory()
  var address: String { "unix:path=\(folder.file("socket"))" }
  /// Whether a client made the bus start UPower.
  var hasStartedUPower: Bool { access(folder.file("started"), F_OK) == 0 }

  static let missing: String? = {
    for path in ["/usr/bin/dbus-daemon", "/usr/bin/busctl", "/usr/bin/python3"]
    where access(path, X_OK) != 0 {
      return "there is no \(path)"
    }
    let found = try? TestProcess.shell("exec python3 -c 'import dbusmock'").waitForExit()
    return found == .exited(code: 0) ? nil : "Python has no module dbusmock (python3-dbusmock)"
  }()

  func start() throws -> TestProcess {
    unlink(folder.file("socket"))
    folder.write(
      "org.freedesktop.UPower.service",
      """
      [D-BUS Service]
      Name=org.freedesktop.UPower
      Exec=/usr/bin/touch \(folder.file("started"))
      """)
    let configuration = folder.write(
      "bus.conf",
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <servicedir>\(folder.path)</servicedir>
        <policy context="default">
          <allow user="*"/><allow own="*"/>
          <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        </policy>
      </busconfig>
      """)
    let daemon = try TestProcess(
      "/usr/bin/dbus-daemon",
      ["dbus-daemon", "--config-file=\(configuration)", "--nofork", "--print-address"])
    guard try daemon.readLine()?.hasPrefix("unix:") == true else {
      throw SystemError(call: "starting dbus-daemon", errno: ECHILD)
    }
    return daemon
  }

  /// Starts the simulated UPower, and returns when it is on the bus.
  func startUPower(onBattery: Bool) throws -> TestProcess {
    let upower = try TestProcess.shell(
      "exec python3 -m dbusmock --template upower -p '{\"OnBattery\": \(onBattery)}'"
    ) { $0.environment += [SystemString("DBUS_SYSTEM_BUS_ADDRESS=\(address)")] }
    let waiting = try TestProcess.shell(
      "until busctl --address=\(address) --auto-start=no status org.freedesktop.UPower "
        + ">/dev/null 2>&1; do kill -0 \(upower.pid) || exit 1; done")
    guard try waiting.waitForExit() == .exited(code: 0) else {
      throw SystemError(call: "starting dbusmock", errno: ECHILD)
    }
    return upower
  }

  func set(_ property: String, _ value: Bool) throws {
    let busctl = try TestProcess.shell(
      "exec busctl --address=\(address) set-property org.freedesktop.UPower "
        + "/org/freedesktop/UPower org.freedesktop.UPower \(property) b \(value)")
    guard try busctl.waitForExit() == .exited(code: 0) else {
      throw SystemError(call: "busctl set-property \(property)", errno: EPROTO)
    }
  }
}
