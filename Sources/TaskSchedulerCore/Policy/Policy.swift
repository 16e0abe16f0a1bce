/// The limits and quotas of the contract, under the names that the contract gives them.
///
/// A duration has the type `Duration`. Shares and levels are percentages. A site changes a limit in
/// the table `[policy]` of taskschedd.toml. ``problems`` checks the bounds and the relations
/// between limits. CONTRIBUTING.md lists the files to change for a new limit.
public struct Policy: Equatable, Sendable {
  /// `multitasking-supported`: whether applications may run in the background. If false, the
  /// scheduler terminates an application that leaves the foreground. Source: contract §2, iOS 4 on
  /// devices without multitasking.
  public var multitaskingSupported = true

  /// `CallbackTimeout`: how long an application may take to acknowledge each lifecycle callback.
  /// After this time, the daemon kills the application. Source: contract §3.
  public var callbackTimeout: Duration = .seconds(6)

  /// `TerminateTimeout`: the time between the stop signal (SIGTERM by default) and SIGKILL.
  /// Source: contract §3.
  public var terminateTimeout: Duration = .seconds(5)

  /// `BackgroundTime`: how long background tasks may run, counted from when the application entered
  /// the background. Source: contract §4, ten minutes as on iOS 4.
  public var backgroundTime: Duration = .seconds(600)

  /// `ExpirationLead`: how long before the end of `BackgroundTime` the daemon calls the expiration
  /// handlers. Must be less than `BackgroundTime`. Source: contract §4.
  public var expirationLead: Duration = .seconds(5)

  /// `LaunchTime`: how long an application that the daemon launched or adopted in the background
  /// may take to open its event stream. After this time, the scheduler treats it as an unaware
  /// application. Source: this project; iOS ends a launch that takes 20 s.
  public var launchTime: Duration = .seconds(20)

  /// `SuspendRetryInterval`: the time between a failed suspension and the next try.
  /// Source: this project.
  public var suspendRetryInterval: Duration = .seconds(10)

  /// `TracerCheckInterval`: how often the daemon checks whether a debugger has detached from an
  /// application. While a debugger traces the application, no limit applies to the application. The
  /// daemon must check, because the kernel does not report the end of the tracing. Source: this
  /// project.
  public var tracerCheckInterval: Duration = .seconds(1)

  /// `WakeTolerance`: how late the scheduler may notice a deadline and still enforce the limit. If
  /// the scheduler notices the deadline later, it assumes that the machine slept, and restarts the
  /// limits of the application. Of the background time, it restarts only `ExpirationLead`. Source:
  /// this project; longer than any delay on a machine that is awake.
  public var wakeTolerance: Duration = .seconds(2)

  /// `KeepAliveMinimum`: the shortest interval of a keep-alive handler. Source: contract §6, as on
  /// iOS 4.
  public var keepAliveMinimum: Duration = .seconds(600)

  /// `KeepAliveHandlerTime`: how long an application may take to acknowledge the call of its
  /// keep-alive handler. After this time, the daemon kills the application. Must be less than
  /// `KeepAliveMinimum`. Source: contract §6, as on iOS 4.
  public var keepAliveHandlerTime: Duration = .seconds(30)

  /// `EventTime`: how long an application may run to handle the event that resumed it. Source:
  /// contract §7.
  public var eventTime: Duration = .seconds(10)

  /// `RelaunchDelay`: the delay of the first relaunch of an application with mode voip; each
  /// further delay is twice as long. Source: contract §8.
  public var relaunchDelay: Duration = .seconds(1)

  /// `RelaunchDelayMax`: the longest delay of a relaunch. Source: contract §8.
  public var relaunchDelayMax: Duration = .seconds(300)

  /// `RelaunchResetTime`: how long an application must run before the delay of its next relaunch is
  /// `RelaunchDelay` again. Source: contract §8.
  public var relaunchResetTime: Duration = .seconds(600)

  /// `MaxSocketsPerApplication`: how many managed sockets an application may have. Source: this
  /// project (§16 asks for a quota). Each socket takes one descriptor of the daemon and one of
  /// systemd.
  public var socketsPerApplicationMax = 64

  /// `MaxSnapshotsPerUser`: how many applications of one user may have a picture in the application
  /// switcher. The least recently active applications lose their pictures. Source: this project
  /// (§16 asks for a quota). Each picture takes at most 1 MiB, one descriptor of the daemon and one
  /// of systemd.
  public var snapshotsPerUserMax = 64

