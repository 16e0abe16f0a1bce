/// A limit or quota of ``Policy`` that a site may set: its name, its bounds and its property.
///
/// CONTRIBUTING.md lists the other files that a new setting needs.
public struct PolicySetting: Sendable {
  /// The type of a setting, the property that stores its value, and the bounds of the value.
  public enum Kind: Sendable {
    case timeSpan(WritableKeyPath<Policy, Duration> & Sendable, ClosedRange<Duration>)
    case count(WritableKeyPath<Policy, Int> & Sendable, ClosedRange<Int>)
    case flag(WritableKeyPath<Policy, Bool> & Sendable)
  }

  /// The name that the contract gives the setting.
  public let name: String
  public let kind: Kind
  /// A description of the setting for users.
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

  /// All settings, in the order in which the commented configuration file lists them. The first
  /// setting describes the machine. Unlike the others, it is not in the table `[policy]`, and its
  /// name is in kebab case.
  public static let all: [PolicySetting] = [multitaskingSupported] + limits + memory + quotas

  /// The setting for machines on which applications do not run in the background.
  public static let multitaskingSupported = PolicySetting(
    "multitasking-supported", .flag(\.multitaskingSupported),
    "Whether applications may run in the background. If false, the daemon terminates an "
      + "application that leaves the foreground.")

