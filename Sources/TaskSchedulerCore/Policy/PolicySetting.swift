/// A limit or quota of ``Policy`` that a site may set: its name, its bounds and its property.
public struct PolicySetting: Sendable {
  /// The type of a setting, with the property that stores the value and the bounds of the value.
  public enum Kind: Sendable {
    case timeSpan(WritableKeyPath<Policy, Duration> & Sendable, ClosedRange<Duration>)
    case count(WritableKeyPath<Policy, Int> & Sendable, ClosedRange<Int>)
    case flag(WritableKeyPath<Policy, Bool> & Sendable)
  }

  /// The name that the contract gives the setting.
  public let name: String
  public let kind: Kind
  /// What the setting does, for people.
  public let summary: String

  init(_ name: String, _ kind: Kind, _ summary: String) {
    self.name = name
    self.kind = kind
    self.summary = summary
  }
}

extension PolicySetting {
  /// Returns the setting with a name, or nil if there is none.
  public static func named(_ name: String) -> PolicySetting? {
    all.first { $0.name == name }
  }

  /// All settings, in the order of the commented file. The first describes the machine: it is
  /// outside of the table `[policy]`, and its name is in kebab case.
  public static let all: [PolicySetting] = [multitaskingSupported] + limits + memory + quotas

  /// The setting for machines that run nothing in the background.
  public static let multitaskingSupported = PolicySetting(
    "multitasking-supported", .flag(\.multitaskingSupported),
    "Whether anything runs in the background at all. Where false, an application that is sent "
      + "away is terminated.")