  /// `MaxNotificationsPerApplication`: how many notifications of an application may wait for their
  /// time. Source: contract §9.
  public var notificationsPerApplicationMax = 128

  /// `MaxNotificationsPerUser`: how many notifications of all applications of one user may wait for
  /// their time, or to be shown. Source: this project (§16 asks for a quota). Each notification
  /// takes at most 9 kB on the disk.
  public var notificationsPerUserMax = 1024

  /// `MaxCustomChanges`: how many custom system changes with different names the scheduler holds
  /// for each user. When this number is reached, the scheduler forgets the changes that all
  /// applications have received. Changes that operators post for all users have a quota of their
  /// own, of the same size. Source: this project.
  public var customChangesMax = 256

  /// `MaxTasksPerApplication`: how many background tasks an application may have outstanding.
  /// Source: contract §4.
  public var tasksPerApplicationMax = 1024

  /// `MaxTasksPerUser`: how many background tasks all applications of one user may have
  /// outstanding. Source: this project (§16 asks for a quota). Writing a list of that many tasks
  /// takes about 30 ms.
  public var tasksPerUserMax = 16384

  /// `MaxApplicationsPerUser`: how many applications of one user may run. Source: this project (§16
  /// asks for a quota).
  public var applicationsPerUserMax = 8192

  /// `MaxQueuedCallbacks`: how many callbacks of an application may be unacknowledged. Beyond that
  /// number, the scheduler refuses transitions of the application. Source: this project; a user who
  /// switches applications for six seconds causes far fewer.
  public var queuedCallbacksMax = 64

  /// `MaxEndedApplications`: how many ended applications without a manifest the scheduler remembers
  /// for each user. `taskctl list` shows them, and `taskctl why` explains their ends. Source: this
  /// project.
  public var endedApplicationsMax = 64

  /// `MemoryPressureStall`: how long processes must wait for memory within `MemoryPressureWindow`
  /// before the kernel reports pressure. Must not exceed `MemoryPressureWindow`. Source: this
  /// project, after the default of Android's lmkd (psi_partial_stall_ms = 70 of 1000 ms); systemd's
  /// default is 200 ms of 2 s.
  public var memoryPressureStall: Duration = .milliseconds(70)

  /// `MemoryPressureWindow`: the window in which the kernel measures `MemoryPressureStall`. The
  /// kernel accepts 500 ms to 10 s. Without CAP_SYS_RESOURCE, it accepts only multiples of 2 s, and
  /// the daemon lengthens the window and `MemoryPressureStall` by the same factor.
  public var memoryPressureWindow: Duration = .seconds(1)

  /// `MemoryWarningTime`: how long pressure must last after the warning before the scheduler
  /// terminates applications, one at a time. Source: this project.
  public var memoryWarningTime: Duration = .seconds(1)

  /// The time from the request for the sizes of the candidates to the choice of the application to
  /// terminate.
  ///
  /// The lead is as long as a measurement may take: one half for finding the processes, and one
  /// half for reading their sizes. The lead is not a setting, because the daemon derives the time
  /// limit of a measurement from the lead. Source: this project; with this lead, a choice among 500
  /// applications takes less than 100 ms.
  public static let memoryMeasuringLead: Duration = .milliseconds(80)

  /// How long the measured memory size of a running application stays valid for the choice of the
  /// application to terminate. The size of a suspended application stays valid until the
  /// application is resumed. Source: this project; longer than the 100 ms between two triggers
  /// under lasting pressure.
  static let memorySizeLife = memoryMeasuringLead * 2

  /// `MemoryQuietTime`: how long the kernel must report no pressure before the scheduler considers
  /// the pressure over. Must be longer than `MemoryPressureWindow`. Source: this project; while
  /// pressure lasts, the kernel reports it at least once in each window.
  public var memoryQuietTime: Duration = .seconds(10)

  /// `MemoryFloorPercent`: under memory pressure of the whole machine, the scheduler terminates
  /// applications only while less than this percentage of the machine's memory is available. Below
  /// half of this percentage, the scheduler does not wait for `MemoryWarningTime`. Under pressure
  /// of the daemon's own slice, the scheduler terminates applications regardless of this
  /// percentage. Source: this project; earlyoom's default is 10.
  public var memoryFloorPercent = 10

  /// `MemoryPageOut`: whether the daemon writes the memory of an application to swap as soon as the
  /// application is suspended, if the machine has swap. Source: this project.
  public var memoryPageOut = false

