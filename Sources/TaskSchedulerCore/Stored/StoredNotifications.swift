extension NotificationSchedule: StoredByForm {
  package static let form = Form(
    NotificationSchedule.init(date:timeZone:repeats:), \.date, \.timeZone, \.repeats)
}

extension NotificationContent: StoredByForm {
  package static let form = Form(
    NotificationContent.init(title:body:sound:badge:userData:), \.title, \.body, \.sound, \.badge,
    \.userData)
}

extension NotificationDraft: StoredByForm {
  package static let form = Form(
    NotificationDraft.init(content:schedule:firesAt:), \.content, \.schedule, \.firesAt)
}

extension ScheduledNotification: StoredByForm {
  package static let form = Form(
    ScheduledNotification.init(id:application:firesAt:repeats:), \.id, \.application, \.firesAt,
    \.repeats)
}

extension Notifications.Pending: StoredByForm {
  static let form = Form(
    Notifications.Pending.init(id:transaction:request:), \.id, \.transaction, \.request)
}

/// Counts and deadlines are not stored, because they follow from the notifications.
extension Notifications: StoredByForm {
  static let form = Form(
    derived: Notifications.init(
      scheduled:pending:awaitingNext:idLast:transactionLast:wallOffset:), \.scheduled, \.pending,
    \.awaitingNext, \.idLast, \.transactionLast, \.wallOffset)
}
