import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A notification for the screen of a user.
struct DesktopNotification: Hashable {
  /// The urgency levels of the Desktop Notifications Specification.
  enum Urgency: UInt8 {
    case low, normal, critical
  }

  var id: NotificationID
  var application: ApplicationKey
  /// The display name of the application. If it is empty, the desktop shows the application's id.
  var applicationName = ""
  var title: String
  var body = ""
  /// A name of the sound theme, or the absolute path of a sound file; nil for no sound.
  var sound: String?
  var urgency = Urgency.normal
  /// One of the specification's categories, such as `im.received`.
  var category: String?
}

/// The capabilities of a notification service, as GetCapabilities returns them.
struct DesktopCapabilities: OptionSet, Hashable {
  let rawValue: Int

  static let body = DesktopCapabilities(rawValue: 1)
  /// The body is markup.
  static let bodyMarkup = DesktopCapabilities(rawValue: 2)
  /// The user can activate a notification.
  static let actions = DesktopCapabilities(rawValue: 4)
  static let sound = DesktopCapabilities(rawValue: 8)
  /// Notifications stay until the user activates or dismisses them.
  static let persistence = DesktopCapabilities(rawValue: 16)

  static func named(_ names: [String]) -> DesktopCapabilities {
    let known: [String: DesktopCapabilities] = [
      "body": .body, "body-markup": .bodyMarkup, "actions": .actions, "sound": .sound,
      "persistence": .persistence,
    ]
    return DesktopCapabilities(names.compactMap { known[$0] })
  }
}

/// The arguments of a call of Notify (Desktop Notifications Specification 1.2), adapted to the
/// capabilities of a service.
struct DesktopMessage: Equatable {
  /// A hint: its name and its value.
  enum Hint: Equatable {
    case text(String, String)
    case byte(String, UInt8)
    case flag(String, Bool)
  }

  /// The key of the action that the user invokes by activating the notification itself.
  static let defaultAction = "default"

  var applicationName: String
  /// The service's id of the notification that this one replaces; 0 for a new one.
  var replaces: UInt32
  var summary: String
  var body: String
  /// Keys and labels in turn.
  var actions: [String]
  var hints: [Hint]

  init(
    _ notification: DesktopNotification, replacing replaced: UInt32,
    for capabilities: DesktopCapabilities
  ) {
    let name = Self.name(notification.applicationName)
    applicationName = name.isEmpty ? notification.application.id.name : name
    replaces = replaced
    let title = DesktopText.line(notification.title, bytesMax: DesktopText.titleBytesMax)
    let text = DesktopText.lines(notification.body, bytesMax: DesktopText.bodyBytesMax)
    summary = title.isEmpty ? applicationName : title
    if capabilities.contains(.body) {
      body = capabilities.contains(.bodyMarkup) ? DesktopText.escaped(text) : text
    } else {
      // The service shows no bodies, so the title contains the text.
      body = ""
      let all = [title, text].filter { !$0.isEmpty }.joined(separator: ": ")
      if !all.isEmpty {
        summary = DesktopText.line(all, bytesMax: DesktopText.bodyBytesMax)
      }
    }
    actions = capabilities.contains(.actions) ? [Self.defaultAction, "Open"] : []
    hints = [
      .byte("urgency", notification.urgency.rawValue),
      // Services use this name to find the application's icon and the user's settings for it.
      .text("desktop-entry", notification.application.id.name),
    ]
    if let category = notification.category {
      hints.append(.text("category", Self.name(category)))
    }
    if capabilities.contains(.sound) { hints.append(Self.hint(sound: notification.sound)) }
  }

  private static func name(_ text: String) -> String {
    DesktopText.line(text, bytesMax: DesktopText.nameBytesMax)
  }

  private static func hint(sound: String?) -> Hint {
    guard let sound, !sound.isEmpty else { return .flag("suppress-sound", true) }
    return .text(sound.hasPrefix("/") ? "sound-file" : "sound-name", name(sound))
  }

  /// Appends the arguments to a call of Notify.
  func append(to body: MessageBody) throws(SystemError) {
    try body.append(applicationName)
    try body.append(replaces)
    // The icon name is empty, so the service uses the icon of the desktop entry.
    try body.append("")
    try body.append(summary)
    try body.append(self.body)
    try body.append(actions)
    try body.array("{sv}") { () throws(SystemError) in
      for hint in hints { try Self.append(hint, to: body) }
    }
    // With -1, the service decides how long it shows the notification.
    try body.append(Int32(-1))
  }

  private static func append(_ hint: Hint, to body: MessageBody) throws(SystemError) {
    try body.entry("sv") { () throws(SystemError) in
      switch hint {
      case .text(let name, let value):
        try body.append(name)
        try body.variant("s") { () throws(SystemError) in try body.append(value) }
      case .byte(let name, let value):
        try body.append(name)
        try body.variant("y") { () throws(SystemError) in try body.append(value) }
      case .flag(let name, let value):
        try body.append(name)
        try body.variant("b") { () throws(SystemError) in try body.append(value) }
      }
    }
  }
}

extension BusError {
  /// Whether the service or the bus refused the call because of a limit or a policy, so that a
  /// later call may succeed.
  var isTemporary: Bool {
    saysNotAllowed
      || name == "org.freedesktop.Notifications.Error.ExcessNotificationGeneration"
  }
}
