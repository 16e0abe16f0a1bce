import CSystemd
import EventLoop

/// What a message on a session bus says of notifications.
enum DesktopSignal: Equatable {
  /// Who owns the service's name from now on.
  case owner(String?)
  case closed(UInt32, DesktopNotifications.CloseReason)
  /// The user has chosen the notification itself.
  case chosen(UInt32)
  /// By which the program that is chosen next may take the focus.
  case token(UInt32, String)

  /// Whether the service has sent it, and not the bus.
  var isOfService: Bool {
    switch self {
    case .owner: false
    case .closed, .chosen, .token: true
    }
  }

  static let service = "org.freedesktop.Notifications"
  static let path = "/org/freedesktop/Notifications"

  /// What is to be asked for by AddMatch.
  static let rules = [
    "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(service)'",
    "type='signal',sender='\(service)',path='\(path)',interface='\(service)'",
  ]

  /// Longer ones are no tokens.
  static let tokenBytesMax = 1024

  /// - Parameter owner: the service; what others say of notifications is not heard.
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

  /// It becomes a variable of a program's environment.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= tokenBytesMax
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}