  /// `BackgroundProcessorShare`: the percentage of one CPU that an application may use in the
  /// background, averaged over `BackgroundUseWindow`. The scheduler throttles an application that
  /// uses more. Source: iOS, where a monitor ends an application that uses 80 % over 60 s.
  public var backgroundProcessorShare = 80

  /// `ThrottledProcessorShare`: the percentage of one CPU that a throttled application gets. The
  /// scheduler kills an application that uses more than four fifths of this share in the next
  /// `BackgroundUseWindow`, or that exceeds `BackgroundProcessorShare` again after the throttle was
  /// lifted. Must be less than `BackgroundProcessorShare`. Source: this project.
  public var throttledProcessorShare = 20

  /// `BackgroundUseWindow`: how often the daemon samples the resource use of background
  /// applications. Source: as for `BackgroundProcessorShare`.
  public var backgroundUseWindow: Duration = .seconds(60)

  /// `BackgroundGPUTime`: how long a GPU may run in the background to complete work that began in
  /// the foreground. After this time, the daemon kills the application. Source: this project; three
  /// frames.
  public var backgroundGPUTime: Duration = .milliseconds(50)

  /// `FocusSettleTime`: how long a session may have no focused window. After this time, the
  /// application that last had the focus becomes inactive. Source: contract §20. In X11, the focus
  /// is on no window for up to 1 ms while it moves from one window to another.
  public var focusSettleTime: Duration = .milliseconds(500)

  /// `HiddenGraceTime`: how long the windows of an application may be hidden before the scheduler
  /// sends the application to the background. This time begins when `FocusSettleTime` ends. Source:
  /// contract §20.
  public var hiddenGraceTime: Duration = .seconds(30)

  /// `SessionGraceTime`: how long the reports of a session agent stay valid after the connection to
  /// the agent has ended. Source: contract §20.
  public var sessionGraceTime: Duration = .seconds(10)

  /// `AudioGraceTime`: how long an application with mode audio may run in the background after its
  /// last stream has ended, or has been paused or muted. Source: contract §13; players close a
  /// stream between two tracks.
  public var audioGraceTime: Duration = .seconds(5)

  /// `AudioSilenceTime`: how long an application with mode audio may play only silence in the
  /// background until it counts as paused. Source: contract §13.
  public var audioSilenceTime: Duration = .seconds(30)

  /// `AudioRecordingNotice`: whether the agent shows the user which application records in the
  /// background. Source: contract §13.
  public var audioRecordingNotice = true

  /// `AudioMuteTime`: how long the suspension of an application waits until its audio is muted.
  /// Source: this project. An agent mutes a stream within 5 ms. A hanging agent or audio server
  /// delays the suspension by less than a person notices.
  public var audioMuteTime: Duration = .milliseconds(100)

  /// `DuckLevel`: the percentage to which the daemon lowers the volume of an application while
  /// another application ducks it. Source: contract §13.
  public var duckLevel = 20

  /// `RemoteReadTime`: how long a suspended media player runs to answer a read of its properties.
  /// Source: contract §13.
  public var remoteReadTime: Duration = .seconds(1)

  /// `RemoteReadInterval`: the minimum time between two reads for which the scheduler resumes a
  /// suspended media player. Source: contract §13.
  public var remoteReadInterval: Duration = .seconds(5)

  /// `RegionDwell`: how long the machine must stay on the new side of a region's boundary before
  /// the scheduler reports the crossing to the application. Source: contract §17, as on iOS.
  public var regionDwell: Duration = .seconds(20)

  /// `LocationFixTime`: how long a receiver may run to determine a location for regions and
  /// significant changes. It is also how long a simulated location replaces the locations of the
  /// sources. Source: this project; a receiver without aiding data needs 30 to 60 s.
  public var locationFixTime: Duration = .seconds(60)

  /// `MaxRegionsPerApplication`: how many regions an application may monitor. Source: contract §17,
  /// as on iOS.
  public var regionsPerApplicationMax = 20

  /// `MaxRegionsPerUser`: how many regions all applications of one user may monitor. Source: this
  /// project (§16 asks for a quota). The scheduler compares each location with each region.
  public var regionsPerUserMax = 1024

  /// `MaxLocationApplicationsPerUser`: for how many applications of one user the scheduler
  /// remembers location services and decisions about consent. Source: this project (§16 asks for a
  /// quota); more than a person can decide about.
  public var locationApplicationsPerUserMax = 256

