import TaskSchedulerCore

/// A notification as it is kept, from when it is asked for until it is cancelled, or one of too
/// many that were presented.
struct StoredNotification: Hashable {
  var id: NotificationID
  var application: ApplicationKey
  var content: NotificationContent
  /// nil was to be presented at once.
  var schedule: NotificationSchedule?
  /// When it fires next; nil where it will not.
  var firesAt: WallTime?
  /// When it fired last.
  var firedAt: WallTime?
  /// When it was last shown to the user or given to its application.
  var presentedAt: WallTime?
  /// Whether it has fired and was not shown since.
  var isDue: Bool
  /// What the desktop calls it that shows it; nil where none does.
  var shownAs: DesktopName?

  /// What a person is told of it; one that repeats may be due and wait for its next time.
  enum State: String, Hashable, CaseIterable {
    case scheduled, fired, presented
  }

  var state: State {
    if isDue { return .fired }
    return firesAt == nil ? .presented : .scheduled
  }
}

extension StoredNotification {
  /// As it is asked for. Without a schedule it is due at once.
  init(_ id: NotificationID, of key: ApplicationKey, _ draft: NotificationDraft) {
    let isScheduled = draft.schedule != nil
    self.init(
      id: id, application: key, content: draft.content, schedule: draft.schedule,
      firesAt: isScheduled ? draft.firesAt : nil, isDue: !isScheduled)
  }
}

extension NotificationContent {
  /// How long its texts are.
  var bytesCount: Int {
    [title, body, sound ?? "", userData ?? ""].reduce(0) { $0 + $1.utf8.count }
  }
}

/// By what name a notification service shows a notification.
struct DesktopName: Hashable {
  /// The service's number for it.
  var number: UInt32
  /// The bus and the connection of the service, which no other service ever has.
  var service: String
}

/// Whose notifications a list has.
enum NotificationScope: Hashable {
  case all
  case user(UserID)
  case application(ApplicationKey)
}

/// A part of a list of notifications.
struct NotificationPage: Hashable {
  var notifications: [StoredNotification] = []
  /// After which id the next page begins; nil where this is the last one.
  var next: NotificationID?
}

/// What is written about notifications. Each may be written twice, as after a crash it is not known
/// whether it was: the second time changes nothing.
enum NotificationChange: Hashable {
  /// One is asked for. Without a schedule it is due at once.
  case schedule(NotificationID, ApplicationKey, NotificationDraft)
  /// Its time came. `at` tells two firings apart; `next` is nil where it fires no more.
  case fired(NotificationID, at: WallTime, next: WallTime?)
  /// The user was shown it, or its application was given it.
  case presented(NotificationID, at: WallTime)
  /// A desktop shows it by this name, or (nil) no longer does.
  case shown(NotificationID, DesktopName?)
  /// It fires at another time than was said, for the rules of its time zone have changed.
  case moved(NotificationID, to: WallTime)
  /// Its cancellation, or its removal because it is not needed any more.
  case removed(NotificationID)
  /// The number at an application's icon; 0 is none.
  case badge(ApplicationKey, Int)

  /// Whether the store is smaller after it.
  var isRemoval: Bool {
    switch self {
    case .removed, .badge(_, 0): true
    case .schedule, .fired, .presented, .shown, .moved, .badge: false
    }
  }
}

/// Why the store of notifications cannot be used, as a person wants to read it.
struct StoreError: Error, Hashable, CustomStringConvertible {
  /// What can be told apart.
  enum Kind: Hashable {
    /// No room is left on the file system.
    case full
    /// The directory or the file is not writable, or does not exist.
    case unwritable
    /// Another process has it.
    case inUse
    /// It holds what no store holds. The next start sets it aside.
    case damaged
    /// A newer version of the daemon wrote it.
    case newer
    /// Anything else, such as a disk that fails.
    case failed
  }

  let kind: Kind
  let message: String
  var description: String { message }
}
