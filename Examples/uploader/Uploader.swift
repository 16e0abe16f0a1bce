import Dispatch
import Glibc
import Synchronization
import TaskSchedulerClient

/// Uploads chunk by chunk, and goes on in the background for as long as it is granted time.
final class Uploader: ApplicationDelegate {
  private struct State {
    var isUploading = false
    var task: BackgroundTaskID?
  }

  private let stubborn: Bool
  private let state = Mutex(State())
  /// Signalled when uploading may go on.
  private let mayUpload = DispatchSemaphore(value: 0)

  init(stubborn: Bool) {
    self.stubborn = stubborn
  }

  // MARK: - The application's life

  func applicationDidFinishLaunching(_ application: ScheduledApplication, reason: LaunchReason) {
    say("launched (\(reason.rawValue)), state \(application.state.rawValue)")
  }

  func applicationDidBecomeActive(_ application: ScheduledApplication) {
    say("active")
    goOn()
  }

  func applicationWillResignActive(_ application: ScheduledApplication) {
    say("inactive")
  }

  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    do throws(ApplicationError) {
      let task = try application.beginBackgroundTask(named: "upload") { [self] in
        expire(application)
      }
      state.withLock { $0.task = task }
      let remaining = try application.backgroundTimeRemaining
      say("background, task \(task) granted, \(remaining.map(describe) ?? "unlimited")")
    } catch {
      say("background without a task: \(error)")
      stop()
    }
  }

  func applicationWillEnterForeground(_ application: ScheduledApplication) {
    say("foreground again")
    endTask(application)
    goOn()
  }

  func applicationWillTerminate(_ application: ScheduledApplication) {
    say("to be terminated")
    stop()
  }

  func applicationDidLoseBackgroundTasks(
    _ application: ScheduledApplication, tasks: [BackgroundTaskID]
  ) {
    say("the daemon came back and knows no longer of tasks \(tasks)")
    state.withLock { $0.task = nil }
  }

  func applicationDidLoseRegistration(
    _ application: ScheduledApplication, error: ApplicationError
  ) {
    say("managed no longer: \(error)")
  }

  private func expire(_ application: ScheduledApplication) {
    if stubborn { return say("the task expires, and I do not care") }
    stop()
    say("the task expires: stopped")
    endTask(application)
  }

  func endTask(_ application: ScheduledApplication) {
    let task = state.withLock { state in
      defer { state.task = nil }
      return state.task
    }
    guard let task else { return }
    do throws(ApplicationError) {
      // Said first: in the background, the end of the last task is followed by suspension.
      say("task \(task) ends")
      try application.endBackgroundTask(task)
    } catch {
      say("task \(task) could not be ended: \(error)")
    }
  }

  // MARK: - The work

  private func goOn() {
    let wasUploading = state.withLock { state in
      defer { state.isUploading = true }
      return state.isUploading
    }
    if !wasUploading { mayUpload.signal() }
  }

  private func stop() {
    state.withLock { $0.isUploading = false }
  }

  /// Uploads so many chunks, waiting while uploading has stopped.
  func upload(chunks: Int, to destination: Int32) {
    for chunk in 1...chunks {
      while !state.withLock({ $0.isUploading }) { mayUpload.wait() }
      guard write("chunk \(chunk)\n", to: destination) else {
        fail("chunk \(chunk) cannot be written: \(String(cString: strerror(errno)))")
      }
      usleep(200_000)
    }
    say("all \(chunks) chunks are uploaded")
  }
}
