import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// The capabilities of a notification service, as GetCapabilities returns them.
struct DesktopCapabilities: OptionSet, Hashable {
  let rawValue: Int

  static let body = DesktopCapabilities(rawValue: 1)
  /// The body is markup.
  static let bodyMarkup = DesktopCapabilities(rawValue: 2)
  /// The user can choose a notification or one of its actions.
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
  /// The prefix of the keys of the application's actions. Without it, an action with the id
  /// `default` would have the key of the notification itself.
  private static let actionPrefix = "action."
  /// The sound name with which an application lets the service choose the sound.
  private static let defaultSound = "default"

  var applicationName: String
  /// The service's id of the notification that this one replaces; 0 for a new one.
  var replaces: UInt32
  /// A name of the icon theme or a file URI. If it is empty, the service uses the icon of the
  /// desktop entry.
  var icon: String
  var summary: String
  var body: String
  /// The keys and labels of the actions, alternating.
  var actions: [String]
  var hints: [Hint]

  init(
    _ notification: PresentedNotification, replacing replaced: UInt32,
    for capabilities: DesktopCapabilities
  ) {
    let content = notification.content
    let name = Self.name(content.applicationName ?? "")
    applicationName = name.isEmpty ? Self.name(content.application) : name
    replaces = replaced
    icon = Self.icon(content.icon ?? "")
    let title = DesktopText.line(content.title, bytesMax: DesktopText.titleBytesMax)
    let text = DesktopText.lines(content.body ?? "", bytesMax: DesktopText.bodyBytesMax)
    summary = title.isEmpty ? applicationName : title
    if capabilities.contains(.body) {
      body = capabilities.contains(.bodyMarkup) ? DesktopText.escaped(text) : text
    } else {
      // The service shows no bodies, so the summary contains the title and the body.
      body = ""
      let all = [title, text].filter { !$0.isEmpty }.joined(separator: ": ")
      if !all.isEmpty {
        summary = DesktopText.line(all, bytesMax: DesktopText.bodyBytesMax)
      }
    }
    actions = capabilities.contains(.actions) ? Self.actions(content.actions) : []
    hints = [
      .byte("urgency", Self.level(content.urgency)),
      // By this name, services find the application's icon, and the user's settings for the
      // application.
      .text("desktop-entry", Self.name(content.application)),
    ]
    if let category = content.category { hints.append(.text("category", Self.name(category))) }
    if capabilities.contains(.sound) {
      hints += Self.hints(sound: notification.isSilent ? nil : content.sound)
    }
  }

  /// Returns the id of the action with a key.
  ///
  /// - Returns: `.some(nil)` for the notification itself; nil for a key that no message has.
  static func action(forKey key: String) -> String?? {
    if key == defaultAction { return .some(nil) }
    guard key.hasPrefix(actionPrefix) else { return nil }
    return .some(String(key.dropFirst(actionPrefix.count)))
  }

  private static func actions(_ actions: [SessionInterface.NotificationAction]) -> [String] {
    [defaultAction, "Open"] + actions.flatMap { [actionPrefix + name($0.id), name($0.title)] }
  }

  private static func name(_ text: String) -> String {
    DesktopText.line(text, bytesMax: DesktopText.nameBytesMax)
  }

  /// Returns the icon as the specification requires: a name, or a URI in place of a path.
  private static func icon(_ icon: String) -> String {
    let icon = name(icon)
    return icon.hasPrefix("/") ? "file://" + URIText.escaped(icon) : icon
  }

  private static func level(_ urgency: SessionInterface.Urgency) -> UInt8 {
    switch urgency {
    case .low: 0
    case .normal: 1
    case .critical: 2
    }
  }

  private static func hints(sound: String?) -> [Hint] {
    guard let sound, !sound.isEmpty else { return [.flag("suppress-sound", true)] }
    if sound == defaultSound { return [] }
    return [.text(sound.hasPrefix("/") ? "sound-file" : "sound-name", name(sound))]
  }

  /// Appends the arguments to a call of Notify.
  func append(to body: MessageBody) throws(SystemError) {
    try body.append(applicationName)
    try body.append(replaces)
    try body.append(icon)
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