  public init() {}

  /// The violated bounds and relations, one sentence each; empty if there are none. A
  /// ``Scheduler`` accepts only a policy without problems.
  public var problems: [String] {
    let durations: [(String, Duration)] = [
      ("CallbackTimeout", callbackTimeout), ("TerminateTimeout", terminateTimeout),
      ("BackgroundTime", backgroundTime), ("LaunchTime", launchTime),
      ("SuspendRetryInterval", suspendRetryInterval),
      ("TracerCheckInterval", tracerCheckInterval), ("WakeTolerance", wakeTolerance),
      ("KeepAliveMinimum", keepAliveMinimum), ("KeepAliveHandlerTime", keepAliveHandlerTime),
      ("EventTime", eventTime), ("RelaunchDelay", relaunchDelay),
      ("RelaunchResetTime", relaunchResetTime), ("MemoryPressureStall", memoryPressureStall),
      ("MemoryPressureWindow", memoryPressureWindow), ("MemoryWarningTime", memoryWarningTime),
      ("MemoryQuietTime", memoryQuietTime),
      ("BackgroundUseWindow", backgroundUseWindow), ("FocusSettleTime", focusSettleTime),
      ("HiddenGraceTime", hiddenGraceTime), ("SessionGraceTime", sessionGraceTime),
      ("AudioGraceTime", audioGraceTime), ("AudioSilenceTime", audioSilenceTime),
      ("AudioMuteTime", audioMuteTime), ("RemoteReadTime", remoteReadTime),
      ("RemoteReadInterval", remoteReadInterval), ("RegionDwell", regionDwell),
      ("LocationFixTime", locationFixTime),
    ]
    let quotas = [
      ("MaxTasksPerApplication", tasksPerApplicationMax),
      ("MaxTasksPerUser", tasksPerUserMax),
      ("MaxApplicationsPerUser", applicationsPerUserMax),
      ("MaxQueuedCallbacks", queuedCallbacksMax),
      ("MaxSocketsPerApplication", socketsPerApplicationMax),
      ("MaxSnapshotsPerUser", snapshotsPerUserMax),
      ("MaxNotificationsPerApplication", notificationsPerApplicationMax),
      ("MaxNotificationsPerUser", notificationsPerUserMax),
      ("MaxCustomChanges", customChangesMax),
      ("MaxRegionsPerApplication", regionsPerApplicationMax),
      ("MaxRegionsPerUser", regionsPerUserMax),
      ("MaxLocationApplicationsPerUser", locationApplicationsPerUserMax),
      ("BackgroundProcessorShare", backgroundProcessorShare),
      ("ThrottledProcessorShare", throttledProcessorShare),
    ]
    var problems = durations.filter { $0.1 <= .zero }.map { "\($0.0) must be longer than 0" }
    problems += quotas.filter { $0.1 < 1 }.map { "\($0.0) must be at least 1" }
    if endedApplicationsMax < 0 { problems.append("MaxEndedApplications must be at least 0") }
    if expirationLead < .zero { problems.append("ExpirationLead must be at least 0") }
    if expirationLead >= backgroundTime {
      problems.append("ExpirationLead must be shorter than BackgroundTime")
    }
    if keepAliveHandlerTime >= keepAliveMinimum {
      problems.append("KeepAliveHandlerTime must be shorter than KeepAliveMinimum")
    }
    if remoteReadTime >= remoteReadInterval {
      problems.append("RemoteReadTime must be shorter than RemoteReadInterval")
    }
    if relaunchDelayMax < relaunchDelay {
      problems.append("RelaunchDelayMax must be at least RelaunchDelay")
    }
    if memoryPressureStall > memoryPressureWindow {
      problems.append("MemoryPressureStall must be at most MemoryPressureWindow")
    }
    if memoryQuietTime <= memoryPressureWindow {
      problems.append("MemoryQuietTime must be longer than MemoryPressureWindow")
    }
    if !(0...100).contains(memoryFloorPercent) {
      problems.append("MemoryFloorPercent must be 0 to 100")
    }
    if !(1...100).contains(duckLevel) { problems.append("DuckLevel must be 1 to 100") }
    if backgroundGPUTime < .zero { problems.append("BackgroundGPUTime must be at least 0") }
    if throttledProcessorShare >= min(backgroundProcessorShare, 100) {
      problems.append(
        "ThrottledProcessorShare must be less than BackgroundProcessorShare, and less than 100")
    }
    return problems
  }
}
