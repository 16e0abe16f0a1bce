import EventLoop
import LinuxSystem
import TaskSchedulerWire

/// The notifications and badges of several daemons on the desktop of the user.
///
/// After each attachment, a daemon again sends all notifications and badges that it wants shown,
/// and then the order `synchronized`. The agent then removes the daemon's other notifications and
/// badges.
final class DesktopNotifications {
  /// The notifications that a daemon has sent since the last attachment, and the applications whose
  /// badges it has sent.
  private struct Listing {
    var notifications: Set<NotificationKey> = []
    var applications: Set<String> = []
  }

  /// The connection to the notification service; nil if the environment names no session bus.
  private var desktop: DesktopSession?
  private let report: (_ daemon: Int, NotificationReport) -> Void
  /// The time of the last firing of each notification that has not ended.
  private var firings: [NotificationKey: Int] = [:]
  /// The listing of each attached daemon that has not sent `synchronized` yet, by daemon.
  private var listings: [Int: Listing] = [:]
  /// The applications with a badge, by daemon.
  private var badged: [Int: Set<String>] = [:]
  private let problemChanged: (DesktopFailure?) -> Void
  /// The notifications that the agent must still report as failed, because there is no session bus.
  private var refused: [NotificationKey] = []
  private var worker: DeferredSource?

  /// - Parameters:
  ///   - address: the address of the session bus; nil if the environment names none.
  ///   - problemChanged: called with the reason why notifications cannot be shown; nil if they can
  ///     be shown again.
  ///   - report: called from the loop only.
  init(
    address: String?, loop: EventLoop, problemChanged: @escaping (DesktopFailure?) -> Void,
    report: @escaping (_ daemon: Int, NotificationReport) -> Void
  ) throws(SystemError) {
    self.problemChanged = problemChanged
    self.report = report
    guard let address else {
      worker = try loop.soon { [weak self] in self?.reportRefused() }
      return
    }
    desktop = try DesktopSession(address: BusAddress(text: address), loop: loop) {
      [weak self] in self?.heard($0)
    }
  }

  // MARK: Orders

  func attached(_ daemon: Int) { listings[daemon] = Listing() }

  func show(_ content: SessionInterface.Notification, of daemon: Int) {
    let notification = PresentedNotification(content, daemon: daemon)
    firings[notification.key] = content.firedAt
    listings[daemon]?.notifications.insert(notification.key)
    if let desktop { return desktop.show(notification) }
    refused.append(notification.key)
    worker?.request()
  }

  func close(_ withdrawn: SessionInterface.WithdrawnNotification, of daemon: Int) {
    let key = NotificationKey(daemon: daemon, id: withdrawn.id)
    if let desktop { return desktop.close(key, shown: withdrawn.shown) }
    heard(.closed(key))
  }

  func setBadge(_ badge: SessionInterface.Badge, of daemon: Int) {
    listings[daemon]?.applications.insert(badge.application)
    if badge.count == 0 {
      badged[daemon]?.remove(badge.application)
    } else {
      badged[daemon, default: []].insert(badge.application)
    }
    desktop?.setBadge(badge.count, of: badge.application)
  }

  func synchronized(_ daemon: Int) {
    guard let listing = listings.removeValue(forKey: daemon) else { return }
    desktop?.keep(listing.notifications, of: daemon)
    for application in (badged[daemon] ?? []).subtracting(listing.applications).sorted() {
      setBadge(.init(application: application, count: 0), of: daemon)
    }
  }

  // MARK: Reports

  private func heard(_ occurrence: DesktopOccurrence) {
    switch occurrence {
    case .shown(let key, let shown): add(.shown(shown), of: key)
    case .chosen(let key, let action, let token):
      add(.chosen(action: action, activationToken: token), of: key)
    case .closed(let key):
      add(.closed, of: key)
      firings[key] = nil
    case .failed(let key, let failure):
      add(.failed(reason: "\(failure)", isRefused: !failure.isKept), of: key)
      if !failure.isKept { firings[key] = nil }
    case .problem(let problem): problemChanged(problem)
    }
  }

  private func add(_ kind: NotificationReport.Kind, of key: NotificationKey) {
    report(
      key.daemon,
      NotificationReport(notification: key.id, firedAt: firings[key] ?? 0, kind: kind))
  }

  private func reportRefused() {
    let keys = refused
    refused = []
    for key in keys { heard(.failed(key, .noBus("the environment names no Unix socket of a bus"))) }
  }
}
