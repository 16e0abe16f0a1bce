import Glibc
import ServiceLifecycle
import TaskSchedulerClient

/// Sends a letter every 200 ms, and continues in the background while the daemon grants time.
///
/// When the daemon sends `willTerminate`, the service shuts down gracefully: it sends the current
/// letter, and then ends.
struct Outbox: Service {
  let application: ScheduledApplication
  let count: Int

  func run() async throws {
    try await application.withBackgroundTask(named: "send the outbox") {
      for letter in 1...count {
        if Task.isShuttingDownGracefully { break }
        try await Task.sleep(for: .milliseconds(200))
        say("letter \(letter) is sent")
      }
    }
    say("the outbox is closed")
    try await gracefulShutdown()
  }
}

/// Prints a line without a buffer, so that it appears immediately even in a pipe.
func say(_ text: String) {
  let line = Array((text + "\n").utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}
