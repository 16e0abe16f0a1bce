import TaskSchedulerCore
import TaskSchedulerWire

/// An error in a request for a notification.
struct NotificationRequestError: Error {
  /// The path of the field in the call's parameters.
  var parameter: String
  /// A sentence that says what is wrong, and which values are valid.
  var reason: String
}

extension NotificationDraft {
  /// The longest title, in bytes.
  static let titleBytesMax = 256
  /// The longest body, and the longest user data, in bytes.
  static let textBytesMax = 4096
  /// The longest name or path of a sound, in bytes.
  static let soundBytesMax = 1024
  static let badgeMax = 999_999_999

  /// Checks all fields, and computes the first firing time.
  init(
    _ content: ApplicationInterface.NotificationContent,
    _ schedule: ApplicationInterface.NotificationSchedule?, _ notifications: LocalNotifications
  ) throws(NotificationRequestError) {
    try Self.check(content.title, "content.title", bytesMax: Self.titleBytesMax)
    if content.title.isEmpty {
      throw NotificationRequestError(parameter: "content.title", reason: "it must not be empty")
    }
    try Self.check(content.body ?? "", "content.body", bytesMax: Self.textBytesMax)
    if let sound = content.sound { try Self.check(sound: sound) }
    if (content.userData ?? "").utf8.count > Self.textBytesMax {
      throw NotificationRequestError(
        parameter: "content.userData", reason: "it must have at most \(Self.textBytesMax) bytes")
    }
    if let badge = content.badge, !(0...Self.badgeMax).contains(badge) {
      throw NotificationRequestError(
        parameter: "content.badge", reason: "a badge must be from 0 to \(Self.badgeMax)")
    }
    self.init(
      content: NotificationContent(
        title: content.title, body: content.body ?? "", sound: content.sound,
        badge: content.badge, userData: content.userData))
    guard let schedule else { return }
    let repeats = schedule.repeats.flatMap { RepeatInterval(rawValue: $0.rawValue) }
    let wanted = NotificationSchedule(
      date: schedule.date, timeZone: schedule.timeZone, repeats: repeats)
    self.schedule = wanted
    do throws(ScheduleError) {
      firesAt = try notifications.first(wanted)
    } catch {
      throw NotificationRequestError(
        parameter: "schedule.\(error.field.rawValue)", reason: error.message)
    }
  }

  /// Accepts a name of the freedesktop Sound Naming Specification or an absolute path.
  private static func check(sound: String) throws(NotificationRequestError) {
    let parameter = "content.sound"
    try check(sound, parameter, bytesMax: soundBytesMax)
    let isSound: Bool
    if sound.hasPrefix("/") {
      let names = sound.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      isSound = !sound.utf8.contains(UInt8(ascii: "\n"))
        && names.allSatisfy { !["", ".", ".."].contains($0) }
    } else {
      isSound = !sound.isEmpty && !sound.hasPrefix(".") && sound.utf8.allSatisfy(isSoundNameByte)
    }
    if isSound { return }
    throw NotificationRequestError(
      parameter: parameter,
      reason: "it must be a name of the sound theme (lower-case letters, digits, -, _ and dots) or "
        + "the absolute path of a sound file (no empty, . or .. components)")
  }

  private static func isSoundNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    case _: false
    }
  }

  private static func check(
    _ text: String, _ parameter: String, bytesMax: Int
  ) throws(NotificationRequestError) {
    guard text.utf8.count <= bytesMax else {
      throw NotificationRequestError(
        parameter: parameter, reason: "it must have at most \(bytesMax) bytes")
    }
    let isBad = text.unicodeScalars.contains {
      $0.properties.generalCategory == .control && $0 != "\n"
    }
    if isBad {
      throw NotificationRequestError(
        parameter: parameter, reason: "line feeds are the only allowed control characters")
    }
  }
}
