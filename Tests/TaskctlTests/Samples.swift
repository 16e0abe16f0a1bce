import TaskSchedulerWire

@testable import taskctl

/// The current time of the tests: 1,000 s after boot.
let clock = ClockReading(bootUSec: 1_000_000_000, wallUSec: 1_700_000_000_000_000)

let context = RenderingContext(
  clock: clock, painter: .plain, userName: { $0 == 1000 ? "ada" : "\($0)" })

/// Returns an application that runs in the background with a task.
func sample(
  _ id: String = "org.example.mail", owner: Int = 1000,
  state: ControlInterface.State = .background, remainingUSec: Int? = 594_000_000,
  entitlements: [ControlInterface.Entitlement] = [.backgroundTask],
  tasks: [ControlInterface.BackgroundTask] = [
    .init(id: 3, name: "sync", beganAtUSec: 820_000_000, expired: false)
  ]
) -> ControlInterface.Application {
  ControlInterface.Application(
    application: id, owner: owner, displayName: "Mail", state: state,
    stateSinceUSec: 820_000_000, seat: "seat0", backgroundModes: ["audio"], multitasking: true,
    launchable: true, location: [], switcherPosition: 1, snapshot: .none,
    instance: .init(
      id: 7, pid: 4711, startTime: 99, aware: true, launchReason: .operator,
      startedAtUSec: 700_000_000, suspending: false, entitlements: entitlements,
      callbacksPending: 1, backgroundTimeRemainingUSec: remainingUSec, tasks: tasks,
      managedSockets: 0, heldChanges: 0, audio: []),
    scheduledNotifications: 0)
}

/// Returns an application that has ended.
func endedSample(
  _ id: String = "org.example.news", owner: Int = 1000, reason: ControlInterface.EndKind = .exited,
  code: Int? = 3
) -> ControlInterface.Application {
  ControlInterface.Application(
    application: id, owner: owner, state: .notRunning, stateSinceUSec: 940_000_000,
    seat: "seat0", backgroundModes: [], multitasking: false, launchable: false, location: [],
    snapshot: .none, lastEnd: .init(reason: reason, code: code, atUSec: 940_000_000),
    scheduledNotifications: 0)
}

/// Returns a suspended application with every kind of wake-up and every kind of held event.
func reachableSample(
  _ id: String = "org.example.phone", owner: Int = 1000
) -> ControlInterface.Application {
  var application = sample(id, owner: owner, state: .suspended, entitlements: [], tasks: [])
  application.instance?.keepAlive = .init(
    intervalUSec: 900_000_000, lastRunUSec: 940_000_000, deadlineUSec: 1_840_000_000,
    plannedUSec: 1_600_000_000)
  application.instance?.managedSockets = 2
  application.instance?.heldChanges = 3
  application.scheduledNotifications = 4
  application.badge = 5
  return application
}

/// A notification that fires every day, the next time in 50 s.
let notificationSample = ControlInterface.ApplicationNotification(
  application: "org.example.tea", owner: 1000,
  notification: .init(
    id: 12,
    content: .init(
      title: "Tea", body: "It is four\nCome", sound: "bell", badge: 1, userData: "pot=2"),
    schedule: .init(date: "2023-11-14T22:14:10", timeZone: "UTC", repeats: .day),
    state: .scheduled, firesAtUSec: 1_700_000_050_000_000))
