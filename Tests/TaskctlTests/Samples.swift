import TaskSchedulerWire

@testable import taskctl

/// A moment at which 1,000 s have passed since boot.
let clock = ClockReading(bootUSec: 1_000_000_000, wallUSec: 1_700_000_000_000_000)

let context = RenderingContext(
  clock: clock, painter: .plain, userName: { $0 == 1000 ? "ada" : "\($0)" })

/// An application that runs in the background with a task.
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
    launchable: true, switcherPosition: 1,
    instance: .init(
      id: 7, pid: 4711, startTime: 99, aware: true, launchReason: .operator,
      startedAtUSec: 700_000_000, suspending: false, entitlements: entitlements,
      callbacksPending: 1, backgroundTimeRemainingUSec: remainingUSec, tasks: tasks))
}

/// One that has ended.
func endedSample(
  _ id: String = "org.example.news", owner: Int = 1000, reason: ControlInterface.EndKind = .exited,
  code: Int? = 3
) -> ControlInterface.Application {
  ControlInterface.Application(
    application: id, owner: owner, state: .notRunning, stateSinceUSec: 940_000_000,
    seat: "seat0", backgroundModes: [], multitasking: false, launchable: false,
    lastEnd: .init(reason: reason, code: code, atUSec: 940_000_000))
}