  /// The settings that are durations, but for those of memory.
  public static let limits: [PolicySetting] = [
    PolicySetting(
      "CallbackTimeout", .timeSpan(\.callbackTimeout, .milliseconds(10) ... .seconds(3600)),
      "How long an application has to acknowledge each lifecycle callback. Then it is killed."),
    PolicySetting(
      "TerminateTimeout", .timeSpan(\.terminateTimeout, .milliseconds(10) ... .seconds(3600)),
      "How long an application that is ended by SIGTERM has before SIGKILL."),
    PolicySetting(
      "BackgroundTime", .timeSpan(\.backgroundTime, .milliseconds(50) ... .seconds(86_400)),
      "How long background tasks may run, counted from when the application entered the "
        + "background."),
    PolicySetting(
      "ExpirationLead", .timeSpan(\.expirationLead, .milliseconds(10) ... .seconds(3600)),
      "How long before that limit the expiration handlers are called. Less than BackgroundTime."),
    PolicySetting(
      "LaunchTime", .timeSpan(\.launchTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application that was launched in the background may run before it opens its "
        + "event stream. Then it is taken for one that knows nothing of the scheduler."),
    PolicySetting(
      "SuspendRetryInterval",
      .timeSpan(\.suspendRetryInterval, .milliseconds(10) ... .seconds(3600)),
      "After a suspension that could not complete, the time to the next try."),
    PolicySetting(
      "TracerCheckInterval", .timeSpan(\.tracerCheckInterval, .milliseconds(10) ... .seconds(60)),
      "While a debugger holds an application's limits, how often the daemon checks whether the "
        + "debugger has left."),
    PolicySetting(
      "WakeTolerance", .timeSpan(\.wakeTolerance, .milliseconds(10) ... .seconds(3600)),
      "A limit that passed longer ago than this has passed while the machine slept: the "
        + "application gets the time anew that it has to answer."),
    PolicySetting(
      "KeepAliveMinimum", .timeSpan(\.keepAliveMinimum, .milliseconds(20) ... .seconds(86_400)),
      "The shortest interval of a keep-alive handler."),
    PolicySetting(
      "KeepAliveHandlerTime",
      .timeSpan(\.keepAliveHandlerTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application has to acknowledge the call of its keep-alive handler. Then it is "
        + "killed. Less than KeepAliveMinimum."),
    PolicySetting(
      "EventTime", .timeSpan(\.eventTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application that was woken by a managed socket may run for it."),
    PolicySetting(
      "RelaunchDelay", .timeSpan(\.relaunchDelay, .milliseconds(10) ... .seconds(3600)),
      "From the crash of an application of mode voip to its relaunch; doubled each time."),
    PolicySetting(
      "RelaunchDelayMax", .timeSpan(\.relaunchDelayMax, .milliseconds(10) ... .seconds(86_400)),
      "The maximum of that delay."),
    PolicySetting(
      "RelaunchResetTime", .timeSpan(\.relaunchResetTime, .milliseconds(10) ... .seconds(86_400)),
      "After this time of running, the delay is RelaunchDelay again."),
    PolicySetting(
      "BackgroundUseWindow",
      .timeSpan(\.backgroundUseWindow, .milliseconds(100) ... .seconds(3600)),
      "How often the daemon samples the resource use of background applications."),
    PolicySetting(
      "BackgroundGPUTime", .timeSpan(\.backgroundGPUTime, .milliseconds(1) ... .seconds(60)),
      "What GPUs may still do in the background of what was begun before. Then the application "
        + "is killed."),
  ]

  /// The settings for memory pressure.
  public static let memory: [PolicySetting] = [
    PolicySetting(
      "MemoryPressureStall",
      .timeSpan(\.memoryPressureStall, .microseconds(100) ... .seconds(10)),
      "How long processes must have waited for memory within MemoryPressureWindow before it is "
        + "pressure. At most MemoryPressureWindow."),
    PolicySetting(
      "MemoryPressureWindow",
      .timeSpan(\.memoryPressureWindow, .milliseconds(500) ... .seconds(10)),
      "The window in which MemoryPressureStall is measured. Without CAP_SYS_RESOURCE the kernel "
        + "accepts multiples of 2s only; both are then lengthened in proportion."),
    PolicySetting(
      "MemoryWarningTime", .timeSpan(\.memoryWarningTime, .milliseconds(10) ... .seconds(3600)),
      "How long pressure must last after the warning before applications are ended, one at a "
        + "time."),
    PolicySetting(
      "MemoryQuietTime", .timeSpan(\.memoryQuietTime, .milliseconds(510) ... .seconds(3600)),
      "The time without memory pressure after which the pressure counts as ended. Longer than "
        + "MemoryPressureWindow."),
    PolicySetting(
      "MemoryFloorPercent", .count(\.memoryFloorPercent, 0...100),
      "Pressure of the whole machine ends applications only where less of its memory (in "
        + "percent) is available; below half of it at once. That of the daemon's own slice ends "
        + "them in any case."),
    PolicySetting(
      "MemoryPageOut", .flag(\.memoryPageOut),
      "Whether what suspended applications use is written to swap early, where there is swap."),
  ]

  /// The settings that are numbers, but for those of memory.
  public static let quotas: [PolicySetting] = [
    PolicySetting(
      "MaxTasksPerApplication", .count(\.tasksPerApplicationMax, 1...1_000_000),
      "How many background tasks an application may have outstanding."),
    PolicySetting(
      "MaxTasksPerUser", .count(\.tasksPerUserMax, 1...1_000_000),
      "How many background tasks all applications of one user may have outstanding."),
    PolicySetting(
      "MaxApplicationsPerUser", .count(\.applicationsPerUserMax, 1...1_000_000),
      "How many applications of one user may run."),
    PolicySetting(
      "MaxQueuedCallbacks", .count(\.queuedCallbacksMax, 4...65_536),
      "How many callbacks an application may leave unacknowledged before no more changes of state "
        + "are asked of it."),
    PolicySetting(
      "MaxSocketsPerApplication", .count(\.socketsPerApplicationMax, 1...65_536),
      "How many sockets an application may have handed over."),
    PolicySetting(
      "MaxNotificationsPerApplication", .count(\.notificationsPerApplicationMax, 1...65_536),
      "How many notifications of an application may wait for their time."),
    PolicySetting(
      "MaxNotificationsPerUser", .count(\.notificationsPerUserMax, 1...65_536),
      "How many notifications of all applications of one user may wait for their time, or to be "
        + "shown."),
    PolicySetting(
      "MaxCustomChanges", .count(\.customChangesMax, 1...65_536),
      "How many names of custom system changes each user may post; they are remembered for "
        + "suspended applications."),
    PolicySetting(
      "MaxEndedApplications", .count(\.endedApplicationsMax, 0...65_536),
      "How many ended applications without a manifest are remembered for each user."),
    PolicySetting(
      "BackgroundProcessorShare", .count(\.backgroundProcessorShare, 2...100_000),
      "The percentage of one CPU that an application may use in the background, averaged over "
        + "BackgroundUseWindow. Then it is throttled."),
    PolicySetting(
      "ThrottledProcessorShare", .count(\.throttledProcessorShare, 1...99),
      "The percentage of one CPU that a throttled application may use. If it uses four fifths of "
        + "that for another BackgroundUseWindow, or too much again later, it is killed. Less than "
        + "BackgroundProcessorShare."),
  ]
}
