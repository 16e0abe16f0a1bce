import TaskSchedulerCore

/// A notification in the store. It stays there until it is cancelled, or until the store removes it
/// because of the limit on past notifications.
struct StoredNotification: Equatable {
  var id: NotificationID
  var application: ApplicationKey
  var content: NotificationContent
  /// The schedule; nil if the notification is to be presented at once.
  var schedule: NotificationSchedule?
  /// The next firing time; nil if the notification does not fire again.
  var firesAt: WallTime?
  /// The last firing time.
  var firedAt: WallTime?
  /// The time of the last presentation that followed a new firing. A presentation shows the
  /// notification to the user, or delivers it to its application. If the notification is shown
  /// again without a new firing, this time does not change.
  var presentedAt: WallTime?
  /// Whether the notification must be presented. A notification becomes due when it fires, or at
  /// once if it has no schedule. It stays due until it is presented.
  var isDue: Bool
  /// The notification service that shows the notification, and the id that the service assigned;
  /// nil if no service shows the notification.
  var shownAs: DesktopName?

  /// The state that users see. A repeating notification that is due also has a next firing time.
  /// Its state is then ``fired``, not ``scheduled``.
  enum State: String, Hashable, CaseIterable {
    case scheduled, fired, presented
  }

  var state: State {
    if isDue { return .fired }
    return firesAt == nil ? .presented : .scheduled
  }
}

extension StoredNotification {
  /// Creates a requested notification. Without a schedule, it is due at once.
  init(_ id: NotificationID, of key: ApplicationKey, _ draft: NotificationDraft) {
    let isScheduled = draft.schedule != nil
    self.init(
      id: id, application: key, content: draft.content, schedule: draft.schedule,
      firesAt: isScheduled ? draft.firesAt : nil, isDue: !isScheduled)
  }
}

extension NotificationContent {
  /// The total length of the notification's texts, in bytes.
  var bytesCount: Int {
    [title, body, sound ?? "", userData ?? ""].reduce(0) { $0 + $1.utf8.count }
  }
}

/// The name of a shown notification: the notification service, and the id that the service
/// assigned.
struct DesktopName: Hashable {
  /// The id that the service assigned to the notification.
  var number: UInt32
  /// The bus id and the service's connection name. No other service has the same combination.
  var service: String
}

/// The notifications that a list includes.
enum NotificationScope: Hashable {
  case all
  case user(UserID)
  case application(ApplicationKey)
}

/// A part of a list of notifications.
struct NotificationPage: Equatable {
  var notifications: [StoredNotification] = []
  /// The id after which the next page begins; nil for the last page.
  var next: NotificationID?
}

/// A change of the stored notifications. After a crash, the daemon cannot know whether the store
/// already contains a change, so it writes the change again. The second write has no effect.
enum NotificationChange: Equatable {
  /// A notification is requested. Without a schedule, it is due at once.
  case schedule(NotificationID, ApplicationKey, NotificationDraft)
  /// The notification fired. `at` identifies the firing; `next` is nil if the notification does not
  /// fire again.
  case fired(NotificationID, at: WallTime, next: WallTime?)
  /// The notification was shown to the user, or delivered to its application.
  case presented(NotificationID, at: WallTime)
  /// A notification service shows the notification under this name. With nil, no service shows the
  /// notification any longer.
  case shown(NotificationID, DesktopName?)
  /// The firing time changed because the rules of the schedule's time zone changed.
  case moved(NotificationID, to: WallTime)
  /// The application, the user or an operator cancelled the notification.
  case removed(NotificationID)
  /// The number on an application's icon changed; 0 stands for no number.
  case badge(ApplicationKey, Int)

  /// Whether the change makes the store smaller.
  var isRemoval: Bool {
    switch self {
    case .removed, .badge(_, 0): true
    case .schedule, .fired, .presented, .shown, .moved, .badge: false
    }
  }
}