  /// The durations, except those for memory pressure (see ``memory``), and all settings for audio.
  public static let limits: [PolicySetting] = [
    PolicySetting(
      "CallbackTimeout", .timeSpan(\.callbackTimeout, .milliseconds(10) ... .seconds(3600)),
      "How long an application may take to acknowledge a lifecycle callback. After this time, the "
        + "daemon kills it."),
    PolicySetting(
      "TerminateTimeout", .timeSpan(\.terminateTimeout, .milliseconds(10) ... .seconds(3600)),
      "How long an application may take to end after SIGTERM or its stop-signal. After this time, "
        + "the daemon sends SIGKILL."),
    PolicySetting(
      "BackgroundTime", .timeSpan(\.backgroundTime, .milliseconds(50) ... .seconds(86_400)),
      "How long background tasks may run, counted from when the application entered the "
        + "background."),
    PolicySetting(
      "ExpirationLead", .timeSpan(\.expirationLead, .milliseconds(10) ... .seconds(3600)),
      "How long before the end of BackgroundTime the daemon calls the expiration handlers. Must "
        + "be less than BackgroundTime."),
    PolicySetting(
      "LaunchTime", .timeSpan(\.launchTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application that the daemon launched or adopted in the background may take to "
        + "open its event stream. After this time, the daemon treats the application as unaware: "
        + "it sends no callbacks to the application."),
    PolicySetting(
      "SuspendRetryInterval",
      .timeSpan(\.suspendRetryInterval, .milliseconds(10) ... .seconds(3600)),
      "How long the daemon waits after a failed suspension before it tries again."),
    PolicySetting(
      "TracerCheckInterval", .timeSpan(\.tracerCheckInterval, .milliseconds(10) ... .seconds(60)),
      "How often the daemon checks whether a debugger has detached from an application. While a "
        + "debugger traces the application, no limit applies to the application."),
    PolicySetting(
      "WakeTolerance", .timeSpan(\.wakeTolerance, .milliseconds(10) ... .seconds(3600)),
      "How late the daemon may notice a deadline and still enforce the limit. If the daemon "
        + "notices the deadline later, it assumes that the machine slept, and restarts the "
        + "limits of the application. BackgroundTime does not restart, but ExpirationLead does."),
    PolicySetting(
      "KeepAliveMinimum", .timeSpan(\.keepAliveMinimum, .milliseconds(20) ... .seconds(86_400)),
      "The shortest interval that a keep-alive handler may have."),
    PolicySetting(
      "KeepAliveHandlerTime",
      .timeSpan(\.keepAliveHandlerTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application may take to acknowledge the call of its keep-alive handler. After "
        + "this time, the daemon kills it. Must be less than KeepAliveMinimum."),
    PolicySetting(
      "EventTime", .timeSpan(\.eventTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application may run to handle the event that resumed it, for example data on "
        + "a managed socket."),
    PolicySetting(
      "RelaunchDelay", .timeSpan(\.relaunchDelay, .milliseconds(10) ... .seconds(3600)),
      "How long the daemon waits before it relaunches an application with mode voip. The "
        + "delay doubles with each relaunch."),
    PolicySetting(
      "RelaunchDelayMax", .timeSpan(\.relaunchDelayMax, .milliseconds(10) ... .seconds(86_400)),
      "The longest relaunch delay."),
    PolicySetting(
      "RelaunchResetTime", .timeSpan(\.relaunchResetTime, .milliseconds(10) ... .seconds(86_400)),
      "How long an application must run before its relaunch delay returns to RelaunchDelay."),
    PolicySetting(
      "BackgroundUseWindow",
      .timeSpan(\.backgroundUseWindow, .milliseconds(100) ... .seconds(3600)),
      "How often the daemon samples the resource use of background applications."),
    PolicySetting(
      "BackgroundGPUTime", .timeSpan(\.backgroundGPUTime, .milliseconds(1) ... .seconds(60)),
      "How long a GPU may work for an application in the background, to complete work that began "
        + "in the foreground. After this time, the daemon kills the application."),
    PolicySetting(
      "FocusSettleTime", .timeSpan(\.focusSettleTime, .milliseconds(10) ... .seconds(60)),
      "How long the daemon waits while no window has the keyboard focus. After this time, the "
        + "application that last had the focus becomes inactive."),
    PolicySetting(
      "HiddenGraceTime", .timeSpan(\.hiddenGraceTime, .milliseconds(10) ... .seconds(86_400)),
      "How long the windows of an application may be hidden before the daemon sends the "
        + "application to the background. This time begins when FocusSettleTime ends."),
    PolicySetting(
      "SessionGraceTime", .timeSpan(\.sessionGraceTime, .milliseconds(10) ... .seconds(3600)),
      "How long the reports of a session agent stay valid after the connection to the agent has "
        + "ended. After this time, the focus no longer changes the states of applications, and "
        + "audio entitles no application to run in the background."),
    PolicySetting(
      "AudioGraceTime", .timeSpan(\.audioGraceTime, .milliseconds(10) ... .seconds(3600)),
      "How long an application with mode audio may run in the background after its last stream has "
        + "ended, or has been paused or muted. The audio session of any application ends after the "
        + "same time."),
    PolicySetting(
      "AudioSilenceTime", .timeSpan(\.audioSilenceTime, .seconds(1) ... .seconds(3600)),
      "How long an application with mode audio may play only silence in the background. After "
        + "this time, the application counts as paused."),
    PolicySetting(
      "AudioMuteTime", .timeSpan(\.audioMuteTime, .milliseconds(1) ... .seconds(10)),
      "How long the session agent may take to mute an audible application that the daemon is about "
        + "to suspend. After this time, the daemon suspends the application anyway."),
    PolicySetting(
      "DuckLevel", .count(\.duckLevel, 1...100),
      "While one application ducks another, the daemon lowers the volume of the ducked "
        + "application to this percentage. The percentage applies to the scale that volume "
        + "controls show. This scale is cubic: 20 lowers the level by about 42 dB, and 50 by "
        + "about 18 dB. 100 means that the daemon lowers no volume."),
    PolicySetting(
      "RegionDwell", .timeSpan(\.regionDwell, .milliseconds(10) ... .seconds(3600)),
      "How long the machine must stay on the new side of a region's boundary before the daemon "
        + "tells an application that the machine entered or left the region."),
    PolicySetting(
      "LocationFixTime", .timeSpan(\.locationFixTime, .seconds(1) ... .seconds(900)),
      "How long a receiver may run to determine the location for regions and significant changes. "
        + "For the same time after 'taskctl post-location', applications receive only the "
        + "simulated location."),
    PolicySetting(
      "RemoteReadTime", .timeSpan(\.remoteReadTime, .milliseconds(10) ... .seconds(3600)),
      "How long a suspended media player may run when a program reads its properties. Must be less "
        + "than RemoteReadInterval."),
    PolicySetting(
      "RemoteReadInterval",
      .timeSpan(\.remoteReadInterval, .milliseconds(20) ... .seconds(86_400)),
      "When programs read the properties of a suspended media player, the daemon resumes the "
        + "player at most once in this time. Some programs, such as status bars, read the "
        + "properties continually."),
    PolicySetting(
      "AudioRecordingNotice", .flag(\.audioRecordingNotice),
      "Whether the session agent shows a notification while an application records audio in the "
        + "background."),
  ]

  /// The settings for memory pressure.
  public static let memory: [PolicySetting] = [
    PolicySetting(
      "MemoryPressureStall",
      .timeSpan(\.memoryPressureStall, .microseconds(100) ... .seconds(10)),
      "How long processes must wait for memory within MemoryPressureWindow before the daemon "
        + "warns applications. Must not exceed MemoryPressureWindow."),
    PolicySetting(
      "MemoryPressureWindow",
      .timeSpan(\.memoryPressureWindow, .milliseconds(500) ... .seconds(10)),
      "The window in which the kernel measures MemoryPressureStall. Without CAP_SYS_RESOURCE, "
        + "the kernel accepts only multiples of 2s, and the daemon lengthens the window and "
        + "MemoryPressureStall by the same factor."),
    PolicySetting(
      "MemoryWarningTime", .timeSpan(\.memoryWarningTime, .milliseconds(10) ... .seconds(3600)),
      "How long pressure must last after the warning before the daemon terminates applications, "
        + "one at a time."),
    PolicySetting(
      "MemoryQuietTime", .timeSpan(\.memoryQuietTime, .milliseconds(510) ... .seconds(3600)),
      "How long the kernel must report no pressure before the daemon considers the pressure over. "
        + "Must be longer than MemoryPressureWindow."),
    PolicySetting(
      "MemoryFloorPercent", .count(\.memoryFloorPercent, 0...100),
      "Under memory pressure of the whole machine, the daemon terminates applications only while "
        + "less than this percentage of the machine's memory is available. Below half of this "
        + "percentage, the daemon does not wait for MemoryWarningTime. Under memory pressure "
        + "within the systemd slice of the applications, the daemon terminates applications "
        + "regardless of this percentage."),
    PolicySetting(
      "MemoryPageOut", .flag(\.memoryPageOut),
      "Whether the daemon writes the memory of an application to swap as soon as the application "
        + "is suspended, if there is swap."),
  ]

  /// The quotas, such as the maximum number of background tasks, and the limits of CPU use.
  public static let quotas: [PolicySetting] = [
    PolicySetting(
      "MaxTasksPerApplication", .count(\.tasksPerApplicationMax, 1...1_000_000),
      "How many background tasks of one application may be outstanding."),
    PolicySetting(
      "MaxTasksPerUser", .count(\.tasksPerUserMax, 1...1_000_000),
      "How many background tasks of all applications of one user may be outstanding."),
    PolicySetting(
      "MaxApplicationsPerUser", .count(\.applicationsPerUserMax, 1...1_000_000),
      "How many applications of one user may run."),
    PolicySetting(
      "MaxQueuedCallbacks", .count(\.queuedCallbacksMax, 4...65_536),
      "How many callbacks of one application may be unacknowledged. Beyond this number the "
        + "daemon refuses transitions of the application."),
    PolicySetting(
      "MaxSocketsPerApplication", .count(\.socketsPerApplicationMax, 1...65_536),
      "How many managed sockets one application may have."),
    PolicySetting(
      "MaxSnapshotsPerUser", .count(\.snapshotsPerUserMax, 1...65_536),
      "How many applications of one user may have a picture in the application switcher. Beyond "
        + "this number, the least recently active applications lose their pictures. Each picture "
        + "has at most 1 MiB."),
    PolicySetting(
      "MaxNotificationsPerApplication", .count(\.notificationsPerApplicationMax, 1...65_536),
      "How many scheduled notifications one application may have."),
    PolicySetting(
      "MaxNotificationsPerUser", .count(\.notificationsPerUserMax, 1...65_536),
      "How many notifications of all applications of one user may be scheduled or waiting to be "
        + "shown."),
    PolicySetting(
      "MaxRegionsPerApplication", .count(\.regionsPerApplicationMax, 1...1024),
      "How many regions one application may monitor."),
    PolicySetting(
      "MaxRegionsPerUser", .count(\.regionsPerUserMax, 1...65_536),
      "How many regions all applications of one user may monitor. Each region costs CPU time, "
        + "because the daemon compares each location with each region."),
    PolicySetting(
      "MaxLocationApplicationsPerUser", .count(\.locationApplicationsPerUserMax, 1...65_536),
      "The maximum number of applications of one user for which the daemon remembers regions, "
        + "significant changes or a decision about the location. 'taskctl location forget' makes "
        + "the daemon forget an application."),
    PolicySetting(
      "MaxCustomChanges", .count(\.customChangesMax, 1...65_536),
      "How many custom system changes the daemon holds for the suspended applications of one user. "
        + "Changes of the same name count once. A change that all applications have received does "
        + "not count."),
    PolicySetting(
      "MaxEndedApplications", .count(\.endedApplicationsMax, 0...65_536),
      "How many ended applications without a manifest the daemon remembers for each user."),
    PolicySetting(
      "BackgroundProcessorShare", .count(\.backgroundProcessorShare, 2...100_000),
      "The percentage of one CPU that an application may use in the background, averaged over "
        + "BackgroundUseWindow. The daemon throttles an application that uses more."),
    PolicySetting(
      "ThrottledProcessorShare", .count(\.throttledProcessorShare, 1...99),
      "The percentage of one CPU that a throttled application gets. If the application uses more "
        + "than four fifths of this share in the next BackgroundUseWindow, the daemon kills it. "
        + "Otherwise the daemon ends the throttle. If the application then exceeds "
        + "BackgroundProcessorShare again, the daemon kills it. Must be less than "
        + "BackgroundProcessorShare."),
  ]
}
