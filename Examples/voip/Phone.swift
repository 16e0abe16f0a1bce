import Dispatch
import Glibc
import Synchronization
import TaskSchedulerClient

/// A phone that can be called while it is suspended.
///
/// It hands its connection to the server over to taskschedd, and may be suspended whenever it has
/// nothing to do. A call resumes it: it shows a notification, answers, and is suspended again.
/// Now and then it is called to keep the connection alive.
///
/// Its reader waits on the connection as any program would. While the phone runs, that is how it
/// hears of calls; once it was suspended, the delegate's method returns only when everything that
/// came has been seen to, by whichever of the two got there first.
final class Phone: ApplicationDelegate {
  private struct State {
    var line: Line?
    var socket: ManagedSocket?
    var callsMissed = 0
  }

  private let options: Options.PhoneOptions
  private let port: UInt16
  private let state: Mutex<State>
  /// Signalled when there is a connection to read.
  private let isConnected = DispatchSemaphore(value: 0)
  /// Signalled when the server has answered a PING.
  private let isAnswered = DispatchSemaphore(value: 0)

  private init(_ options: Options.PhoneOptions, port: UInt16) {
    self.options = options
    self.port = port
    state = Mutex(State())
  }

  /// Registers, and reads for ever.
  static func run(_ options: Options.PhoneOptions, port: UInt16) -> Never {
    let phone = Phone(options, port: port)
    do throws(ApplicationError) {
      let application = try ScheduledApplication.register(
        options.id, background: true, delegate: phone)
      while true { phone.read(application) }
    } catch {
      fail("\(error)")
    }
  }

  // MARK: - The application's life

  func applicationDidFinishLaunching(_ application: ScheduledApplication, reason: LaunchReason) {
    say("launched (\(reason.rawValue))")
    connect(application)
    let interval = Duration.seconds(options.keepAliveSeconds)
    do throws(ApplicationError) {
      try application.setKeepAliveTimeout(interval) { [self] in keepAlive(application) }
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
    _ application: ScheduledApplication, socketReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {
    say("woken by the connection")
    takeCalls(application)
  }

  func application(_ application: ScheduledApplication, didChoose notification: LocalNotification) {
    say("the user takes the call: \(notification.content.userData ?? "?")")
  }

  func applicationDidLoseRegistration(
    _ application: ScheduledApplication, error: ApplicationError
  ) {
    fail("managed no longer: \(error)")
  }

  // MARK: - The connection

  private func connect(_ application: ScheduledApplication) {
    guard let line = Line.connect(port: port) else { fail("no server listens on port \(port)") }
    line.send("REGISTER \(options.name)")
    do throws(ApplicationError) {
      let socket = try application.manage(socket: line.number)
      state.withLock { state in
        state.line = line
        state.socket = socket
      }
      say("connected, and reachable as \(options.name)")
    } catch {
      fail("the connection cannot be handed over: \(error)")
    }
    isConnected.signal()
  }

  private func read(_ application: ScheduledApplication) {
    isConnected.wait()
    while let line = state.withLock({ $0.line }) {
      line.wait()
      takeCalls(application)
    }
  }

  /// Sees to all that has come. One thread at a time does, and the other waits until it has.
  private func takeCalls(_ application: ScheduledApplication) {
    state.withLock { state in
      guard let line = state.line else { return }
      for words in line.takeLines() {
        switch words.first {
        case "INVITE" where words.count == 2:
          state.callsMissed += 1
          answer(words[1], line, badge: state.callsMissed, application)
        case "PONG": isAnswered.signal()
        default: break
        }
      }
      // A phone that loses its server ends, and is launched again.
      if line.isClosed { fail("the server is gone") }
    }
  }

  private func answer(
    _ caller: String, _ line: Line, badge: Int, _ application: ScheduledApplication
  ) {
    say("\(caller) calls")
    do throws(ApplicationError) {
      try application.presentNow(
        NotificationContent(
          title: "\(caller) calls", body: "Choose this to talk",
          sound: "phone-incoming-call", badge: badge, userData: caller))
    } catch {
      say("no notification: \(error)")
    }
    line.send("ANSWER \(caller)")
  }

  private func keepAlive(_ application: ScheduledApplication) {
    state.withLock { $0.line?.send("PING") }
    // The reader takes the answer. Without waiting for it here, it would be what wakes the phone
    // next.
    let isThere = isAnswered.wait(timeout: .now() + .milliseconds(500)) == .success
    say(isThere ? "kept alive" : "the server does not answer")
  }

  private func setBadge(_ badge: Int, _ application: ScheduledApplication) {
    do throws(ApplicationError) {
      try application.setApplicationIconBadgeNumber(badge)
    } catch {
      say("the badge stays: \(error)")
    }
  }
}
