import CSystemd
import EventLoop

/// A signal on a session bus that concerns notifications.
enum DesktopSignal: Equatable {
  /// The new owner of the service's name; nil if it has none.
  case owner(String?)
  case closed(UInt32, DesktopNotifications.CloseReason)
  /// The user has activated the notification itself.
  case chosen(UInt32)
  /// The token with which the program that handles the activation may take the focus.
  case token(UInt32, String)

  /// Whether the service sends the signal; otherwise the bus does.
  var isOfService: Bool {
    switch self {
    case .owner: false
    case .closed, .chosen, .token: true
    }
  }

  static let service = "org.freedesktop.Notifications"
  static let path = "/org/freedesktop/Notifications"

  /// The match rules for AddMatch.
  static let rules = [
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'",
    "type='signal',sender='\(service)',path='\(path)',interface='\(service)'",
  ]

  /// The maximum length of a token, in bytes. Longer tokens are ignored.
  static let tokenBytesMax = 1024

  /// Parses a message.
  ///
  /// - Parameter owner: The unique name of the service. Signals about notifications from other
  ///   senders are ignored.
  /// - Returns: nil for any other message.
  init?(_ message: OpaquePointer, from owner: String?) {
    guard let sender = sd_bus_message_get_sender(message).map({ String(cString: $0) }) else {
      return nil
    }
    let reader = MessageReader(message)
    if sender == "org.freedesktop.DBus" {
      guard Self.isSignal(message, "org.freedesktop.DBus", "NameOwnerChanged"),
        reader.text() == Self.service, reader.text() != nil, let owner = reader.text()
      else { return nil }
      self = .owner(owner.isEmpty ? nil : owner)
      return
    }
    guard sender == owner else { return nil }
    if Self.isSignal(message, Self.service, "NotificationClosed") {
      guard let name = reader.number(), let reason = reader.number() else { return nil }
      self = .closed(name, Self.reason(reason))
    } else if Self.isSignal(message, Self.service, "ActionInvoked") {
      guard let name = reader.number(), reader.text() == DesktopMessage.defaultAction else {
        return nil
      }
      self = .chosen(name)
    } else if Self.isSignal(message, Self.service, "ActivationToken") {
      guard let name = reader.number(), let token = reader.text(), Self.isToken(token) else {
        return nil
      }
      self = .token(name, token)
    } else {
      return nil
    }
  }

  private static func isSignal(_ message: OpaquePointer, _ interface: String, _ member: String)
    -> Bool
  {
    sd_bus_message_is_signal(message, interface, member) > 0
  }

  private static func reason(_ number: UInt32) -> DesktopNotifications.CloseReason {
    switch number {
    case 1: .expired
    case 2: .dismissed
    case 3: .closedByCall
    case _: .undefined
    }
  }

  /// Returns whether a token can be the value of an environment variable.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= tokenBytesMax
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
