import LinuxSystem

/// The properties of the user's session that the environment contains.
package struct SessionEnvironment: Hashable, Sendable {
  /// XDG_RUNTIME_DIR: the directory of the user's sockets.
  package var runtimeDirectory: String?
  /// SWAYSOCK: sway's socket. A restarted sway listens at another path.
  package var swaySocket: String?
  /// WAYLAND_DISPLAY.
  package var waylandDisplay: String?
  /// DISPLAY: the display of the X server, or of Xwayland in a Wayland session.
  package var display: String?
  /// The Unix sockets in DBUS_SESSION_BUS_ADDRESS, or the bus of systemd's user manager in
  /// ``runtimeDirectory``. Addresses with other transports are left out, because sd-bus would start
  /// programs or wait for name servers to connect to them.
  package var busAddress: String?
  /// The Unix sockets in DBUS_SYSTEM_BUS_ADDRESS, or the socket of the machine's system bus; nil if
  /// the variable names no Unix socket.
  package var systemBusAddress: String?
  /// The absolute path of the audio server's socket, as PulseAudio's clients find it: from
  /// PULSE_SERVER, PULSE_RUNTIME_PATH or ``runtimeDirectory``. Nil if they name no absolute path,
  /// for example because the server is on another machine.
  package var audioSocket: String?
  /// The user of the session.
  package var uid: UInt32
  /// The directory of the X servers' sockets.
  package var xDirectory: String

  /// Reads the environment.
  ///
  /// - Parameters:
  ///   - variable: returns the value of an environment variable.
  ///   - xDirectory: the directory of the X servers' sockets.
  package init(
    uid: UInt32, xDirectory: String = "/tmp/.X11-unix", variable: (String) -> String?
  ) {
    func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
    runtimeDirectory = value("XDG_RUNTIME_DIR")
    swaySocket = value("SWAYSOCK")
    waylandDisplay = value("WAYLAND_DISPLAY")
    display = value("DISPLAY")
    if let address = value("DBUS_SESSION_BUS_ADDRESS") {
      busAddress = Self.unixSockets(in: address)
    } else {
      busAddress = runtimeDirectory.map { "unix:path=\(URIText.escaped($0))/bus" }
    }
    systemBusAddress = Self.unixSockets(
      in: value("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket")
    audioSocket = Self.audioSocket(
      server: value("PULSE_SERVER"), directory: value("PULSE_RUNTIME_PATH"), runtimeDirectory)
    self.uid = uid
    self.xDirectory = xDirectory
  }

  private static func audioSocket(
    server: String?, directory: String?, _ runtimeDirectory: String?
  ) -> String? {
    if let server {
      let path = server.hasPrefix("unix:") ? String(server.dropFirst(5)) : server
      return path.hasPrefix("/") ? path : nil
    }
    if let directory { return directory.hasPrefix("/") ? "\(directory)/native" : nil }
    return runtimeDirectory.map { "\($0)/pulse/native" }
  }

  /// Returns the Unix sockets of a D-Bus address, without the id of the bus: a bus that restarts at
  /// the same path has another id. Nil if there is no Unix socket.
  private static func unixSockets(in address: String) -> String? {
    let sockets = address.split(separator: ";").filter { $0.hasPrefix("unix:") }
    if sockets.isEmpty { return nil }
    return sockets.map { socket in
      let values = socket.dropFirst("unix:".count).split(separator: ",")
      return "unix:" + values.filter { !$0.hasPrefix("guid=") }.joined(separator: ",")
    }.joined(separator: ";")
  }

  /// A place where a compositor or X server can listen.
  enum Candidate: Hashable {
    case sway(path: String)
    case x(display: String)
  }

  /// The variables by which the agent finds the session, such as `WAYLAND_DISPLAY=wayland-1`.
  package var displayText: String {
    let variables = [
      ("WAYLAND_DISPLAY", waylandDisplay), ("SWAYSOCK", swaySocket), ("DISPLAY", display),
    ]
    let texts = variables.map { "\($0)=\($1 ?? "")" }
    return texts.joined(separator: " ")
  }

  /// Whether the session is an X11 session, in which the agent asks the X server for the windows.
  /// In a Wayland session, the X server has only some of the windows. In an X11 session, the agent
  /// does not ask sway, because sway can run only inside a window.
  var isX11: Bool { display != nil && waylandDisplay == nil && swaySocket == nil }

  /// Returns the places where the session's compositor or X server may listen now.
  ///
  /// - Parameters:
  ///   - runtimeNames: the names in ``runtimeDirectory``.
  ///   - xNames: the names in ``xDirectory``.
  func candidates(runtimeNames: [String], xNames: [String]) -> [Candidate] {
    if isX11 { return xDisplay(among: xNames).map { [.x(display: $0)] } ?? [] }
    var paths: [String] = []
    if let swaySocket { paths.append(swaySocket) }
    if let runtimeDirectory {
      paths += runtimeNames.filter(isSwaySocket).map { "\(runtimeDirectory)/\($0)" }
        .filter { $0 != swaySocket }
    }
    return paths.map { .sway(path: $0) }
  }

  /// Returns whether an entry of the runtime directory is sway's socket: `sway-ipc.UID.PID.sock`.
  func isSwaySocket(_ name: String) -> Bool {
    name.hasPrefix("sway-ipc.\(uid).") && name.hasSuffix(".sock")
  }

  /// Returns whether an entry of the directory of X servers is the socket of the session's display.
  func isXSocket(_ name: String) -> Bool { isX11 && name == xSocketName }

  private func xDisplay(among names: [String]) -> String? {
    guard let display, let xSocketName, names.contains(xSocketName) else { return nil }
    return display
  }

  /// The name of the display's socket: `X5` for display `:5.0`; nil for a display on another
  /// machine.
  private var xSocketName: String? {
    guard let display, display.hasPrefix(":") || display.hasPrefix("unix:") else { return nil }
    let digits = display.drop { $0 != ":" }.dropFirst().prefix { $0.isNumber }
    return digits.isEmpty ? nil : "X\(digits)"
  }
}
