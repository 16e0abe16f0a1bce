import Glibc
import LinuxSystem

/// The real GeoClue with an emulated receiver, on a separate system bus that starts GeoClue on
/// demand. The bus and GeoClue end when the value is destroyed.
///
/// GeoClue runs in a network namespace without interfaces, because it would otherwise ask a service
/// on the internet for the location. It also runs in a mount namespace, in which a configuration
/// for the test replaces the machine's configuration of GeoClue.
public final class GeoClueService {
  public let bus: SessionBus
  private let directory: TemporaryDirectory
  private let agent: TestProcess

  public static let name = "org.freedesktop.GeoClue2"
  private static let program = "/usr/libexec/geoclue"
  private static let configuration = "/etc/geoclue/geoclue.conf"
  /// The program of the GeoClue agent and the receiver.
  private static let agentProgram =
    "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/geoclue-agent.py"

  /// The reason why this machine cannot run GeoClue; nil if it can.
  public static let missing: String? = {
    if let missing = SessionBus.missing { return missing }
    if access(program, X_OK) != 0 || access(configuration, R_OK) != 0 {
      return "GeoClue 2 is not installed; `make test-setup` installs it"
    }
    if geteuid() != 0 { return "replacing the configuration of GeoClue needs root" }
    if (try? TestProcess.python("import dbus, gi").waitForExit()) != .exited(code: 0) {
      return "Python has no module dbus or gi; `make test-setup` installs them"
    }
    let unshare = try? TestProcess(
      "/usr/bin/unshare", ["unshare", "--mount", "--net", "--propagation", "private", "true"])
    return (try? unshare?.waitForExit()) == .exited(code: 0)
      ? nil : "this machine permits no mount or network namespace"
  }()

  /// Starts the bus. GeoClue starts when a program needs it.
  ///
  /// - Parameter levelMax: the highest accuracy level that the GeoClue agent of the user permits,
  ///   at most 8; nil if the user has no GeoClue agent.
  public init(levelMax: Int? = 8) throws {
    directory = TemporaryDirectory(mode: 0o755)
    let path = directory.file("bus"), receiver = directory.file("nmea")
    let configuration = directory.write(
      "geoclue.conf",
      """
      [agent]
      whitelist=taskschedd-test
      [network-nmea]
      enable=true
      nmea-socket=\(receiver)
      [3g]
      enable=false
      [cdma]
      enable=false
      [modem-gps]
      enable=false
      [wifi]
      enable=false
      url=http://127.0.0.1:9/
      submit-data=false
      submission-nick=geoclue
      [compass]
      enable=false

      """)
    let script = directory.write(
      "start-geoclue",
      """
      export DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(path)
      exec unshare --mount --net --propagation private sh -c 'mount --bind "$1" "$2" && exec "$3"' \
      sh \(configuration) \(Self.configuration) \(Self.program)

      """)
    directory.write(
      "\(Self.name).service", "[D-BUS Service]\nName=\(Self.name)\nExec=/bin/sh \(script)\n")
    bus = try SessionBus(path: path, services: directory.path)
    agent = try TestProcess(
      "/usr/bin/python3",
      [
        "python3", "-I", "-u", Self.agentProgram, receiver,
        levelMax.map { "\($0)" } ?? "absent",
      ]
    ) { [bus] in
      $0.environment = [
        "PATH=/usr/bin:/bin", SystemString("DBUS_SYSTEM_BUS_ADDRESS=\(bus.address)"),
      ]
    }
    guard try agent.readLine() == "ready" else {
      throw SystemError(call: "starting the GeoClue agent", errno: ECHILD)
    }
  }

  // Ends the bus, and thereby GeoClue, before the directory that both use is removed.
  deinit { bus.process.end() }

  /// Returns whether GeoClue runs.
  public func isRunning() throws -> Bool { try callBus("NameHasOwner").contains("true") }

  /// Kills GeoClue.
  public func kill() throws {
    let digits = try callBus("GetConnectionUnixProcessID").split(separator: " ").last ?? ""
    guard let pid = Int32(digits.filter(\.isNumber)), pid > 0 else {
      throw SystemError(call: "finding the process of GeoClue", errno: ESRCH)
    }
    Glibc.kill(pid, SIGKILL)
  }

  private func callBus(_ member: String) throws -> String {
    let bus = "org.freedesktop.DBus"
    return try self.bus.run(
      "gdbus", "call", "--session", "--dest", bus, "--object-path", "/", "--method",
      "\(bus).\(member)", Self.name)
  }

  // MARK: The receiver and the GeoClue agent

  /// Sets the position that the receiver sends to GeoClue.
  ///
  /// - Parameter dilution: the horizontal dilution of precision. For a dilution of up to 1, GeoClue
  ///   reports an accuracy of 0 m; for a dilution above 1 and up to 5, an accuracy of 3 m.
  public func setPosition(
    _ latitude: Double, _ longitude: Double, dilution: Double = 4, altitude: Double = 34.5
  ) throws {
    try run("[\"position\", \(latitude), \(longitude), \(dilution), \(altitude)]")
  }

  /// Sets the highest accuracy level that the user's GeoClue agent permits. With 0, the user has
  /// switched the location off. Adds the agent if the user has none.
  public func setLevel(_ level: Int) throws { try run("[\"level\", \(level)]") }

  /// Returns whether GeoClue reads from the receiver.
  public func isReceiving() throws -> Bool {
    try agent.writeLine("[\"receiving\"]")
    return try agent.readLine() == "true"
  }

  private func run(_ command: String) throws {
    try agent.writeLine(command)
    guard try agent.readLine() == "done" else {
      throw SystemError(call: "GeoClue agent: \(command)", errno: ECHILD)
    }
  }
}
