import Dispatch
import Glibc
import LinuxSystem
import TaskSchedulerClient

/// An application that uses the client library.
///
/// Its actions and callbacks run on one serial queue. Only its pauses are outside of the queue.
final class LibraryClient: ApplicationDelegate, Workload.Transport, @unchecked Sendable {
  private let work: Workload
  private var application: ScheduledApplication?
  private var tasks: [Int: BackgroundTaskID] = [:]
  private let queue = DispatchQueue(label: "chaos")

  init(_ work: Workload) {
    self.work = work
  }

  func run() -> Never {
    register()
    while true {
      let pause = queue.sync {
        work.turn(self)
        return work.pause
      }
      _ = poll(nil, 0, Int32(pause / 1_000_000) + 1)
    }
  }

  private func register() {
    while application == nil {
      do throws(ApplicationError) {
        application = try ScheduledApplication.registerAndWait(
          Settings.application(work.client), delegate: self, queue: queue,
          at: SocketPath(Settings.socket))
      } catch .disconnected {
        // A kill has closed the connection before the registration was complete, which is
        // permitted. After a registration, the library itself reopens closed connections.
        work.events.write(.lost, work.client, "young")
      } catch {
        work.violation("registration failed: \(error)")
        exit(1)
      }
    }
  }

  // MARK: Calls

  func begin(_ name: String) -> (task: Int, remaining: UInt64?)? {
    guard let application else { return nil }
    let box = TaskBox()
    do throws(ApplicationError) {
      let task = try application.beginBackgroundTaskAndWait(named: name) { [self] in
        if let task = box.task { work.expired(task, remaining: nil, self) }
      }
      box.task = task.rawValue
      tasks[task.rawValue] = task
      let remaining = try application.backgroundTimeRemainingAndWait()
      return (task.rawValue, remaining.map { UInt64($0 / .nanoseconds(1)) })
    } catch {
      switch error {
      // The client made the call just before it was suspended or terminated.
      case .refused(.invalidState), .refused(.terminating): break
      case .refused, .noDaemon, .notPermitted, .disconnected, .connectionFailed, .closed:
        work.violation("beginBackgroundTask failed: \(error)")
      }
      return box.task.map { ($0, nil) }
    }
  }

  /// The id of the task to which an expiration handler belongs. It is set when the task has begun,
  /// and used only on the queue.
  private final class TaskBox: @unchecked Sendable {
    var task: Int?
  }

  /// Ends a task. The result is always `unknown`, because the library may inform the daemon later,
  /// and does not report when it has done so.
  func end(_ task: Int) -> Workload.Ending {
    guard let application, let id = tasks.removeValue(forKey: task) else { return .unknown }
    do throws(ApplicationError) {
      try application.endBackgroundTaskAndWait(id)
    } catch {
      work.violation("endBackgroundTask \(task) failed: \(error)")
    }
    return .unknown
  }

  // MARK: Events

  private func received(_ kind: String) {
    work.received(kind)
    usleep(UInt32(work.chance.below(20)) * 1000)
    work.change { $0[.acknowledgements] += 1 }
  }

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    received("didFinishLaunching")
  }
  func applicationDidBecomeActive(_ application: ScheduledApplication) {
    received("didBecomeActive")
  }
  func applicationWillResignActive(_ application: ScheduledApplication) {
    received("willResignActive")
  }
  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    received("didEnterBackground")
  }
  func applicationWillEnterForeground(_ application: ScheduledApplication) {
    received("willEnterForeground")
  }
  func applicationWillTerminate(_ application: ScheduledApplication) {
    received("willTerminate")
  }

  func application(
    _ application: ScheduledApplication, didLoseBackgroundTasks tasks: [BackgroundTaskID]
  ) {
    work.violation("the library was told that tasks are lost: \(tasks)")
    for task in tasks { self.tasks[task.rawValue] = nil }
    work.change { record in
      for task in tasks { record.released(task.rawValue) }
    }
  }

  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    work.violation("the library lost its registration: \(error)")
  }
}
