import EventLoop
import TaskSchedulerCore

/// The addresses of the session buses on which the daemon searches for notification services.
public enum DesktopAddresses: Hashable, Sendable {
  /// The same bus for all users: the session bus of the user that runs the daemon, or a bus that
  /// the operator named.
  case one(String)
  /// A bus for each user, at `UID/bus` in this directory. The process that listens there must run
  /// as that user.
  case perUser(folder: String)

  /// Returns the default addresses of a daemon.
  ///
  /// - Returns: nil for a user's daemon whose environment names no session bus.
  public static func usual(
    for scope: ConfigurationPaths.Scope, environment: [String: String]
  ) -> DesktopAddresses? {
    switch scope {
    case .system: return .perUser(folder: "/run/user")
    case .user:
      if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
        return .one(address)
      }
      guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
      return .one("unix:path=\(escaped(folder))/bus")
    }
  }

  /// Returns the address of a user's session bus.
  ///
  /// - Returns: nil if the configured address names no Unix socket. With other transports, sd-bus
  ///   would start programs or wait for name servers.
  func address(of user: UserID) -> BusAddress? {
    switch self {
    case .one(let text):
      let sockets = text.split(separator: ";").filter { $0.hasPrefix("unix:") }
      guard !sockets.isEmpty else { return nil }
      return BusAddress(text: sockets.map(Self.withoutID).joined(separator: ";"), owner: nil)
    case .perUser(let folder):
      return BusAddress(
        text: "unix:path=\(Self.escaped(folder))/\(user.uid)/bus", owner: user.uid)
    }
  }

  /// Returns the address without the bus's id: a bus that restarts at the same path has another id.
  private static func withoutID(_ address: Substring) -> String {
    let colon = address.firstIndex(of: ":").map { address.index(after: $0) } ?? address.startIndex
    let values = address[colon...].split(separator: ",").filter { !$0.hasPrefix("guid=") }
    return address[..<colon] + values.joined(separator: ",")
  }

  /// Escapes a path for a D-Bus address: `%` and two hexadecimal digits for each byte that is not
  /// allowed.
  private static func escaped(_ path: String) -> String {
    var result = ""
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "/"), UInt8(ascii: "."):
        result.unicodeScalars.append(Unicode.Scalar(byte))
      case _:
        let digits = String(byte, radix: 16)
        result += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
      }
    }
    return result
  }
}
