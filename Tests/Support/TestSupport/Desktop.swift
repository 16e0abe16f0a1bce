import Glibc
import LinuxSystem
import Synchronization

/// An isolated message bus, by default without services. It ends when the value is destroyed, or
/// when the test's process ends in any way.
public final class SessionBus: Sendable {
  public let path: String
  public let process: GuardedProcess
  private let folder = TemporaryDirectory(mode: 0o755)

  public var address: String { "unix:path=\(path)" }
  /// The environment in which a program finds the bus.
  public var environment: [SystemString] {
    ["PATH=/usr/bin:/bin", SystemString("DBUS_SESSION_BUS_ADDRESS=\(address)"), "LANG=C.UTF-8"]
  }

  /// The reason why this machine cannot run a bus; nil if it can.
  public static let missing = Desktop.firstMissing(["dbus-daemon", "dbus-send", "gdbus"])

  private static let configuration = """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <type>session</type>
      <listen>unix:path=@PATH@</listen>
      <auth>EXTERNAL</auth>
      @SERVICES@
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
        @POLICY@
      </policy>
    </busconfig>
    """

  /// Starts the bus, and waits until it accepts clients.
  ///
  /// - Parameters:
  /// - path: the path of the bus socket, in an existing directory.
  /// - services: the directory of the services that the bus can start.
  /// - uid: the only user that the bus accepts; nil for the user of the test.
  /// - policy: further rules of the bus, such as `<deny own="org.example"/>`.
  public init(
    path: String, services: String? = nil, uid: UInt32? = nil, policy: String = ""
  ) throws {
    self.path = path
    let text = Self.configuration.replacing("@PATH@", with: path).replacing(
      "@SERVICES@", with: services.map { "<servicedir>\($0)</servicedir>" } ?? ""
    ).replacing("@POLICY@", with: policy)
    let file = folder.write("bus.conf", text)
    process = try GuardedProcess(
      ["dbus-daemon", "--config-file=\(file)", "--nofork", "--nopidfile", "--print-address=1"],
      uid: uid)
    guard let line = try process.readLine(), line.hasPrefix("unix:") else {
      throw SystemError(call: "starting a dbus-daemon at \(path)", errno: ECHILD)
    }
  }

  /// Waits until a name has an owner.
  public func wait(for name: String) throws {
    let waiting = try TestProcess(
      "/usr/bin/gdbus",
      ["gdbus", "wait", "--session", "--timeout=\(deadline.components.seconds)", name]
    ) { $0.environment = self.environment }
    guard try waiting.waitForExit() == .exited(code: 0) else {
      throw SystemError(call: "waiting for the owner of \(name)", errno: ETIMEDOUT)
    }
  }

  /// Runs a client of the bus, and waits until it exits.
  ///
  /// - Returns: the output of the client.
  /// - Throws: EPROTO if the client fails.
  @discardableResult
  public func run(_ program: String, _ arguments: String...) throws -> String {
    try run(program, arguments)
  }

  func run(
    _ program: String, _ arguments: [String], environment: [SystemString] = []
  ) throws -> String {
    let process = try TestProcess("/usr/bin/\(program)", [program] + arguments) {
      $0.environment = self.environment + environment
    }
    var text = ""
    while let line = try process.readLine() { text += line + "\n" }
    guard try process.waitForExit() == .exited(code: 0) else {
      throw SystemError(call: "\(program) \(arguments.joined(separator: " "))", errno: EPROTO)
    }
    return text
  }
}

/// A desktop without a screen: a bus, and dunst on a virtual display as its notification service.
public final class Desktop: Sendable {
  public let bus: SessionBus
  private let folder: TemporaryDirectory
  private let screen: GuardedProcess
  private let display: String
  private let configuration: String
  private let service: Mutex<GuardedProcess?>

  /// The bus name of notification services.
  public static let serviceName = "org.freedesktop.Notifications"

  /// The reason why this machine cannot run a desktop; nil if it can.
  public static let missing =
    SessionBus.missing ?? firstMissing(["Xvfb", "dunst", "dunstctl", "busctl"])

  static func firstMissing(_ programs: [String]) -> String? {
    programs.first { access("/usr/bin/\($0)", X_OK) != 0 }.map { "there is no /usr/bin/\($0)" }
  }

  /// Starts a bus, a screen and, by default, the service.
  ///
  /// - Parameters:
  /// - timeout: how long a notification is shown, in seconds; with 0, until it is closed.
  /// - shownMax: the maximum number of notifications on the screen. Each new notification redraws
  ///   all others, which takes some milliseconds.
  /// - busPath: the path of the bus socket; nil for a path in a new directory.
  public init(
    timeout: Int = 0, shownMax: Int = 5, isServing: Bool = true, busPath: String? = nil
  ) throws {
    folder = TemporaryDirectory()
    bus = try SessionBus(path: busPath ?? folder.file("bus"))
    screen = try GuardedProcess([
      "Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset",
    ])
    guard let number = try screen.readLine() else {
      throw SystemError(call: "starting Xvfb", errno: ECHILD)
    }
    display = ":\(number)"
    let urgencies = ["low", "normal", "critical"]
    configuration = folder.write(
      "dunstrc",
      "[global]\nidle_threshold = 0\nhistory_length = 2000\nmarkup = full\n"
        + "notification_limit = \(shownMax)\n"
        + urgencies.map { "[urgency_\($0)]\ntimeout = \(timeout)\n" }.joined())
    service = Mutex(nil)
    if isServing { try startService() }
  }

  /// Starts dunst, and waits until it owns the service's name.
  public func startService() throws {
    let process = try GuardedProcess(
      ["dunst", "-config", configuration], environment: environment)
    service.withLock { $0 = process }
    try bus.wait(for: Self.serviceName)
  }

  /// Ends dunst, which discards all notifications.
  public func endService() {
    service.withLock {
      $0?.end()
      $0 = nil
    }
  }

  /// Sends dunst a signal.
  public func sendService(signal: Int32) {
    service.withLock { $0?.send(signal: signal) }
  }

  /// The environment in which a program uses this desktop.
  public var environment: [SystemString] {
    bus.environment + [
      SystemString("DISPLAY=\(display)"), SystemString("HOME=\(folder.path)"),
      SystemString("XDG_RUNTIME_DIR=\(folder.path)"),
    ]
  }

  /// Runs a command of dunstctl. `action 0` chooses the topmost notification, as a user does, and
  /// `close` closes it. `history` prints past notifications. `count` prints the numbers of past and
  /// present notifications.
  ///
  /// - Returns: the output of dunstctl.
  @discardableResult
  public func control(_ arguments: String...) throws -> String {
    try bus.run("dunstctl", arguments, environment: environment)
  }

  /// The numbers of notifications.
  public struct Counts: Hashable, Sendable {
    /// The number of notifications on the screen.
    public var displayed: Int
    /// The number of notifications that wait for space on the screen.
    public var waiting: Int

    public init(displayed: Int, waiting: Int = 0) {
      self.displayed = displayed
      self.waiting = waiting
    }
  }

  /// Returns the numbers of notifications. The service answers only after it has sent the signals
  /// for all earlier changes.
  public func counts() throws -> Counts {
    func number(_ what: String) throws -> Int {
      let digits = try control("count", what).filter { $0.isNumber }
      guard let number = Int(digits) else { throw SystemError(call: "dunstctl", errno: EPROTO) }
      return number
    }
    return Counts(displayed: try number("displayed"), waiting: try number("waiting"))
  }
}
