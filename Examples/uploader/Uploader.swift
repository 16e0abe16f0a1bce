import Dispatch
import Glibc
import Synchronization
import TaskSchedulerClient

/// Uploads chunk by chunk, and continues in the background while the daemon grants time.
final class Uploader: ApplicationDelegate {
  private struct State {
    var isUploading = false
    var task: BackgroundTaskID?
  }

  private let stubborn: Bool
  private let state = Mutex(State())
  /// Signalled when the upload may continue.
  private let mayUpload = DispatchSemaphore(value: 0)

  init(stubborn: Bool) {
    self.stubborn = stubborn
  }

  // MARK: - Events

  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {
    say("launched (\(reason.rawValue)), state \(application.applicationState.rawValue)")
  }

  func applicationDidBecomeActive(_ application: ScheduledApplication) {
    say("active")
    resume()
  }

  func applicationWillResignActive(_ application: ScheduledApplication) {
    say("inactive")
  }

  func applicationDidEnterBackground(_ application: ScheduledApplication) {
    do throws(ApplicationError) {
      let task = try application.beginBackgroundTaskAndWait(named: "upload") { [self] in
        expire(application)
      }
      state.withLock { $0.task = task }
      let remaining = try application.backgroundTimeRemainingAndWait()
      say("background, task \(task) granted, \(remaining.map(describe) ?? "unlimited")")
    } catch {
      say("background without a task: \(error)")
      stop()
    }
  }

  func applicationWillEnterForeground(_ application: ScheduledApplication) {
    say("foreground again")
    endTask(application)
    resume()
  }

  func applicationWillTerminate(_ application: ScheduledApplication) {
    say("to be terminated")
    stop()
  }

  func application(
    _ application: ScheduledApplication, didLoseBackgroundTasks tasks: [BackgroundTaskID]
  ) {
    say("the daemon restarted and does not know tasks \(tasks)")
    state.withLock { $0.task = nil }
  }

  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {
    say("no longer managed: \(error)")
  }

  private func expire(_ application: ScheduledApplication) {
    if stubborn { return say("the task expires: ignored") }
    stop()
    say("the task expires: the upload stops")
    endTask(application)
  }

  func endTask(_ application: ScheduledApplication) {
    let task = state.withLock { state in
      defer { state.task = nil }
      return state.task
    }
    guard let task else { return }
    do throws(ApplicationError) {
      // Print the line first, because the daemon may suspend the process when the task has ended.
      say("task \(task) ends")
      try application.endBackgroundTaskAndWait(task)
    } catch {
      say("task \(task) could not be ended: \(error)")
    }
  }

  // MARK: - Upload

  private func resume() {
    let wasUploading = state.withLock { state in
      defer { state.isUploading = true }
      return state.isUploading
    }
    if !wasUploading { mayUpload.signal() }
  }

  private func stop() {
    state.withLock { $0.isUploading = false }
  }

  /// Uploads chunks, and waits while the upload is stopped.
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
