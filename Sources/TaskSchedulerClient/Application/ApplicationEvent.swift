import Glibc
import Synchronization
import TaskSchedulerWire

/// The five states of an application: `notRunning`, `inactive`, `active`, `background`,
/// `suspended`. Nobody sees its own `suspended`.
public typealias ApplicationState = ApplicationInterface.State

/// Why the instance was started.
public typealias LaunchReason = ApplicationInterface.LaunchReason

extension LaunchReason {
  /// What the daemon, or `taskctl run`, wrote into the environment of the program that it started:
  /// known before the application is registered. Nil in a program that was started otherwise.
  public static var ofEnvironment: LaunchReason? {
    guard let value = getenv("TASKSCHEDD_LAUNCH_REASON") else { return nil }
    return LaunchReason(rawValue: String(cString: value))
  }
}

/// A background task that has begun. Unique for the life of the instance.
public struct BackgroundTaskID: Hashable, Sendable, CustomStringConvertible {
  /// The daemon's number for it, never 0.
  public let rawValue: Int

  init(_ rawValue: Int) {
    self.rawValue = rawValue
  }

  public var description: String { String(rawValue) }
}

/// What happens to an application.
public enum ApplicationEvent: Hashable, Sendable {
  /// The first, once in the life of the process.
  case didFinishLaunching(LaunchReason)
  case didBecomeActive
  case willResignActive
  /// Begin what must be finished (`beginBackgroundTask`) before acknowledging this.
  case didEnterBackground
  case willEnterForeground
  /// The process is ended after this is acknowledged.
  case willTerminate
  /// A daemon that came back knows nothing of these tasks any more: they grant nothing.
  case didLoseBackgroundTasks([BackgroundTaskID])
  /// Managed sockets became ready while the application was suspended. It has `EventTime` (10 s by
  /// default) from then, longer with a background task; acknowledged, it is suspended again.
  case socketsReady([ReadySocket])
  /// The machine has changed; what changed during a suspension comes after it, the newest of each
  /// kind, in order.
  case systemDidChange([SystemChange])
  /// Memory is short: let go of what can be had again, such as caches.
  case didReceiveMemoryWarning
  /// A notification of its own has fired while it was active.
  case didReceive(LocalNotification)
  /// The user has chosen a notification of its own.
  case didChoose(LocalNotification)
  /// A daemon that came back takes the keep-alive handler no longer: it is not called any more.
  case didLoseKeepAlive(ApplicationError)
}

/// One event, to be acknowledged when its work is done. An application that has not acknowledged
/// within the daemon's `CallbackTimeout` (6 s by default) is killed, and it gets no other before.
public struct ApplicationCallback: Sendable {
  public let event: ApplicationEvent
  private let token: Token

  private final class Token: Sendable {
    let isDone = Atomic(false)
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  init(_ event: ApplicationEvent, acknowledge: @escaping @Sendable () -> Void) {
    self.event = event
    token = Token(acknowledge)
  }

  /// Acknowledges it; blocks for one round trip to the daemon. Again is allowed and does nothing.
  ///
  /// An acknowledgement that cannot be sent now is sent when the daemon is back.
  public func acknowledge() {
    if !token.isDone.exchange(true, ordering: .acquiringAndReleasing) { token.body() }
  }
}
