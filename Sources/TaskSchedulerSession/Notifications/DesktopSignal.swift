import EventLoop

/// A signal on a session bus that concerns notifications.
enum DesktopSignal: Equatable {
  /// The new owner of the service's name; nil if it has none.
  case owner(String?)
  case closed(UInt32)
  /// The user has chosen an action; nil for the notification itself.
  case chosen(UInt32, action: String?)
  /// An activation token. The program that handles the activation may use it to take the focus.
  case token(UInt32, String)
  /// A dock, which shows badges, has started or exited.
  case dock(isRunning: Bool)

  /// Whether the sender of the signal is the service. The sender of all other signals is the bus.
  var isOfService: Bool {
    switch self {
    case .owner, .dock: false
    case .closed, .chosen, .token: true
    }
  }

  static let service = "org.freedesktop.Notifications"
  static let path = "/org/freedesktop/Notifications"

  /// The match rules for AddMatch.
  static let rules = [
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'",
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Badges.dock)'",
    "type='signal',sender='\(service)',path='\(path)',interface='\(service)'",
  ]

  /// The maximum length of a token, in bytes. The agent ignores longer tokens.
  static let tokenBytesMax = 1024

  /// Parses a message.
  ///
  /// - Parameter owner: The unique name of the service. If another program has sent a signal about
  ///   a notification, the initializer ignores the signal.
  /// - Returns: nil for any other message.
  init?(_ message: OpaquePointer, from owner: String?) {
    let reader = MessageReader(message)
    guard let sender = reader.sender else { return nil }
    if sender == "org.freedesktop.DBus" {
      guard reader.isSignal("org.freedesktop.DBus", "NameOwnerChanged"),
        let name = reader.text(), reader.text() != nil, let owner = reader.text()
      else { return nil }
      switch name {
      case Self.service: self = .owner(owner.isEmpty ? nil : owner)
      case Badges.dock: self = .dock(isRunning: !owner.isEmpty)
      default: return nil
      }
      return
    }
    guard sender == owner else { return nil }
    if reader.isSignal(Self.service, "NotificationClosed") {
      guard let name = reader.number() else { return nil }
      self = .closed(name)
    } else if reader.isSignal(Self.service, "ActionInvoked") {
      guard let name = reader.number(), let key = reader.text(),
        let action = DesktopMessage.action(forKey: key)
      else { return nil }
      self = .chosen(name, action: action)
    } else if reader.isSignal(Self.service, "ActivationToken") {
      guard let name = reader.number(), let token = reader.text(), Self.isToken(token) else {
        return nil
      }
      self = .token(name, token)
    } else {
      return nil
    }
  }

  /// Returns whether a token can be the value of an environment variable.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= tokenBytesMax
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
