import TaskSchedulerCore
import TaskSchedulerWire

/// What is wrong with a notification that is asked for.
struct NotificationMistake: Error {
  /// The field, from the call's parameters down.
  var parameter: String
  /// What is wrong and what would be right.
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

  /// Checks every field, and finds out when it fires first.
  init(
    _ content: ApplicationInterface.NotificationContent,
    _ schedule: ApplicationInterface.NotificationSchedule?, _ notifications: LocalNotifications
  ) throws(NotificationMistake) {
    try Self.check(content.title, "content.title", bytesMax: Self.titleBytesMax)
    if content.title.isEmpty {
      throw NotificationMistake(parameter: "content.title", reason: "a notification has a title")
    }
    try Self.check(content.body ?? "", "content.body", bytesMax: Self.textBytesMax)
    try Self.check(content.sound ?? "", "content.sound", bytesMax: Self.soundBytesMax)
    if (content.userData ?? "").utf8.count > Self.textBytesMax {
      throw NotificationMistake(
        parameter: "content.userData", reason: "at most \(Self.textBytesMax) bytes")
    }
    if let badge = content.badge, !(0...Self.badgeMax).contains(badge) {
      throw NotificationMistake(
        parameter: "content.badge", reason: "a badge is from 0 to \(Self.badgeMax)")
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
      throw NotificationMistake(
        parameter: "schedule.\(error.field.rawValue)", reason: error.message)
    }
  }

  private static func check(
    _ text: String, _ parameter: String, bytesMax: Int
  ) throws(NotificationMistake) {
    guard text.utf8.count <= bytesMax else {
      throw NotificationMistake(parameter: parameter, reason: "at most \(bytesMax) bytes")
    }
    let isBad = text.unicodeScalars.contains {
      $0.properties.generalCategory == .control && $0 != "\n"
    }
    if isBad {
      throw NotificationMistake(
        parameter: parameter, reason: "no control characters but line feeds")
    }
  }
}
