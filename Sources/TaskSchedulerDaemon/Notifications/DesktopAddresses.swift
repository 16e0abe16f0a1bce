import EventLoop
import TaskSchedulerCore

/// Where the session buses are on which users' notification services are found.
public enum DesktopAddresses: Hashable, Sendable {
  /// One bus for all: that of the user whose daemon this is, or one that was named.
  case one(String)
  /// The bus of each user, at `UID/bus` in this directory. The listening process must run as that
  /// user.
  case eachUsers(folder: String)

  /// Those of a daemon, unless others are named.
  ///
  /// - Returns: nil for a user's daemon in whose environment no session bus is named.
  public static func usual(
    for scope: ConfigurationPaths.Scope, environment: [String: String]
  ) -> DesktopAddresses? {
    switch scope {
    case .system: return .eachUsers(folder: "/run/user")
    case .user:
      if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
        return .one(address)
      }
      guard let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") else { return nil }
      return .one("unix:path=\(escaped(folder))/bus")
    }
  }

  /// Where a user's bus is.
  ///
  /// - Returns: nil where an address was named that is of no Unix socket: sd-bus would start
  ///   programs for other kinds, or wait for name servers.
  func address(of user: UserID) -> BusAddress? {
    switch self {
    case .one(let text):
      let sockets = text.split(separator: ";").filter { $0.hasPrefix("unix:") }
      guard !sockets.isEmpty else { return nil }
      return BusAddress(text: sockets.map(Self.withoutID).joined(separator: ";"), owner: nil)
    case .eachUsers(let folder):
      return BusAddress(
        text: "unix:path=\(Self.escaped(folder))/\(user.uid)/bus", owner: user.uid)
    }
  }

  /// The bus of an id ends one day, and that of another takes its place at the same path.
  private static func withoutID(_ address: Substring) -> String {
    let colon = address.firstIndex(of: ":").map { address.index(after: $0) } ?? address.startIndex
    let values = address[colon...].split(separator: ",").filter { !$0.hasPrefix("guid=") }
    return address[..<colon] + values.joined(separator: ",")
  }

  /// A path as addresses have it: `%` and hexadecimal digits for most signs.
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
