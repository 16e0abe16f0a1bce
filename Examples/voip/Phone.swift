import Dispatch
import Glibc
import Synchronization
import TaskSchedulerClient

/// A phone that receives calls while it is suspended.
///
/// The daemon watches the phone's connection to the server, and suspends the phone when the phone
/// has nothing to do. A call resumes the phone, which shows a notification, answers, and is
/// suspended again. The call interrupts the audio of other applications until the caller hangs up.
/// The keep-alive handler keeps the connection open.
///
/// While the phone runs, a thread waits for data on the connection, and handles calls. After a
/// suspension, the delegate's method for ready sockets handles the data that arrived meanwhile. The
/// return of the method acknowledges the event. The thread and the method never handle calls at the
/// same time.
final class Phone: ApplicationDelegate {
  private struct State {
    var line: Line?
    var socket: ManagedSocket?
    /// The callers that have not hung up.
    var callers: Set<String> = []
    var callsMissed = 0
  }

  private let options: Options.PhoneOptions
  private let port: UInt16
  private let state: Mutex<State>
  /// Signalled when the phone is connected to the server.
  private let isConnected = DispatchSemaphore(value: 0)
  /// Signalled when the server answers a PING.
  private let isAnswered = DispatchSemaphore(value: 0)

  private init(_ options: Options.PhoneOptions, port: UInt16) {
    self.options = options
    self.port = port
    state = Mutex(State())
  }

  /// Registers, and reads calls until the program ends.
  static func run(_ options: Options.PhoneOptions, port: UInt16) -> Never {
    let phone = Phone(options, port: port)
    do throws(ApplicationError) {
      let application = try ScheduledApplication.registerAndWait(
        options.id, background: true, delegate: phone)
      while true { phone.read(application) }
    } catch {
      fail("\(error)")
    }
  }

  // MARK: - Events

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    say("launched (\(reason.rawValue))")
    connect(application)
    let interval = Duration.seconds(options.keepAliveSeconds)
    do throws(ApplicationError) {
      try application.setKeepAliveTimeoutAndWait(interval) { [self] in keepAlive(application) }
    } catch {
      say("not kept alive: \(error)")
    }
  }

  func applicationDidBecomeActive(_ application: ScheduledApplication) {
    say("active")
    let missed = state.withLock { state in
      defer { state.callsMissed = 0 }
      return state.callsMissed
    }
    if missed > 0 { setBadge(0, application) }
  }

  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    say("in the background")
  }

  func application(
    _ application: ScheduledApplication, socketDidBecomeReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {
    say("woken by the connection")
    takeCalls(application)
  }

  func application(_ application: ScheduledApplication, didSelect notification: LocalNotification) {
    say("the user takes the call: \(notification.content.userData ?? "?")")
  }

  func application(_ application: ScheduledApplication, didSetCallOnHold isOnHold: Bool) {
    say(isOnHold ? "on hold: another call is newer" : "no longer on hold")
  }

  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    fail("no longer managed: \(error)")
  }

  // MARK: - The connection

  private func connect(_ application: ScheduledApplication) {
    guard let line = Line.connect(port: port) else { fail("no server listens on port \(port)") }
    line.send("REGISTER \(options.name)")
    do throws(ApplicationError) {
      let socket = try application.manageAndWait(socket: line.number)
      state.withLock { state in
        state.line = line
        state.socket = socket
      }
      say("connected, and reachable as \(options.name)")
    } catch {
      fail("the daemon does not manage the connection: \(error)")
    }
    isConnected.signal()
  }

  private func read(_ application: ScheduledApplication) {
    isConnected.wait()
    while let line = state.withLock({ $0.line }) {
      line.wait()
      // Without a background task, the daemon could suspend the phone after the phone has read a
      // line and before the phone handles the line.
      do {
        try application.withBackgroundTaskAndWait(named: "calls", expirationHandler: {}) {
          takeCalls(application)
        }
      } catch {
        say("no background task: \(error)")
        takeCalls(application)
      }
    }
  }

  /// Handles all lines that have arrived. If another thread is handling lines, waits for it first.
  private func takeCalls(_ application: ScheduledApplication) {
    state.withLock { state in
      guard let line = state.line else { return }
      for words in line.takeLines() {
        switch words.first {
        case "INVITE" where words.count == 2:
          state.callsMissed += 1
          state.callers.insert(words[1])
          answer(words[1], line, badge: state.callsMissed, application)
        case "BYE" where words.count == 2:
          state.callers.remove(words[1])
          hangUp(words[1], line, isLast: state.callers.isEmpty, application)
        case "PONG": isAnswered.signal()
        default: break
        }
      }
      // When the server is gone, the phone exits with an error, so that the daemon relaunches it.
      if line.isClosed { fail("the server is gone") }
    }
  }

  private func answer(
    _ caller: String, _ line: Line, badge: Int, _ application: ScheduledApplication
  ) {
    say("\(caller) calls")
    do throws(ApplicationError) {
      try application.beginCallAndWait()
    } catch {
      say("the call interrupts no audio: \(error)")
    }
    do throws(ApplicationError) {
      try application.presentNotificationAndWait(
        NotificationContent(
          title: "\(caller) calls", body: "Choose this to talk",
          sound: "phone-incoming-call", badge: badge, userData: caller))
    } catch {
      say("no notification: \(error)")
    }
    line.send("ANSWER \(caller)")
  }

  private func hangUp(
    _ caller: String, _ line: Line, isLast: Bool, _ application: ScheduledApplication
  ) {
    say("\(caller) hangs up")
    do throws(ApplicationError) {
      if isLast { try application.endCallAndWait() }
    } catch {
      say("the call still interrupts audio: \(error)")
    }
    line.send("BYE \(caller)")
  }

  private func keepAlive(_ application: ScheduledApplication) {
    state.withLock { $0.line?.send("PING") }
    // Waits for the server's answer, which the thread of `run` reads. Otherwise the daemon could
    // suspend the phone before the answer arrives, and the answer would resume the phone again.
    let isThere = isAnswered.wait(timeout: .now() + .milliseconds(500)) == .success
    say(isThere ? "kept alive" : "the server does not answer")
  }

  private func setBadge(_ badge: Int, _ application: ScheduledApplication) {
    do throws(ApplicationError) {
      try application.setBadgeCountAndWait(badge)
    } catch {
      say("the badge stays: \(error)")
    }
  }
}
