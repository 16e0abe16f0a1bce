import LinuxSystem
import TaskSchedulerWire
import Testing

@testable import taskctl

@Suite("Keep-alive, sockets, notifications and relaunches in words")
struct WakeUpRenderingTests {
  @Test("The keepalives table shows the interval, the last run, the deadline and the planned burst")
  func keepAlives() {
    var new = reachableSample("org.example.new")
    new.instance?.keepAlive?.lastRunUSec = nil
    new.instance?.keepAlive?.plannedUSec = 0
    #expect(
      KeepAliveTable.text([reachableSample(), new, sample()], context) == """
        APPLICATION        STATE      INTERVAL  LAST RUN   DEADLINE   PLANNED
        org.example.phone  suspended  15 min    1 min ago  in 14 min  in 10 min
        org.example.new    suspended  15 min    never      in 14 min  now

        """)
  }

  @Test("The status shows what wakes an application and what is held for it")
  func status() {
    let text = StatusText.text(reachableSample(), context)
    for line in [
      "   Keep-alive: every 15 min; last call 1 min ago; next call in 10 min, at the latest in "
        + "14 min",
      "      Sockets: 2 managed", "      Changes: 3 system changes wait until it resumes",
      "Notifications: 4 scheduled", "        Badge: 5",
    ] {
      #expect(text.contains("\n\(line)\n"))
    }
    var new = reachableSample()
    new.instance?.keepAlive?.lastRunUSec = nil
    new.instance?.ending = .memoryPressure
    new.instance?.heldChanges = 1
    for line in [
      "      Changes: 1 system change waits until it resumes",
      "   Keep-alive: every 15 min; not called yet; next call in 10 min, at the latest in 14 min",
      "       Ending: the daemon is terminating it because the machine is short of memory",
    ] {
      #expect(StatusText.text(new, context).contains("\n\(line)\n"))
    }
  }

  @Test("The status shows the time and the delay of the next launch")
  func nextLaunch() {
    var application = endedSample()
    application.nextLaunch = .init(
      atUSec: 1_008_000_000, delayUSec: 16_000_000, awaitsMemory: false)
    #expect(
      StatusText.text(application, context)
        .contains("\n  Next launch: in 8 s; the relaunch delay is 16 s\n"))
  }

  @Test("The status says that the next launch waits until memory pressure ends")
  func nextLaunchAfterPressure() {
    var application = endedSample(reason: .memoryPressure, code: nil)
    application.nextLaunch = .init(
      atUSec: 1_008_000_000, delayUSec: 16_000_000, awaitsMemory: true)
    #expect(
      StatusText.text(application, context).contains(
        "\n  Next launch: when memory pressure ends (the daemon terminated the application to free "
          + "memory), but at the earliest in 8 s; the relaunch delay is 16 s\n"))
    application.nextLaunch?.atUSec = 990_000_000
    #expect(
      StatusText.text(application, context).contains(
        "\n  Next launch: when memory pressure ends (the daemon terminated the application to free "
          + "memory)\n"))
  }

  @Test("The status shows a failed launch, and a process that keeps running unmanaged")
  func launchFailure() {
    var application = endedSample()
    application.launchFailure = .init(reason: "execve: \u{1b}ENOENT", atUSec: 940_000_000)
    application.unmanagedPID = 4711
    let moment = context.clock.moment(ofBoot: 940_000_000)
    let text = StatusText.text(application, context)
    #expect(text.contains("\n  Last launch: failed, \(moment): execve: \\x1bENOENT\n"), "\(text)")
    #expect(
      text.contains(
        "\n    Unmanaged: process 4711 has run without management since taskschedd stopped\n"))
  }

  @Test("The list of notifications shows their owner, their time with its zone, and repetition")
  func notifications() {
    var shown = notificationSample
    shown.notification.id = 3
    shown.notification.schedule = nil
    shown.notification.state = .presented
    shown.notification.firesAtUSec -= 60_000_000
    let times = [notificationSample, shown].map {
      context.clock.moment(ofWall: $0.notification.firesAtUSec)
    }
    #expect(times[0].hasSuffix("(in 50 s)"))
    #expect(times[1].hasSuffix("(10 s ago)"))
    let fires = "FIRES" + String(repeating: " ", count: times[1].count - "FIRES".count)
    #expect(
      NotificationText.table([notificationSample, shown], context) == """
        ID  APPLICATION      OWNER  STATE      \(fires)  REPEATS    TITLE
        12  org.example.tea  ada    scheduled  \(times[0])   every day  Tea
         3  org.example.tea  ada    presented  \(times[1])  -          Tea

        """)
  }

  @Test("A notification is shown with all its content")
  func notification() {
    let time = context.clock.moment(ofWall: notificationSample.notification.firesAtUSec)
    #expect(
      NotificationText.text(notificationSample, context) == """
        Tea - notification 12
          Application: org.example.tea
                Owner: ada (uid 1000)
                State: scheduled
                Fires: \(time)
             Schedule: 2023-11-14T22:14:10 in UTC, every day
                 Body: It is four
                       Come
                Sound: bell
                Badge: 1
            User data: pot=2

        """)
  }

  @Test("A notification with a title only is shown without empty lines")
  func bareNotification() {
    var bare = notificationSample
    bare.notification.content = .init(title: "Tea")
    bare.notification.schedule = nil
    bare.notification.state = .presented
    let labels = NotificationText.text(bare, context).split(separator: "\n").dropFirst()
      .map { $0.split(separator: ":")[0].trimmingPrefix { $0 == " " } }
    #expect(labels == ["Application", "Owner", "State", "Fired", "Schedule"])
  }

  @Test("Control characters of a notification do not reach the terminal")
  func hostile() {
    var hostile = notificationSample
    hostile.application = "\u{1b}c"
    hostile.notification.content = .init(
      title: "\u{9b}2J", body: "\u{1b}[1m\r", sound: "\u{7}", userData: "\u{202e}")
    hostile.notification.schedule = .init(date: "\u{1b}", timeZone: "\r")
    let text =
      NotificationText.text(hostile, context) + NotificationText.table([hostile], context)
    #expect(!text.unicodeScalars.contains { !PrintableText.isPrintable($0) && $0 != "\n" })
  }

  @Test("The reason why a file could not be read is given in words")
  func files() {
    let errors: [BoundedFileError] = [
      .missing(isDangling: false), .missing(isDangling: true), .notAFile(what: "a directory"),
      .tooLarge(bytesMax: 7), .failed(SystemError(call: "open", errno: 13)),
    ]
    #expect(
      errors.map { $0.words(limitOf: "an event log") } == [
        "no such file", "it is a symbolic link to a file that does not exist",
        "it is a directory", "it is too large; an event log has at most 7 bytes",
        "open: Permission denied (EACCES)",
      ])
  }
}
